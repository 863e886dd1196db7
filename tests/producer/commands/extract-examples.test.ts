import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MOST_CHARS_OF_EXAMPLES } from "../../../src/shared/job/label-examples.ts";
import { indexDesk } from "../../support/index-desk.ts";
import { runBin } from "../../support/run-bin.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { refused, workByHand } from "../work-by-hand.ts";

const BILL = "Please transfer 480.00 by 24 May.";
const LETTER = "Dear Ada,\n\nthank you for the rope.";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
  await mkdir(join(desk.workroot, "allowed/corpus/mail"), { recursive: true });
  await desk.write("allowed/corpus/a.md", "# Bill 17\n\nTotal 240 EUR.\n");
  await desk.write("allowed/corpus/mail/b.md", `${LETTER}\n`);
  const paragraph = "The rope of the bell is long and heavy. ".repeat(60);
  await desk.write("allowed/corpus/mail/long.md", `Dear Bo,\n\n${paragraph}\n`);
  await indexDesk(desk);
});
afterAll(() => desk.dispose());

const fileOf = (...rows: readonly (object | string)[]) =>
  desk.write(
    "labels.jsonl",
    rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n"),
  );
const extract = (...flags: readonly string[]) =>
  desk.run(
    "extract",
    "allowed/corpus/a.md",
    "--preset",
    "classify",
    "--examples",
    "labels.jsonl",
    ...flags,
  );
const inputsOf = async (batch: string) => {
  const rows = await rowsOf(
    desk.database,
    "select input from nightdesk.results where batch = $1 order by custom_id",
    [batch],
  );
  return rows.map(({ input }) => input as Record<string, unknown>);
};

describe("examples", () => {
  test("are kept with each job as they were, with the labels that they have", async () => {
    await fileOf({ text: BILL, label: "invoice" }, "", { text: LETTER, label: " letter " });
    expect(await extract("--batch-name", "shown")).toMatchObject({ code: 0 });
    expect(await inputsOf("shown")).toMatchObject([
      {
        labels: ["invoice", "letter"],
        examples: [
          { text: BILL, label: "invoice" },
          { text: LETTER, label: "letter" },
        ],
      },
    ]);
  });

  test("are those of the first run when it is made again, whatever the file says then", async () => {
    await workByHand(desk.database, 1, () => refused);
    await fileOf({ text: "Another.", label: "invoice" }, { text: "One more.", label: "letter" });
    const again = await desk.run("batch", "rerun", "shown", "--refused", "--json");
    const { batch } = JSON.parse(again.stdout) as { batch: string };
    expect(await inputsOf(batch)).toEqual(await inputsOf("shown"));
  });

  test("are read from stdin for -, but not where something else is", async () => {
    const words = ["extract", "allowed/corpus/a.md", "--preset", "classify", "--examples", "-"];
    const lines = [
      { text: BILL, label: "invoice" },
      { text: LETTER, label: "letter" },
    ];
    const stdin = lines.map((line) => JSON.stringify(line)).join("\n");
    const place = { cwd: desk.workroot, stdin };
    expect(await runBin([...words, "--batch-name", "piped"], place)).toMatchObject({ code: 0 });
    expect(await inputsOf("piped")).toMatchObject([{ examples: lines }]);
    expect(await runBin([...words, "--files-from", "-"], place)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Stdin is read once"),
    });
  });

  test("leave labels without one to be told by their own words", async () => {
    await fileOf({ text: BILL, label: "invoice" });
    expect(await extract("--labels", "invoice,letter,other", "--batch-name", "some")).toMatchObject(
      { code: 0 },
    );
    expect(await inputsOf("some")).toMatchObject([{ labels: ["invoice", "letter", "other"] }]);
  });

  test("of documents are the beginnings that the index has, from the current folder or the work root", async () => {
    await fileOf(
      { path: "corpus/mail/b.md", label: "letter" },
      { path: "allowed/corpus/mail/long.md", label: "letter" },
      { text: BILL, label: "invoice" },
    );
    const ran = await extract("--batch-name", "documents");
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining("line 1 names") });
    await fileOf(
      { path: "allowed/corpus/mail/b.md", label: "letter" },
      { path: "allowed/corpus/mail/long.md", label: "letter" },
      { text: BILL, label: "invoice" },
    );
    expect(await extract("--batch-name", "documents")).toMatchObject({ code: 0 });
    const [input] = await inputsOf("documents");
    const [letter, long] = input?.["examples"] as { text: string }[];
    expect(letter?.text).toBe(LETTER);
    expect(long?.text).toHaveLength(1_000);
    // Overlapping pieces of its paragraph are joined without saying anything twice.
    const said = long?.text.replace(/\s+/g, " ") ?? "";
    expect(said.length).toBeGreaterThan(950);
    expect(`Dear Bo, ${"The rope of the bell is long and heavy. ".repeat(60)}`).toContain(said);
  });

  test("are asked for the same way in a line of a batch", async () => {
    const line = {
      custom_id: "x",
      kind: "extract",
      path: "allowed/corpus/a.md",
      preset: "classify",
      labels: ["invoice", "letter"],
    };
    const enqueue = async (examples: unknown) => {
      const file = await desk.write("batch.jsonl", JSON.stringify({ ...line, examples }));
      return desk.run("enqueue", file, "--batch-name", "lines");
    };
    expect(await enqueue([{ text: BILL, label: "bill" }])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('example 1 has the label "bill", which is none of'),
    });
    expect(await enqueue([{ text: BILL, label: "invoice" }])).toMatchObject({ code: 0 });
    expect(await inputsOf("lines")).toMatchObject([
      { examples: [{ text: BILL, label: "invoice" }] },
    ]);
  });
});

