import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { JobInput } from "../../src/shared/job/job.ts";
import { insertCommandRule } from "../../src/shared/store/investigations/command-rules.ts";
import type { NewCommandRule } from "../../src/shared/store/investigations/command-rules.ts";
import { decideApproval } from "../../src/shared/store/investigations/approvals.ts";
import { THIS_MACHINE } from "../../src/worker/sandbox/shell/probe.ts";
import { eventually } from "../conformance/signal.ts";
import { rowOf } from "../conformance/jobs.ts";
import type { Script } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk } from "../support/replay-desk.ts";
import { describeShell } from "../worker/sandbox/shell/shell-here.ts";

const NIGHT = (failed: number): string =>
  Array.from(
    { length: 40 },
    (_, at) => `02:${at + 10} backup ${at} ${at < failed ? "FAILED" : "done"}`,
  ).join("\n") + "\n";
const LOGS: Readonly<Record<string, string>> = {
  "allowed/corpus/logs/monday.md": NIGHT(4),
  "allowed/corpus/logs/tuesday.md": NIGHT(3),
  "allowed/corpus/private/keys.md": "FAILED FAILED FAILED\n",
};

const call = (name: string, args: object): string =>
  JSON.stringify({ type: "tool_call", name, args });
const shell = (command: string, ...inputs: string[]): string => call("shell", { command, inputs });

type Row = Readonly<Record<string, unknown>>;

