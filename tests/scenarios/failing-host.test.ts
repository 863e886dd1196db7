import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { countOf, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import type { HttpDouble } from "../doubles/http-double.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleMessage, Script } from "../doubles/ollama/double-model.ts";
import { startOpenAiDouble } from "../doubles/openai-server.ts";
import { describeOn } from "../support/describe-on.ts";

const WORDS = "the flux capacitor is out of phase";
const POISON = "poison";
const chat = (customId: string): NewJob => ({
  customId,
  input: { kind: "chat", prompt: `Say ${customId}`, max_tokens: 20 },
  inputSha256: "a".repeat(64),
  priority: 0,
});

const KINDS = [
  ["ollama", startOllamaDouble],
  ["openai-compatible", startOpenAiDouble],
] as const;

describeOn("postgres", "a host that says 500 in words of its own", (name) => {
  let topology: Topology;
  let db: Database;
  let worker: RunningWorker | undefined;
  let double: HttpDouble | undefined;
  let isBroken = true;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    await worker?.stop(0);
    await double?.close();
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const respond = (messages: readonly DoubleMessage[]): string | Script =>
    isBroken || messages.some(({ content }) => content.includes(POISON))
      ? { text: "", failure: { status: 500, error: WORDS } }
      : "done";

  async function start([provider, startDouble]: (typeof KINDS)[number]): Promise<void> {
    double = await startDouble({ models: [{ name: "m", respond }], numParallel: 64 });
    const file = `${topology.configFile}.${provider}.yaml`;
    const model = { provider, base_url: double.url, name: "m", parallel: 4 };
    await writeFile(
      file,
      stringify({ extends: topology.configFile, model, runs: { reuse: "never" } }),
    );
    const { packageRoot } = topology.context.invocation;
    const flags = { config: file, workroot: topology.workroot };
    const config = await loadConfig({ flags, env: {}, cwd: topology.workroot, packageRoot });
    worker = await startWorker({ ...topology.context, config }, 4, (database) =>
      createRunJob({ ...topology.context, config }, database, { sleep: async () => undefined }),
    );
  }

  /** Everything that waits for a time is due: the host's next probe, and jobs that were parked while it is up. */
  const passTime = async () => {
    await db.query("update nightdesk_data.hosts set next_probe_at = now() where state = 'open'");
    await db.query("update nightdesk_data.jobs set due_at = now() where state = 'parked'");
  };
  const jobsIn = (state: string) => countOf(db, "nightdesk_data.jobs where state = $1", [state]);
  const chats = () => double?.requests.filter(({ path }) => /chat/.test(path)).length ?? 0;

  test.each(KINDS)(
    "holds the batch, names its words, and costs no job: %s",
    async (...kind) => {
      isBroken = true;
      await start(kind);
      const { batchId } = await openBatchOf(db, ["a", "b", "c", "d", "e", "f"].map(chat));
      const held = "nightdesk.batch_progress where hold_reason = 'host' and running = 0";
      await eventually("the batch is held", async () => (await countOf(db, held)) === 1);
      // A night of probes, each of which is refused by a call of the kind that failed.
      for (let probe = 0; probe < 8; probe += 1) {
        const before = chats();
        await eventually("the host was asked", async () => {
          await passTime();
          return chats() > before;
        });
      }
      expect(await jobsIn("failed")).toBe(0);
      const { rows } = await db.query("select error_message from nightdesk.hosts");
      expect(rows).toEqual([{ error_message: expect.stringContaining(WORDS) }]);
      isBroken = false;
      await eventually("all of it is done", async () => {
        await passTime();
        return (await jobsIn("succeeded")) === 6;
      });
      expect(await countOf(db, "nightdesk_data.batches where batch_id = $1", [batchId])).toBe(1);
    },
    60_000,
  );

  test.each(KINDS)(
    "keeps a job that is alone for the next night: %s",
    async (...kind) => {
      isBroken = true;
      await start(kind);
      await openBatchOf(db, [chat("alone")]);
      await eventually("the host is left alone", async () => {
        await passTime();
        return (await countOf(db, "nightdesk.hosts where state = 'open'")) === 1;
      });
      for (let probe = 0; probe < 5; probe += 1) {
        const before = chats();
        await eventually("the host was asked", async () => {
          await passTime();
          return chats() > before;
        });
      }
      expect(await jobsIn("failed")).toBe(0);
    },
    60_000,
  );

  test.each(KINDS)(
    "by two prompts alone has these fail, and the others done: %s",
    async (...kind) => {
      isBroken = false;
      await start(kind);
      const names = [POISON, `${POISON} 2`, "a", "b", "c"];
      const { jobIds } = await openBatchOf(db, names.map(chat));
      await eventually("all of them have ended", async () => {
        await passTime();
        return (await jobsIn("succeeded")) + (await jobsIn("failed")) === names.length;
      });
      for (const [at, jobId] of jobIds.entries()) {
        expect(await rowOf(db, jobId)).toMatchObject(
          names[at]?.includes(POISON) === true
            ? { state: "failed", error_code: "MODEL_OUTPUT_INVALID" }
            : { state: "succeeded" },
        );
      }
    },
    60_000,
  );
});