describe("a file of examples is refused", () => {
  test.each<readonly [string, readonly (object | string)[], string]>([
    ["that is no JSON", [{ text: BILL, label: "a" }, "text"], "line 2 is not valid JSON"],
    ["with text and path", [{ text: BILL, path: "a.md", label: "a" }], "line 1 needs either text"],
    ["without either", ["", "", { label: "a" }], "line 3 needs either text or path"],
    ["without a label", [{ text: BILL }], "line 1 label is missing"],
    ["with a blank text", [{ text: " ", label: "a" }], "line 1 text: must not be blank"],
    [
      "with a key of another kind",
      [{ text: BILL, label: "a", weight: 2 }],
      'line 1 has the key "weight", which means nothing here',
    ],
    [
      "of a document that is not indexed",
      [{ path: "x.md", label: "a" }],
      'line 1 names "x.md", of which the index holds no text (nightdesk index)',
    ],
    ["with nothing in it", [""], "holds no example"],
    [
      "that holds more than jobs can keep",
      Array.from({ length: 11 }, (_, at) => ({
        text: "x".repeat(MOST_CHARS_OF_EXAMPLES / 10),
        label: `label ${at % 2}`,
      })),
      "the examples hold 44,000 characters of text, and 40,000 are taken",
    ],
  ])("%s, with what is wrong", async (_, rows, told) => {
    await fileOf(...rows);
    expect(await extract("--batch-name", "bad")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(told),
    });
    expect(await inputsOf("bad")).toEqual([]);
  });

  test("whose labels are not those to choose from, with the lines that hold others", async () => {
    await fileOf({ text: BILL, label: "invoice" }, { text: LETTER, label: "mail" });
    expect(await extract("--labels", "invoice,letter")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('line 2 has the label "mail", which --labels does not name'),
    });
  });

  test("that is not there, and with another preset", async () => {
    const missing = await desk.run(
      "extract",
      "allowed/corpus/a.md",
      "--preset",
      "classify",
      "--examples",
      "nowhere.jsonl",
    );
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"nowhere.jsonl" is not there'),
    });
    await fileOf({ text: BILL, label: "a" }, { text: LETTER, label: "b" });
    const people = ["--preset", "people", "--examples", "labels.jsonl"];
    expect(await desk.run("extract", "allowed/corpus/a.md", ...people)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("preset classify"),
    });
  });
});