describeShell("an investigation that runs commands", () => {
  describeOn("postgres", "with a shell", (name) => {
    let desk: ReplayDesk;
    let steps: (string | Script)[];
    let answers: string[];
    let prompts: string[];

    beforeAll(async () => {
      desk = await openReplayDesk(
        name,
        [
          {
            name: "looker",
            contextLength: 4_096,
            respond(messages) {
              const words = messages.map(({ content }) => content).join("\n");
              prompts.push(words);
              const isLooking = words.includes("You look into a question with tools");
              const script = isLooking ? steps : answers;
              return (script.length > 1 ? script.shift() : script[0]) ?? "";
            },
          },
        ],
        { keys: { tools: { shell: { ask: "listed" } } } },
      );
      for (const [path, text] of Object.entries(LOGS)) await desk.write(path, text);
      for (const binary of ["grep", "echo", "cat", "du"]) await addRule(binary);
    });
    afterAll(() => desk.dispose());
    beforeEach(() => {
      prompts = [];
      steps = ["END"];
      answers = ["7 backups failed [1]."];
    });

    const investigation = (
      given: Partial<Extract<JobInput, { kind: "investigate" }>> = {},
    ): JobInput => ({
      kind: "investigate",
      task: "How many backups failed in these logs?",
      preset: "shell_sandboxed",
      options: { path_prefix: "allowed/corpus/logs" },
      ...given,
    });

    const addRule = (
      binary: string,
      { words = [], ...more }: { words?: string[]; within?: NewCommandRule["within"] } = {},
    ) =>
      insertCommandRule(desk.db, {
        verdict: "approve",
        rule: { binary, words, folder: "/" },
        reason: null,
        decidedBy: "test",
        expiresInSeconds: more.within === undefined ? 3_600 : null,
        ...more,
      });

    async function resultOf(jobId: string): Promise<Row> {
      const { rows } = await desk.db.query(
        "select state, answer, scope, grade, error_code, error_message from nightdesk.results where job_id = $1",
        [jobId],
      );
      return rows[0] as Row;
    }

    async function callsOf(jobId: string): Promise<readonly Row[]> {
      const { rows } = await desk.db.query(
        "select tool, state, error_code from nightdesk.steps where job_id = $1 and kind = 'tool' order by ordinal",
        [jobId],
      );
      return rows as Row[];
    }

    async function repeats(jobId: string): Promise<void> {
      const replayed = await desk.replay(jobId, { flags: ["--json"] });
      expect(JSON.parse(replayed.stdout)).toMatchObject({
        ok: true,
        repeated: { stopped: null, differences: [] },
      });
    }

    /** Waits until the job is parked, and gives what a person is asked. */
    async function askedOf(jobId: string, times: number): Promise<Row> {
      await eventually(
        `${jobId} waits for a person`,
        async () =>
          (await rowOf(desk.db, jobId))["waiting_for"] === "approval" &&
          (await approvalsOf(jobId)).length === times,
      );
      return (await approvalsOf(jobId)).at(-1) ?? {};
    }

    async function approvalsOf(jobId: string): Promise<readonly Row[]> {
      const { rows } = await desk.db.query(
        "select approval_id, tool, executor, args, risks, preview, state from nightdesk_data.approvals where job_id = $1 order by step",
        [jobId],
      );
      return rows as Row[];
    }

    const approve = (approval: Row) =>
      decideApproval(desk.db, String(approval["approval_id"]), {
        verdict: "approve",
        scope: "once",
        reason: null,
        decidedBy: "test",
        expiresInSeconds: null,
      });

    test("counts what stands in many lines, and the answer cites the count for what it is", async () => {
      steps = [shell("grep -rc FAILED /input", "allowed/corpus/logs/*.md"), "END"];
      answers = ["In monday.md 4 backups FAILED [1]. In tuesday.md 3 backups FAILED [1]."];
      const jobId = await desk.work(investigation());
      expect(await resultOf(jobId)).toMatchObject({
        state: "succeeded",
        scope: expect.stringMatching(/^Scope: output of shell, step 1, sha256=[0-9a-f]{64}$/),
        grade: "unconfirmed",
      });
      expect(await callsOf(jobId)).toEqual([{ tool: "shell", state: "done", error_code: null }]);
      expect(prompts.at(-1)).toContain("is of the call: grep -rc FAILED /input");
      const { rows } = await desk.db.query(
        `select e.kind, e.path, a.stream from nightdesk.evidence e join nightdesk.artifacts a using (sha256)
        where e.job_id = $1 and a.job_id = e.job_id`,
        [jobId],
      );
      expect(rows).toEqual([{ kind: "output", path: "output of shell, step 1", stream: "stdout" }]);
      await repeats(jobId);
    });

    test("has no evidence in words that the model wrote into its command", async () => {
      steps = [shell("echo 7 backups failed", "allowed/corpus/logs"), "END"];
      const jobId = await desk.work(investigation());
      expect(await resultOf(jobId)).toMatchObject({
        state: "refused",
        error_code: "EVIDENCE_NOT_ACQUIRED",
      });
    });

    test("is given the files of its grant alone, by whatever pattern it asks", async () => {
      steps = [
        shell("grep -rc FAILED /input", "allowed/corpus/private/keys.md"),
        shell("grep -rc FAILED /input", "allowed/corpus/**"),
        "END",
      ];
      const jobId = await desk.work(investigation());
      expect(await callsOf(jobId)).toMatchObject([
        { error_code: "PATH_DENIED" },
        { state: "done" },
      ]);
      expect(prompts.at(-1)).toContain("monday.md:4");
      expect(prompts.at(-1)).not.toContain("keys.md:");
    });

    test("asks a person for what no rule allows, goes on with that very call, and with what it left", async () => {
      const first =
        "mkdir /scratch/found && cd /scratch/found && grep -rh FAILED /input > all.txt && export MARK=x";
      const second = 'wc -l < all.txt; echo "$MARK"; pwd';
      steps = [shell(first, "allowed/corpus/logs"), shell(second), shell("cat all.txt"), "END"];
      answers = ["Backup 3 FAILED at 02:13 [2]."];
      const jobId = await desk.queue(investigation());
      const asked = await askedOf(jobId, 1);
      expect(asked).toMatchObject({
        tool: "shell",
        executor: "bubblewrap/2",
        args: { command: first, inputs: ["allowed/corpus/logs"] },
        risks: ["writes"],
        preview: expect.stringContaining(first),
        state: "waiting",
      });
      expect(await approve(asked)).toMatchObject({ kind: "decided", answered: 1 });
      // Another run, which restores what the call before left.
      expect(await approve(await askedOf(jobId, 2))).toMatchObject({ answered: 1 });
      await desk.ended(jobId);
      expect(await resultOf(jobId)).toMatchObject({ state: "succeeded" });
      expect(await callsOf(jobId)).toMatchObject([
        { state: "done" },
        { state: "done" },
        { state: "done" },
      ]);
      const last = prompts.findLast((words) => words.includes("You look into a question"));
      expect(last).toMatch(/7\nx\n\/scratch\/found\n/);
      expect(last).toContain("02:13 backup 3 FAILED");
      const { rows } = await desk.db.query(
        "select args from nightdesk_data.tool_calls where job_id = $1 order by step",
        [jobId],
      );
      expect(rows[0]).toEqual({ args: asked["args"] });
      await repeats(jobId);
    });

    test("waits for a person where what the last command left is gone", async () => {
      steps = [shell("touch /scratch/a"), shell("ls /scratch")];
      const jobId = await desk.queue(investigation());
      const asked = await askedOf(jobId, 1);
      steps = [shell("touch /scratch/b"), shell("ls /scratch")];
      await approve(asked);
      const again = await askedOf(jobId, 2);
      await desk.db.query(
        "delete from nightdesk_data.artifact_uses where job_id = $1 and stream = 'state'",
        [jobId],
      );
      await approve(again);
      await eventually(
        "somebody has to look",
        async () => (await rowOf(desk.db, jobId))["waiting_for"] === "review",
      );
      expect((await callsOf(jobId)).map(({ state }) => state)).toEqual(["done", "uncertain"]);
    });

    test("does not do what a rule forbids, wherever it stands, and counts it", async () => {
      const { decisionId } = await insertCommandRule(desk.db, {
        verdict: "deny",
        rule: { binary: "grep", words: [], folder: null },
        reason: "not at night",
        decidedBy: "test",
        expiresInSeconds: null,
      });
      steps = [
        shell("grep -c FAILED /input/a"),
        shell("cat /input/a | /usr/bin/grep FAILED"),
        shell("bash -c 'grep FAILED /input/a'"),
      ];
      const jobId = await desk.work(investigation());
      expect(await resultOf(jobId)).toMatchObject({ state: "refused", error_code: "TOOL_DENIED" });
      expect(prompts[1]).toContain("A rule forbids grep");
      expect(await hitsOf(decisionId)).toBe(3);
      await repeats(jobId);
      await desk.db.query(
        "update nightdesk_data.decisions set revoked_at = now() where decision_id = $1",
        [decisionId],
      );
    });

    test("does what a rule allows, as the words that were checked, and counts it", async () => {
      const command = "python3 -c /input/allowed/corpus/logs/monday.md";
      const { decisionId } = await addRule("split", { words: ["-l"] });
      steps = [
        shell("split -l 20 /input/allowed/corpus/logs/monday.md", "allowed/corpus/logs"),
        shell(command),
        "END",
      ];
      const jobId = await desk.queue(investigation());
      await askedOf(jobId, 1);
      expect(await callsOf(jobId)).toMatchObject([{ state: "done" }, { state: "waiting" }]);
      expect(await hitsOf(decisionId)).toBe(1);
    });

    test("goes on when a rule is added that answers what it waits for, in its batch", async () => {
      steps = [
        shell("cat /input/allowed/corpus/logs/monday.md | wc -l", "allowed/corpus/logs"),
        "END",
      ];
      answers = ["monday.md has 40 lines [1]."];
      const jobId = await desk.queue(investigation());
      await askedOf(jobId, 1);
      const { batch_id: id } = await rowOf(desk.db, jobId);
      const within = { scope: "batch", id: String(id) } as const;
      const { decisionId, woken } = await addRule("wc", { within });
      expect(woken).toBe(1);
      await desk.ended(jobId);
      expect(await callsOf(jobId)).toMatchObject([{ state: "done" }]);
      expect(await approvalsOf(jobId)).toMatchObject([{ state: "withdrawn" }]);
      expect(await hitsOf(decisionId)).toBe(1);
      expect(prompts.find((words) => words.includes("\n40\n"))).toBeDefined();
      await repeats(jobId);
    });

    test("is told of a rule that is added, and forbids what it waits for", async () => {
      steps = [shell("tac /input/allowed/corpus/logs/monday.md", "allowed/corpus/logs"), "END"];
      const jobId = await desk.queue(investigation());
      await askedOf(jobId, 1);
      const { woken } = await insertCommandRule(desk.db, {
        verdict: "deny",
        rule: { binary: "tac", words: [], folder: null },
        reason: "no",
        decidedBy: "test",
        expiresInSeconds: null,
      });
      expect(woken).toBe(1);
      await desk.ended(jobId);
      expect(await callsOf(jobId)).toMatchObject([{ state: "denied", error_code: "TOOL_DENIED" }]);
      expect(prompts.find((words) => words.includes("A rule forbids tac."))).toBeDefined();
    });

    test("keeps as much as one call may leave, and goes on with it", async () => {
      const fill =
        "head -c 3500000 /dev/urandom > a; head -c 3500000 /dev/urandom > b; head -c 3000000 a | base64 -w 0; head -c 3000000 b | base64 -w 0 >&2";
      await addRule("wc");
      steps = [shell(fill), shell("du -bc a b"), shell("wc -c a"), "END"];
      const jobId = await desk.queue(investigation({ options: {} }));
      await approve(await askedOf(jobId, 1));
      await desk.ended(jobId);
      expect(prompts.find((words) => words.includes("7000000\ttotal"))).toBeDefined();
      const { rows } = await desk.db.query(
        "select stream, bytes::int from nightdesk.artifacts where job_id = $1 and step = 1 order by stream",
        [jobId],
      );
      expect(rows).toMatchObject([
        { stream: "result" },
        { stream: "state", bytes: expect.any(Number) },
        { stream: "stderr", bytes: 4_000_000 },
        { stream: "stdout", bytes: 4_000_000 },
      ]);
    });

    async function hitsOf(decisionId: string): Promise<unknown> {
      const { rows } = await desk.db.query(
        "select hits from nightdesk_data.decisions where decision_id = $1",
        [decisionId],
      );
      return (rows[0] as Row)["hits"];
    }
  });
});

