import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { printFailure } from "../../src/shared/commands/report-failure.ts";
import { Failure } from "../../src/shared/failure.ts";
import { captureStream } from "../support/capture-stream.ts";
import { openDesk, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { answered, failed, workByHand } from "./work-by-hand.ts";

/** An escape sequence, its 8-bit form, a bidi override, a blank of no width, a tag. */
const HOSTILE = "\u001b[31mred\u009b2J\u202egpj.exe\u200b\u{e0041}\u2028end";
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028-\u202e\u{e0000}-\u{e007f}]/u;
const FORGED = "gone\nnightdesk: FORGED: line\r\nBatch forged";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  const lines = [
    { custom_id: "good", kind: "chat", prompt: `Say ${HOSTILE}` },
    { custom_id: "bad", kind: "summarize", path: `allowed/corpus/${HOSTILE}\nforged.md` },
  ].map((line) => `${JSON.stringify(line)}\n`);
  await desk.run("enqueue", await desk.write("h.jsonl", lines.join("")), "--batch-name", "hostile");
  await workByHand(desk.database, 2, ({ customId }) =>
    customId === "good"
      ? answered(`It is ${HOSTILE}`)
      : { ...failed, message: `No file ${HOSTILE}\nforged.md. ${FORGED}` },
  );
});
afterAll(() => desk.dispose());

const STATEMENT = "select custom_id, answer, input from results order by custom_id desc";
const answersOf = async () =>
  (await rowsOf(desk.database, `select custom_id, answer from nightdesk.results order by 1`)).map(
    ({ answer }) => answer,
  );

describe("a pipe gets what a terminal gets:", () => {
  test.each([
    ["a table", ["sql", STATEMENT]],
    ["JSON of a statement", ["sql", STATEMENT, "--format", "json"]],
    ["CSV of a statement", ["sql", STATEMENT, "--format", "csv"]],
    ["an export", ["batch", "export", "hostile"]],
    ["an export as CSV", ["batch", "export", "hostile", "--format", "csv"]],
    ["an export as Markdown", ["batch", "export", "hostile", "--format", "markdown"]],
    ["a batch", ["batch", "show", "hostile"]],
    ["a batch as JSON", ["batch", "show", "hostile", "--json"]],
    ["runs", ["runs", "list"]],
  ])("%s holds nothing that drives it", async (_, words) => {
    const { stdout, stderr } = await desk.run(...words);
    expect(stdout.length).toBeGreaterThan(50);
    expect((stdout + stderr).replaceAll("\r\n", "\n")).not.toMatch(HARMFUL);
  });

  test("what is escaped in JSON is the same value", async () => {
    const { stdout } = await desk.run("sql", STATEMENT, "--json");
    const rows = JSON.parse(stdout) as { answer: string | null }[];
    expect(rows.map(({ answer }) => answer).reverse()).toEqual(await answersOf());
    const exported = (await desk.run("batch", "export", "hostile")).stdout.trim().split("\n");
    expect(exported.map((line) => (JSON.parse(line) as { answer: unknown }).answer)).toEqual(
      expect.arrayContaining(await answersOf()),
    );
  });

  test("--raw gives the bytes where somebody wants them", async () => {
    const { stdout } = await desk.run("sql", STATEMENT, "--format", "csv", "--raw");
    expect(stdout).toContain(HOSTILE);
  });

  test("an export in a file is as clean as one that is printed", async () => {
    for (const format of ["native", "csv", "markdown"]) {
      const file = join(desk.workroot, `hostile.${format}`);
      await desk.run("batch", "export", "hostile", "--format", format, "--output", file);
      const text = await readFile(file, "utf8");
      expect(text).toContain("end");
      expect(text.replaceAll("\r\n", "\n")).not.toMatch(HARMFUL);
    }
  });
});

test("a line feed in a name or a message breaks no line of a batch", async () => {
  const { stdout } = await desk.run("batch", "show", "hostile");
  for (const line of stdout.split("\n")) expect(line).not.toMatch(/^(?:forged|nightdesk|Batch)/);
  expect(stdout).toContain("↵ forged.md. gone ↵ nightdesk: FORGED: line ↵ Batch forged");
});

describe("what a host says of a fault", () => {
  const printed = (error: unknown, json = false) => {
    const written: string[] = [];
    const restore = (["stdout", "stderr"] as const).map((name) =>
      captureStream(name, (text) => written.push(text)),
    );
    try {
      printFailure(error, { json, stack: !json });
    } finally {
      for (const undo of restore) undo();
    }
    return written.join("");
  };

  test("is one line on stderr, and forges none", () => {
    const said = printed(new Failure("MODEL_NOT_FOUND", `The host says: ${FORGED} ${HOSTILE}`));
    const [first, ...stack] = said.split("\n");
    expect(first).toContain(
      "MODEL_NOT_FOUND: The host says: gone ↵ nightdesk: FORGED: line ↵ Batch",
    );
    for (const line of stack) expect(line).toMatch(/^(?: {2}|$)/);
    expect(said).not.toMatch(HARMFUL);
  });

  test("stands on indented lines where a message of ours has several", () => {
    const [, ...others] = printed(new Failure("SQL_ERROR", `no such\n  select x\n${FORGED}`)).split(
      "\n",
    );
    for (const line of others) expect(line).toMatch(/^(?: {2}|$)/);
  });

  test("is escaped in JSON", () => {
    const line = printed(new Failure("MODEL_NOT_FOUND", HOSTILE), true);
    expect(line).not.toMatch(HARMFUL);
    expect(JSON.parse(line)).toMatchObject({ error_message: HOSTILE });
  });
});
