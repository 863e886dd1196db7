import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());

const TASK = "Which contracts renew before March?";
const queued = () =>
  rowsOf(desk.database, "select input from nightdesk_data.jobs where kind = 'investigate'");

describe("an investigation that can't be done here is not queued", () => {
  test.each([
    [
      "that needs tools, and the model calls none",
      [],
      4,
      "MODEL_UNSUPPORTED: model.provider is extractive",
    ],
    [
      "with a preset that is not there",
      ["--tools", "optional", "--preset", "nope"],
      1,
      'There is no preset "nope"; there are reader, readonly_safe, readonly_context, research, shell_sandboxed.',
    ],
    [
      "that needs a tool which its preset lacks",
      ["--tools", "optional", "--require-tools", "note, calculate"],
      1,
      'The preset "readonly_safe" lacks note, which the job needs. Take --preset readonly_context or research or shell_sandboxed.',
    ],
    [
      "that needs a tool which is nowhere",
      ["--tools", "optional", "--require-tools", "note,teleport"],
      1,
      'The job needs "teleport", which is no tool; there are search_index, list_files,',
    ],
    [
      "that needs tools which no preset has together",
      ["--tools", "optional", "--require-tools", "shell,web_fetch"],
      1,
      'The preset "readonly_safe" lacks shell, web_fetch, which the job needs. No preset has all of them: write one under tools.presets.',
    ],
    [
      "that needs tools, and names none",
      ["--tools", "optional", "--require-tools", " , "],
      2,
      "--require-tools names no tool",
    ],
    [
      "from passages, with a preset that finds none",
      ["--tools", "optional", "--preset", "reader"],
      1,
      'which the preset "reader" does not have. Take --preset readonly_safe.',
    ],
  ])("%s", async (_, flags, code, message) => {
    const ran = await desk.run("investigate", TASK, ...flags);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(message);
    expect(await queued()).toEqual([]);
  });

  test("nor is a batch with a line of one", async () => {
    await desk.write("bad.jsonl", `${JSON.stringify({ kind: "investigate", task: TASK })}\n`);
    const ran = await desk.run("enqueue", join(desk.workroot, "bad.jsonl"));
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain("model.provider is extractive");
    expect(await queued()).toEqual([]);
  });
});

test("one that can be done is queued as it was asked for", async () => {
  const flags = ["--tools", "optional", "--require-tools", "calculate", "--max-steps", "7"];
  expect(await desk.run("investigate", TASK, ...flags)).toMatchObject({ code: 0 });
  expect(await queued()).toMatchObject([
    {
      input: {
        kind: "investigate",
        task: TASK,
        tools: "optional",
        required_tools: ["calculate"],
        limits: { steps: 7 },
      },
    },
  ]);
});
