import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { decideApproval } from "../../src/shared/store/investigations/approvals.ts";
import { insertCommandRule } from "../../src/shared/store/investigations/command-rules.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { expireLease, rowOf } from "../conformance/jobs.ts";
import { eventually, signal } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { Script } from "../doubles/ollama/double-model.ts";
import { runBin, startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";
import { describeShell } from "../worker/sandbox/shell/shell-here.ts";

const shell = (command: string, ...inputs: string[]): string =>
  JSON.stringify({ type: "tool_call", name: "shell", args: { command, inputs } });

describeShell("an investigation whose worker is killed", () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  type World = {
    readonly db: Database;
    readonly workroot: string;
    readonly jobId: string;
    readonly prompts: string[];
    /** Starts a worker of its own. */
    start(): Promise<Running>;
  };

  /** Queues the job by the command line. @param steps what the model does, the last again and again */
  async function queue(steps: (string | Script)[]): Promise<World> {
    const prompts: string[] = [];
    const double = await startOllamaDouble({
      models: [
        {
          name: "looker",
          contextLength: 4_096,
          respond(messages) {
            const words = messages.map(({ content }) => content).join("\n");
            if (!words.includes("You look into a question")) return "Backup 3 FAILED at 02:13 [1].";
            prompts.push(words);
            return (steps.length > 1 ? steps.shift() : steps[0]) ?? "END";
          },
        },
      ],
    });
    closers.push(() => double.close());
    const topology = await startTopology("embedded", {
      model: { provider: "ollama", name: "looker", base_url: double.url, num_ctx: 4_096 },
      runs: { reuse: "never" },
      tools: { shell: { ask: "listed" } },
      log: { level: "info" },
    });
    closers.push(() => topology.dispose());
    const { workroot } = topology;
    const file = join(workroot, "allowed/corpus/logs/monday.md");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, "02:12 backup 2 done\n02:13 backup 3 FAILED\n");
    const db = await topology.connect();
    closers.push(() => db.end());
    await insertCommandRule(db, {
      verdict: "approve",
      rule: { binary: "cat", words: [], folder: "/" },
      reason: null,
      decidedBy: "test",
      expiresInSeconds: 3_600,
    });
    const task = "Which backups failed in these logs?";
    const words = ["investigate", task, "--preset", "shell_sandboxed", "--require-tools", "shell"];
    const { stdout } = await runBin([...words, "--json"], { cwd: workroot });
    const jobId = /"job_id":"([0-9a-f-]{36})"/.exec(stdout)?.[1] ?? "";
    const start = async (): Promise<Running> => {
      const worker = startBin(["worker"], { cwd: workroot });
      closers.push(async () => {
        worker.kill("SIGKILL");
        await worker.ended;
      });
      await worker.said(/worker ready/);
      return worker;
    };
    return { db, workroot, jobId, prompts, start };
  }

  const waitsFor = ({ db, jobId }: World, what: string) =>
    eventually(
      `${jobId} waits for ${what}`,
      async () => (await rowOf(db, jobId))["waiting_for"] === what,
    );

  async function approveOf({ db, jobId }: World): Promise<void> {
    const { rows } = await db.query(
      "select approval_id from nightdesk_data.approvals where job_id = $1 and state = 'waiting'",
      [jobId],
    );
    const [approval] = rows as { approval_id: string }[];
    await decideApproval(db, approval?.approval_id ?? "", {
      verdict: "approve",
      scope: "once",
      reason: null,
      decidedBy: "test",
      expiresInSeconds: null,
    });
  }

  async function callsOf({ db, jobId }: World): Promise<readonly unknown[]> {
    const { rows } = await db.query(
      "select state from nightdesk_data.steps where job_id = $1 and kind = 'tool' order by ordinal",
      [jobId],
    );
    return (rows as { state: string }[]).map(({ state }) => state);
  }

  test("between two commands goes on with what the first left, which is not run again", async () => {
    const held = signal();
    const world = await queue([
      shell("cat /input/allowed/corpus/logs/monday.md >> /scratch/all", "allowed/corpus/logs"),
      { text: shell("cat /scratch/all"), after: held.promise },
      shell("cat /scratch/all"),
      "END",
    ]);
    const first = await world.start();
    await waitsFor(world, "approval");
    await approveOf(world);
    await eventually("the second command is asked for", async () => world.prompts.length === 2);
    first.kill("SIGKILL");
    await first.ended;
    held.resolve();
    await expireLease(world.db, world.jobId);
    await world.start();
    await eventually(
      "it has ended",
      async () => (await rowOf(world.db, world.jobId))["finished_at"] !== null,
    );
    expect(await rowOf(world.db, world.jobId)).toMatchObject({ state: "succeeded" });
    expect(await callsOf(world)).toEqual(["done", "done"]);
    expect(world.prompts.at(-1)?.match(/02:13 backup 3 FAILED/g)).toHaveLength(1);
    const place = { cwd: world.workroot };
    const { stdout } = await runBin(["runs", "show", world.jobId], place);
    expect(stdout).toContain("output of shell, step 2");
    const replayed = await runBin(["runs", "replay", world.jobId], place);
    expect([replayed.code, replayed.stderr]).toEqual([0, ""]);
  }, 120_000);

  test("during a command has it looked at, and runs it no second time", async () => {
    const world = await queue([shell("tail -f /dev/null")]);
    const first = await world.start();
    await waitsFor(world, "approval");
    await approveOf(world);
    await eventually("the command runs", async () => String(await callsOf(world)) === "started");
    first.kill("SIGKILL");
    await first.ended;
    await expireLease(world.db, world.jobId);
    await world.start();
    await waitsFor(world, "review");
    expect(await callsOf(world)).toEqual(["uncertain"]);
  }, 120_000);
});