describeOn("postgres", "an investigation where no command runs,", (name) => {
  let desk: ReplayDesk;
  let steps: string[];
  let prompts: string[];

  beforeAll(async () => {
    const looker = {
      name: "looker",
      contextLength: 4_096,
      respond(messages: readonly { readonly content: string }[]) {
        const words = messages.map(({ content }) => content).join("\n");
        if (!words.includes("You look into a question")) return "Backup 3 FAILED at 02:13 [1].";
        prompts.push(words);
        return (steps.length > 1 ? steps.shift() : steps[0]) ?? "END";
      },
    };
    desk = await openReplayDesk(name, [looker], { machine: { ...THIS_MACHINE, programs: [] } });
    await desk.write("allowed/corpus/log.md", "02:13 backup 3 FAILED\n");
  });
  afterAll(() => desk.dispose());
  beforeEach(() => {
    prompts = [];
  });

  const investigation = (required?: string[]): JobInput => ({
    kind: "investigate",
    task: "Which backups failed?",
    preset: "shell_sandboxed",
    ...(required === undefined ? {} : { required_tools: required }),
  });

  async function resultOf(jobId: string): Promise<unknown> {
    const { rows } = await desk.db.query(
      "select state, error_code, error_message from nightdesk.results where job_id = $1",
      [jobId],
    );
    return rows[0];
  }

  test("a job that can't do without commands is refused on a machine that runs none, and says why", async () => {
    steps = ["END"];
    const jobId = await desk.work(investigation(["shell"]));
    expect(await resultOf(jobId)).toMatchObject({
      state: "refused",
      error_code: "TOOL_UNAVAILABLE",
      error_message: expect.stringMatching(
        /needs shell, which is disabled .*bubblewrap is not installed/,
      ),
    });
    expect(prompts).toEqual([]);
  });

  test("any other does without: its prompts name no shell, and a call of it is told why", async () => {
    steps = [
      call("shell", { command: "grep FAILED /input", inputs: ["allowed/corpus/log.md"] }),
      call("read_text_file", { path: "allowed/corpus/log.md" }),
      "END",
    ];
    const jobId = await desk.work(investigation());
    expect(await resultOf(jobId)).toEqual({
      state: "succeeded",
      error_code: null,
      error_message: null,
    });
    expect(prompts[0]).toContain("read_text_file");
    expect(prompts[0]).not.toContain("shell");
    expect(prompts[1]).toContain("There is no shell on this machine: bubblewrap is not installed");
    const { rows } = await desk.db.query(
      "select detail from nightdesk.steps where job_id = $1 and kind = 'policy'",
      [jobId],
    );
    expect(rows).toMatchObject([{ detail: { rule: "disabled", tool: "shell" } }]);
    const replayed = await desk.replay(jobId, { flags: ["--json"] });
    expect(JSON.parse(replayed.stdout)).toMatchObject({ ok: true });
  });
});
