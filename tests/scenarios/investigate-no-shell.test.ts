import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { JobInput } from "../../src/shared/job.ts";
import { THIS_MACHINE } from "../../src/worker/sandbox/shell/probe.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk } from "../support/replay-desk.ts";

let desk: ReplayDesk;
let steps: string[];
let prompts: string[];

const call = (name: string, args: object): string =>
  JSON.stringify({ type: "tool_call", name, args });

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
  desk = await openReplayDesk([looker], "never", { ...THIS_MACHINE, programs: [] });
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
  const replayed = await desk.replay(jobId, { flags: { json: true } });
  expect(JSON.parse(replayed.stdout)).toMatchObject({ ok: true });
});
