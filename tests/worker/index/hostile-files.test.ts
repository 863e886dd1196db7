import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const MAX_BYTES = 1_500_000;

describe.each(ENGINES)("hostile files on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    await database.db.query("delete from nightdesk_data.document_failures");
    corpus = await openCorpus(database.db, 300, MAX_BYTES);
    corpus.write("notes/ops/good.md", "# Good\n\nneedle\n");
  });
  afterEach(() => {
    corpus.close();
  });

  const select = async (sql: string) => (await database.db.query(sql)).rows;
  const needles = async () => (await corpus.search({ text: "needle" })).map(({ path }) => path);
  const distinctWords = (count: number) =>
    Array.from({ length: count }, (_, at) => `w${at.toString(36)}`).join(" ");

  const HOSTILE: readonly (readonly [what: string, text: string, ending?: string])[] = [
    ["thousands of headings", "# a\n".repeat(10_000)],
    ["a word of 100 KB", `needle2 ${"x".repeat(100_000)} end`],
    ["one line of 200 KB", "words without an end ".repeat(10_000)],
    ["thousands of distinct words", distinctWords(30_000)],
    ["combining marks only", "\u0301".repeat(100_000)],
    ["no line end but CR", "# a\r\rtext\r\r## b\r\rmore\r".repeat(1_000)],
    [
      "a heading of 200 KB above much text",
      `# ${"h".repeat(200_000)}\n\n${"text ".repeat(10_000)}`,
    ],
    [
      "a title of all that frontmatter may hold",
      `---\ntitle: ${"t ".repeat(8_000)}\n---\n${"text ".repeat(10_000)}`,
    ],
    ["a title with a NUL", '---\ntitle: "a\\0b\\ud800"\n---\ntext\n'],
    ["a title of NULs", '---\ntitle: "\\0\\0"\n---\ntext\n'],
    [
      "JSON nested deeper than anybody writes",
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
      "json",
    ],
    ["JSON that is never closed", '{"a":['.repeat(20_000), "json"],
  ];

  test("what nobody writes is indexed, and the note beside it is", async () => {
    const nameOf = ([what, , ending = "md"]: (typeof HOSTILE)[number]) =>
      `notes/ops/${what.replaceAll(" ", "-")}.${ending}`;
    for (const hostile of HOSTILE) corpus.write(nameOf(hostile), hostile[1]);
    expect(await corpus.index()).toMatchObject({ added: HOSTILE.length + 1, failed: 0 });
    const rows = await select("select path from nightdesk_data.documents");
    expect((rows as { path: string }[]).map(({ path }) => path).sort()).toEqual(
      ["notes/ops/good.md", ...HOSTILE.map(nameOf)].sort(),
    );
    expect(await needles()).toEqual(["notes/ops/good.md"]);
  }, 120_000);

  test.each([
    ["a NUL", Buffer.from("a\0b")],
    ["bytes of a lone surrogate", Buffer.from([0x61, 0xed, 0xa0, 0x80])],
  ])("%s is a failure, and the note beside it is indexed", async (_name, bytes) => {
    corpus.write("notes/ops/hostile.md", bytes);
    expect(await corpus.index()).toMatchObject({ added: 1, failed: 1 });
    expect(await needles()).toEqual(["notes/ops/good.md"]);
  });

  test("a YAML bomb is a failure for as long as it is there, its text is indexed, and it gives no metadata", async () => {
    const levels = "abcdefgh".split("").map((name, at, all) => {
      const before = all[at - 1];
      return `${name}: &${name} [${Array(9)
        .fill(before === undefined ? "x" : `*${before}`)
        .join(",")}]`;
    });
    corpus.write("notes/ops/bomb.md", `---\n${levels.join("\n")}\n---\nneedle\n`);
    const failures = () => select("select path, error_code from nightdesk_data.document_failures");
    const row = { path: "notes/ops/bomb.md", error_code: "FILE_READ_ERROR" };
    expect(await corpus.index()).toMatchObject({ added: 2, failed: 1 });
    expect(await failures()).toEqual([row]);
    await select("update nightdesk_data.documents set settled = true");
    expect(await corpus.index()).toMatchObject({ unchanged: 2, failed: 1 });
    expect(await failures()).toEqual([row]);
    expect(
      await select(
        "select metadata_state, metadata, metadata_problem from nightdesk.documents where path like '%bomb%'",
      ),
    ).toEqual([
      {
        metadata_state: "unknown",
        metadata: null,
        metadata_problem: expect.stringMatching(/aliases|levels/),
      },
    ]);
    expect((await needles()).sort()).toEqual(["notes/ops/bomb.md", "notes/ops/good.md"]);
    corpus.write("notes/ops/bomb.md", "---\na: 1\n---\nneedle\n");
    await corpus.index();
    expect(await failures()).toEqual([]);
  });

  test("names that are not UTF-8 and look the same when they are decoded are one failure", async () => {
    for (const byte of [0xfe, 0xff]) {
      const folder = Buffer.from(join(corpus.workroot, "notes/ops/"));
      writeFileSync(Buffer.concat([folder, Buffer.from([byte]), Buffer.from(".md")]), "text");
    }
    expect(await corpus.index()).toMatchObject({ added: 1, failed: 1 });
    const message = '"notes/ops/\uFFFD.md" has a name that is not UTF-8: rename the file.';
    expect(
      await select("select path, error_message as message from nightdesk_data.document_failures"),
    ).toEqual([{ path: "notes/ops/\uFFFD.md", message }]);
  });

  test("a refused name is said by its path from the work root", async () => {
    corpus.write("notes/ops/back\\slash.md", "text");
    await corpus.index();
    const rows = await select(
      "select error_message as message from nightdesk_data.document_failures",
    );
    expect(JSON.stringify(rows)).toContain(
      JSON.stringify('"notes/ops/back\\slash.md" holds').slice(1, -1),
    );
  });

  test("a folder whose name is not UTF-8 is a failure for as long as it is there", async () => {
    const folder = Buffer.concat([
      Buffer.from(join(corpus.workroot, "notes/ops/")),
      Buffer.from([0xff]),
    ]);
    mkdirSync(folder);
    writeFileSync(Buffer.concat([folder, Buffer.from("/a.md")]), "text");
    for (let scan = 0; scan < 2; scan += 1)
      expect(await corpus.index()).toMatchObject({ failed: 1, documents_total: 1 });
    expect(
      await select("select path, error_message as message from nightdesk_data.document_failures"),
    ).toEqual([
      {
        path: "notes/ops/\uFFFD",
        message:
          'The folder "notes/ops/\uFFFD" has a name that is not UTF-8: rename it. What was indexed of it stays until then.',
      },
    ]);
    rmSync(folder, { recursive: true });
    expect(await corpus.index()).toMatchObject({ failed: 0, documents_total: 1 });
  });

  test("a path longer than an index entry may be is a failure, and the note beside it is indexed", async () => {
    const deep = join("notes/ops", ...Array.from({ length: 14 }, (_, at) => noise(240, at)));
    mkdirSync(join(corpus.workroot, deep), { recursive: true });
    corpus.write(join(deep, "a.md"), "text");
    for (let scan = 0; scan < 2; scan += 1) {
      expect(await corpus.index()).toMatchObject({ failed: 1, documents_total: 1 });
    }
    expect(await select("select error_code from nightdesk_data.document_failures")).toEqual([
      { error_code: "FILE_READ_ERROR" },
    ]);
    expect(await needles()).toEqual(["notes/ops/good.md"]);
  });

  test("a document that the database refuses is a failure and loses no other of its portion", async () => {
    corpus.write("notes/ops/known.md", "# Known\n\nneedle\n");
    await corpus.index();
    await select(
      `alter table nightdesk_data.documents add constraint refuses_some
         check (path !~ 'refused' and (path !~ 'known' or chars < 20)) not valid`,
    );
    try {
      corpus.write("notes/ops/a-refused.md", "# Refused\n\nneedle\n");
      corpus.write("notes/ops/known.md", "# Known, but longer now\n\nneedle\n");
      corpus.write("notes/ops/new.md", "# New\n\nneedle\n");
      expect(await corpus.index()).toMatchObject({ added: 1, changed: 0, removed: 1, failed: 2 });
    } finally {
      await select("alter table nightdesk_data.documents drop constraint refuses_some");
    }
    expect(
      await select(
        "select path, error_message from nightdesk_data.document_failures order by path",
      ),
    ).toEqual([
      { path: "notes/ops/a-refused.md", error_message: expect.stringContaining("SQLSTATE 23514") },
      { path: "notes/ops/known.md", error_message: expect.stringContaining("SQLSTATE 23514") },
    ]);
    expect((await needles()).sort()).toEqual(["notes/ops/good.md", "notes/ops/new.md"]);
    expect(await corpus.index()).toMatchObject({ added: 2, failed: 0 });
    expect(await select("select path from nightdesk_data.document_failures")).toEqual([]);
  });
});

/** A name that no compression of the database makes shorter. */
function noise(length: number, seed: number): string {
  let state = seed + 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return String.fromCharCode(97 + ((state >>> 16) % 26));
  }).join("");
}
