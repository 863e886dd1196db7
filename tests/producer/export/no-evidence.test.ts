import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import { extractText } from "../../support/read-documents.ts";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";

const ANSWER = "The nave holds 212 people.";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  const input = { kind: "ask", question: "How many does the nave hold?" } as const;
  await insertFinishedBatch(desk.database, {
    name: "night",
    jobs: [{ customId: 'the "nave"', answer: ANSWER, input }],
  });
});
afterAll(() => desk.dispose());

/** What the index would take of a file. */
const textOf = async (path: string): Promise<unknown> => {
  const read = await extractText(path, await readFile(join(desk.workroot, path)));
  return read.kind === "text" ? { text: read.text, leftOut: read.leftOut } : read;
};

const NOTHING = { text: "", leftOut: { "results of Nightdesk": 1 } };

test("a report is no evidence for what it says", async () => {
  const { code } = await desk.run("batch", "report", "night", "--output", "reports");
  expect(code).toBe(0);
  expect(await textOf("reports/night.md")).toEqual(NOTHING);
  expect(await textOf("reports/night.html")).toEqual(NOTHING);
});

test.each([
  ["native", "night.jsonl"],
  ["openai", "openai.jsonl"],
  ["csv", "night.csv"],
  ["markdown", "night.md"],
  ["xlsx", "night.xlsx"],
])("nor is an export as %s", async (format, file) => {
  const words = ["batch", "export", "night", "--format", format, "--output", file];
  expect((await desk.run(...words)).code).toBe(0);
  expect(await textOf(file)).toEqual(NOTHING);
});

test("a document that tells of such marks and columns is read", async () => {
  const text = `# Notes\n\n<!-- nightdesk report of batch 1 -->\ncustom_id,job_id,kind,state\n${ANSWER}\n`;
  await desk.write("notes.md", text);
  expect(await textOf("notes.md")).toEqual({ text, leftOut: undefined });
});
