import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { indexFolder } from "../../../bench/index-folder.ts";
import { type Desk, openDesk } from "../../producer/desk.ts";
import { runCommand } from "../../support/run-command.ts";

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

const runIn = (cwd: string, ...args: readonly string[]) =>
  runCommand(["query", ...args, "--json"], { cwd });

const run = (...args: readonly string[]) => runIn(desk.workroot, ...args);

async function pathsOf(...args: readonly string[]): Promise<string[]> {
  const { stdout } = await run(...args);
  return (JSON.parse(stdout) as { hits: { path: string }[] }).hits.map(({ path }) => path).sort();
}

test("a hit holds the text of its chunk", async () => {
  const { stdout } = await run("soup");
  const [hit] = (JSON.parse(stdout) as { hits: { text: string }[] }).hits;
  expect(hit?.text).toBe("# Guests\n\nOn this day they pay for soup.");
});

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

test.each(["corpus/pay", "./corpus/pay.md", "corpus//pay.md", "corpus/../corpus/pay.md"])(
  "--path %s is the path that documents have",
  async (path) => {
    expect(await pathsOf("day", "--path", path)).toEqual(["corpus/pay.md"]);
  },
);

test("--path of a file in the current folder is translated", async () => {
  const paths = async (path: string) => {
    const { stdout } = await runIn(join(desk.workroot, "corpus"), "day", "--path", path);
    return (JSON.parse(stdout) as { hits: { path: string }[] }).hits.map((hit) => hit.path);
  };
  expect(await paths("pay.md")).toEqual(["corpus/pay.md"]);
  expect(await paths(".")).toHaveLength(2);
  expect(await paths("corpus/pay.md")).toEqual(["corpus/pay.md"]);
});

test("says which word it searched for instead of another", async () => {
  const correctionsOf = async (...args: readonly string[]) =>
    (JSON.parse((await run(...args)).stdout) as { corrections: unknown }).corrections;
  expect(await correctionsOf("guesst")).toEqual([{ word: "guesst", searched_for: ["guests"] }]);
  expect(await correctionsOf("guests")).toEqual([]);
  expect(await correctionsOf("guesst", "--mode", "lexical")).toEqual([]);
  const file = await desk.write("typing-errors.jsonl", '\uFEFF{"id":1,"text":"guesst"}\n');
  expect(await correctionsOf("--file", file)).toEqual([
    { word: "guesst", searched_for: ["guests"] },
  ]);
});

test("a first day after the last one is refused", async () => {
  const { code, stdout } = await run("pay", "--since", "2024-05-01", "--until", "2024-04-01");
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error_code: "USAGE_ERROR" });
});

test("the word search needs no model for vectors", async () => {
  const file = await desk.write(
    "no-model.yaml",
    `extends: nightdesk.yaml\nembed: { provider: transformers, model_id: nobody/none }\n`,
  );
  const { code, stdout } = await run("day", "--mode", "lexical", "--config", file);
  expect([code, (JSON.parse(stdout) as { hits: object[] }).hits.length]).toEqual([0, 2]);
  expect(JSON.parse((await run("day", "--config", file)).stdout)).toMatchObject({
    error_code: "EMBED_MODEL_MISSING",
  });
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
