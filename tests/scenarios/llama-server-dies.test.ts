import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import { ENGINES } from "../support/engines.ts";
import { runBin, startBin } from "../support/run-bin.ts";

const JOBS = 40;

const chat = (seed: number): NewJob => ({
  customId: `chat-${seed}`,
  input: { kind: "chat", prompt: `Say ${seed}`, max_tokens: 60, temperature: 1, seed },
  inputSha256: randomUUID().replaceAll("-", "").repeat(2),
  priority: 0,
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe.each(ENGINES)("a batch at $name", (engine) => {
  test("survives its death in the middle: nothing fails, and a second drain does what is left", async () => {
    const host = await engine.start({ slots: 2, windowTokens: 1024 });
    closing.push(() => host.close());
    const topology = await startTopology("embedded", {
      model: {
        provider: "openai-compatible",
        name: "m",
        base_url: host.url,
        num_ctx: 1024,
        parallel: 2,
        breaker_failures: 1,
      },
      log: { level: "warn" },
    });
    closing.push(() => topology.dispose());
    const db = await topology.connect();
    closing.push(() => db.end());
    const { batchId } = await openBatchOf(
      db,
      Array.from({ length: JOBS }, (_, i) => chat(i)),
    );
    const place = { cwd: topology.workroot };
    const counts = async () => {
      const { rows } = await db.query(
        "select succeeded::int, failed::int, refused::int, running::int, (queued + parked)::int as left from nightdesk.batch_progress where batch_id = $1",
        [batchId],
      );
      return rows[0] as Readonly<Record<string, number>>;
    };

    const first = startBin(["worker", "--drain"], place);
    await eventually("some are done", async () => (await counts())["succeeded"] !== 0);
    await host.goDown();
    const { code, stderr } = await first.ended;
    expect(code).toBe(75);
    expect(stderr).toContain("jobs wait for a model host that is down or busy");
    const halfway = await counts();
    expect(halfway).toMatchObject({ failed: 0, refused: 0, running: 0 });
    expect(halfway["left"]).toBeGreaterThan(0);

    await host.comeBack();
    await db.query("update nightdesk_data.hosts set next_probe_at = clock_timestamp()");
    const second = await runBin(["worker", "--drain"], place);
    expect(second.code).toBe(0);
    expect(await counts()).toMatchObject({ succeeded: JOBS, failed: 0, left: 0 });
    // What was parked used up no attempt, and what was done was not done again.
    expect(await countOf(db, "nightdesk_data.jobs where attempt > 1")).toBe(0);
  });
});
