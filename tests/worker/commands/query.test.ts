import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { indexFolder } from "../../../bench/index-folder.ts";
import { buildProgram } from "../../../src/shared/commands/build-program.ts";
import { exitCodeOf, printFailure } from "../../../src/shared/commands/report-failure.ts";
import { query } from "../../../src/worker/commands/query.ts";
import { type Desk, openDesk } from "../../producer/desk.ts";

const packageRoot = resolve(import.meta.dirname, "..", "..", "..");
let desk: Desk;

beforeAll(async () => {
  desk = await openDesk();
  mkdirSync(join(desk.workroot, "corpus"));
  const write = (name: string, text: string) => {
    writeFileSync(join(desk.workroot, "corpus", name), text);
  };
  write(
    "pay.md",
    "---\ntags: [office]\ndate: 2024-03-01\n---\n# Crew\n\nThe pay day is the fifth.\n",
  );
  write("guests.md", "---\ndate: 2023-01-01\n---\n# Guests\n\nOn this day they pay for soup.\n");
  await indexFolder(desk.database, desk.workroot, false);
});
afterAll(() => desk.dispose());

/** Runs `nightdesk query … --json` in this process, and gives what it wrote to stdout. */
async function run(...args: readonly string[]): Promise<{ code: number; stdout: string }> {
  const { stdout: stream } = process;
  const original = stream.write.bind(stream);
  let stdout = "";
  let code = 0;
  stream.write = (chunk: string | Uint8Array) => {
    stdout += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  try {
    const program = buildProgram("0", async (command, words, options) => {
      const where = { env: {}, cwd: desk.workroot, packageRoot, version: "0" };
      code = await query({ command, args: words, options, ...where });
    });
    await program.parseAsync(["query", ...args, "--json"], { from: "user" });
  } catch (error) {
    printFailure(error, { json: true, stack: false });
    code = exitCodeOf(error);
  } finally {
    stream.write = original;
  }
  return { code, stdout };
}

async function pathsOf(...args: readonly string[]): Promise<string[]> {
  const { stdout } = await run(...args);
  return (JSON.parse(stdout) as { hits: { path: string }[] }).hits.map(({ path }) => path).sort();
}

test.each(["*", " ", "?!", '"" -'])("%s is no query", async (text) => {
  const { code, stdout } = await run(text);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error_code: "INVALID_QUERY" });
});

test.each([
  [["pay day"], ["corpus/guests.md", "corpus/pay.md"]],
  [['"pay day"'], ["corpus/pay.md"]],
  [["pay day -soup"], ["corpus/pay.md"]],
  [["pay", "--where", "tag=office"], ["corpus/pay.md"]],
  [["pay", "--where", "tag=office", "date=2023-01-01"], []],
  [["pay", "--since", "2024-01-01"], ["corpus/pay.md"]],
  [["pay", "--until", "2023-12-31"], ["corpus/guests.md"]],
])("query %j finds %j", async (args, expected) => {
  expect(await pathsOf(...args)).toEqual(expected);
});

test("an explanation says what each word, the vector and the neighbours gave", async () => {
  const { stdout } = await run("pay day dragons", "--explain");
  const { hits } = JSON.parse(stdout) as { hits: { explain: object }[] };
  expect(hits[0]?.explain).toEqual({
    lexical_rank: 1,
    lexical_score: expect.any(Number),
    borrowed_score: 0,
    vector_rank: null,
    vector_score: null,
    coverage: expect.any(Number),
    terms: [
      { term: "day", chunks: 2, score: expect.any(Number) },
      { term: "pay", chunks: 2, score: expect.any(Number) },
    ],
    missing: ["dragon"],
  });
});

test("the texts of a file have no operators", async () => {
  const file = await desk.write("queries.jsonl", '{"id":1,"text":"say \\"pay day\\" -soup"}\n');
  const { stdout } = await run("--file", file);
  const { hits } = JSON.parse(stdout) as { hits: object[] };
  expect(hits).toHaveLength(2);
});

test.each([
  [["pay", "--where", "tag"], "--where takes key=value"],
  [["pay", "--where", "tag="], "--where takes key=value"],
  [["pay", "--since", "2024-02-31"], "--since takes a day as YYYY-MM-DD"],
  [["pay", "--source", "nope"], "There is no source"],
  [[Array.from({ length: 11 }, (_, at) => `"two words ${at}"`).join(" ")], "11 phrases"],
])("query %j is refused", async (args, message) => {
  const { code, stdout } = await run(...args);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    error_message: expect.stringContaining(message),
  });
  expect(code).toBeGreaterThan(0);
});
