import { execFileSync } from "node:child_process";
import { chmodSync, renameSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES, openPglite } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

describe.each(ENGINES)("the index on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    await database.db.query("delete from nightdesk_data.document_failures");
    corpus = await openCorpus(database.db);
  });
  afterEach(() => {
    corpus.close();
  });

  const select = async (sql: string) => (await database.db.query(sql)).rows;
  const failures = () =>
    select("select path, error_code from nightdesk_data.document_failures order by path");

  test("stores documents and exact chunks as the views show them", async () => {
    corpus.write("notes/ops/Träin.md", "---\ntags: [x]\n---\n# Rail 🚂\n\nBy rail.\n");
    corpus.write("notes/lab/deep/empty.txt", "");
    expect(await corpus.index()).toMatchObject({
      documents_seen: 2,
      added: 2,
      chunks_written: 1,
      chunks_total: 1,
      documents_total: 2,
    });
    expect(
      await select(
        `select source, path, bytes::int, chars, chunks::int, metadata_state, metadata
           from nightdesk.documents order by path`,
      ),
    ).toEqual([
      {
        source: "lab",
        path: "notes/lab/deep/empty.txt",
        bytes: 0,
        chars: 0,
        chunks: 0,
        metadata_state: "absent",
        metadata: null,
      },
      {
        source: "ops",
        path: "notes/ops/Träin.md",
        bytes: 40,
        chars: 37,
        chunks: 1,
        metadata_state: "present",
        metadata: { tags: ["x"] },
      },
    ]);
    expect(
      await select(
        `select path, ordinal, heading_path, start_char, end_char, line_start, line_end, text, embedded_models
           from nightdesk.chunks`,
      ),
    ).toEqual([
      {
        path: "notes/ops/Träin.md",
        ordinal: 0,
        heading_path: "Rail 🚂",
        start_char: 18,
        end_char: 36,
        line_start: 4,
        line_end: 6,
        text: "# Rail 🚂\n\nBy rail.",
        embedded_models: [],
      },
    ]);
  });

  test("reads only what changed: content, time alone, new, gone", async () => {
    for (const name of ["a", "b", "c", "d"]) corpus.write(`notes/ops/${name}.md`, `# ${name}\n`);
    await corpus.index();
    expect(await corpus.index()).toMatchObject({ unchanged: 4, chunks_written: 0, removed: 0 });
    corpus.write("notes/ops/a.md", "# another\n");
    utimesSync(join(corpus.workroot, "notes/ops/b.md"), 1, 1);
    corpus.remove("notes/ops/c.md");
    corpus.write("notes/ops/e.md", "# e\n");
    expect(await corpus.index()).toMatchObject({
      documents_seen: 4,
      changed: 1,
      unchanged: 2,
      added: 1,
      removed: 1,
      documents_total: 4,
    });
    expect(await corpus.index()).toMatchObject({ unchanged: 4, chunks_written: 0 });
  });

  test("sees an edit that leaves size and times as they were, when it follows the scan at once", async () => {
    const path = join(corpus.workroot, "notes/ops/a.md");
    corpus.write("notes/ops/a.md", "first");
    await corpus.index();
    corpus.write("notes/ops/a.md", "later");
    const { mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    await select(
      `update nightdesk_data.documents set mtime_ns = ${mtimeNs}, ctime_ns = ${ctimeNs} returning path`,
    );
    expect(await corpus.index()).toMatchObject({ changed: 1 });
    expect(await corpus.search({ text: "later" })).toHaveLength(1);
  });

  test("does not read a file again that was at rest when it was read", async () => {
    corpus.write("notes/ops/a.md", "first");
    await corpus.index();
    await select("update nightdesk_data.documents set settled = true, sha256 = repeat('0', 64)");
    expect(await corpus.index()).toMatchObject({ unchanged: 1 });
    expect(await select("select sha256 from nightdesk.documents")).toEqual([
      { sha256: "0".repeat(64) },
    ]);
  });

  test("sees a file that was replaced by another of the same size and time", async () => {
    corpus.write("notes/ops/a.md", "first");
    utimesSync(join(corpus.workroot, "notes/ops/a.md"), 1, 1);
    await corpus.index();
    corpus.write("notes/ops/b.tmp", "other");
    utimesSync(join(corpus.workroot, "notes/ops/b.tmp"), 1, 1);
    renameSync(join(corpus.workroot, "notes/ops/b.tmp"), join(corpus.workroot, "notes/ops/a.md"));
    expect(await corpus.index()).toMatchObject({ changed: 1 });
  });

  test("a file is read again when another extractor made its text, and keeps its vectors", async () => {
    corpus.write("notes/ops/a.md", "# a\n");
    corpus.write("notes/ops/b.md", "# b\n");
    await corpus.index();
    await corpus.embed();
    await database.db.query(
      "update nightdesk_data.documents set extractor = 'old 1' where path = 'notes/ops/a.md'",
    );
    expect(await corpus.index()).toMatchObject({ changed: 1, unchanged: 1 });
    expect(await select("select extractor from nightdesk.documents group by extractor")).toEqual([
      { extractor: "utf-8" },
    ]);
    expect(
      await select("select embedded_models, locator from nightdesk.chunks order by path"),
    ).toEqual(Array(2).fill({ embedded_models: ["hashing-384"], locator: null }));
  });

  test("chunks of JSON are stored with the pointer that they begin at", async () => {
    const parts = ["x", "y"].map((word) => `${word} `.repeat(120).trim());
    corpus.write("notes/ops/a.json", JSON.stringify({ first: parts[0], last: parts[1] }));
    await corpus.index();
    expect(await select("select locator from nightdesk.chunks order by ordinal")).toEqual([
      { locator: { pointer: "/first" } },
      { locator: { pointer: "/last" } },
    ]);
    const [passage] = await corpus.search({ text: "y" });
    expect(passage).toMatchObject({ locator: { pointer: "/last" }, extractor: "utf-8" });
  });

  test("a chunk that did not change keeps its key, its postings and its vector", async () => {
    const part = (name: string) => `## ${name}\n\nText of ${name}.\n\n`;
    corpus.write("notes/ops/a.md", `${part("one")}${part("two")}${part("three")}`);
    await corpus.index();
    await corpus.embed();
    corpus.write("notes/ops/a.md", `${part("new")}${part("three")}${part("one")}`);
    await corpus.index();
    expect(
      await select(
        "select ordinal, heading_path, embedded_models from nightdesk.chunks order by ordinal",
      ),
    ).toEqual([
      { ordinal: 0, heading_path: "new", embedded_models: [] },
      { ordinal: 1, heading_path: "three", embedded_models: ["hashing-384"] },
      { ordinal: 2, heading_path: "one", embedded_models: ["hashing-384"] },
    ]);
    for (const [text, found] of [
      ["one", 1],
      ["two", 0],
      ["three", 1],
      ["new", 1],
    ] as const) {
      expect(await corpus.search({ text })).toHaveLength(found);
    }
  });

  test("a bad file is a row of failures with its code and stops nothing; a good one takes it back", async () => {
    corpus.write("notes/ops/good.md", "# good");
    corpus.write("notes/ops/damaged.md", Buffer.from("für 10 €").subarray(0, -1));
    corpus.write("notes/ops/nul.md", "a\0b");
    corpus.write("notes/ops/large.md", "x".repeat(20_001));
    corpus.write("outside.md", "# outside");
    symlinkSync(join(corpus.workroot, "outside.md"), join(corpus.workroot, "notes/ops/out.md"));
    corpus.write("notes/lab/other.md", "# other source");
    symlinkSync("../lab/other.md", join(corpus.workroot, "notes/ops/other.md"));
    symlinkSync("nowhere.md", join(corpus.workroot, "notes/ops/dangling.md"));
    symlinkSync("../lab", join(corpus.workroot, "notes/ops/folder"));
    execFileSync("mkfifo", [join(corpus.workroot, "notes/ops/pipe.md")]);
    corpus.write("notes/ops/.hidden.md", "# hidden");
    corpus.write("notes/ops/.git/config.md", "# hidden");
    corpus.write("notes/ops/picture.png", "no text");
    expect(await corpus.index()).toMatchObject({ added: 2, failed: 7 });
    expect(await failures()).toEqual([
      { path: "notes/ops/damaged.md", error_code: "FILE_READ_ERROR" },
      { path: "notes/ops/dangling.md", error_code: "FILE_NOT_FOUND" },
      { path: "notes/ops/large.md", error_code: "FILE_TOO_LARGE" },
      { path: "notes/ops/nul.md", error_code: "FILE_READ_ERROR" },
      { path: "notes/ops/other.md", error_code: "PATH_DENIED" },
      { path: "notes/ops/out.md", error_code: "PATH_DENIED" },
      { path: "notes/ops/pipe.md", error_code: "FILE_READ_ERROR" },
    ]);

    for (const name of ["large", "dangling", "out", "other", "pipe"]) {
      corpus.remove(`notes/ops/${name}.md`);
    }
    corpus.write("notes/ops/damaged.md", "für");
    corpus.write("notes/ops/good.md", Buffer.from([0xff, 0x00]));
    expect(await corpus.index()).toMatchObject({ added: 1, failed: 2, removed: 1 });
    expect(await failures()).toEqual([
      { path: "notes/ops/good.md", error_code: "FILE_READ_ERROR" },
      { path: "notes/ops/nul.md", error_code: "FILE_READ_ERROR" },
    ]);
    expect(await corpus.search({ text: "good" })).toEqual([]);
  });

  test("a document whose chunks the database refuses is not there either, and is a failure", async () => {
    await select(
      "alter table nightdesk_data.chunks add constraint refuses_some check (text not like '%refused%')",
    );
    corpus.write("notes/ops/good.md", "# good");
    corpus.write("notes/ops/bad.md", "# refused");
    expect(await corpus.index()).toMatchObject({ added: 1, failed: 1, documents_total: 1 });
    expect(await failures()).toEqual([{ path: "notes/ops/bad.md", error_code: "FILE_READ_ERROR" }]);
    await select("alter table nightdesk_data.chunks drop constraint refuses_some");
    expect(await corpus.index()).toMatchObject({ added: 1, failed: 0, documents_total: 2 });
  });

  test("a root that is missing or empty prunes nothing unless told, and a failure says so", async () => {
    corpus.write("notes/ops/a.md", "# kept");
    await corpus.index();
    corpus.remove("notes/ops/a.md");
    expect(await corpus.index()).toMatchObject({ failed: 1, removed: 0, documents_total: 1 });
    corpus.remove("notes/ops");
    expect(await corpus.index()).toMatchObject({ failed: 1, removed: 0, documents_total: 1 });
    expect(await failures()).toEqual([{ path: "notes/ops", error_code: "FILE_NOT_FOUND" }]);
    expect(await corpus.index({ pruneOfEmptyRoot: "allowed" })).toMatchObject({
      removed: 1,
      documents_total: 0,
    });
    expect(await failures()).toEqual([]);
  });

  test("a root that is not there and never was says so, and nothing else", async () => {
    corpus.write("notes/lab/a.md", "# Wagon");
    corpus.remove("notes/ops");
    expect(await corpus.index()).toMatchObject({ failed: 1, added: 1 });
    expect(await select("select error_message from nightdesk_data.document_failures")).toEqual([
      { error_message: 'The root "notes/ops" of source "ops" is not there. Create or mount it.' },
    ]);
  });

  test("documents of a source that left the configuration are counted, and go when it is told", async () => {
    corpus.write("notes/ops/a.md", "# here");
    corpus.write("notes/lab/b.md", "# Wagon");
    await corpus.index();
    const left = { foreign_documents: 1, documents_total: 2, removed: 0 };
    expect(await corpus.indexWithout("lab")).toMatchObject(left);
    expect(await corpus.indexWithout("lab", { rebuild: true })).toMatchObject(left);
    expect(await corpus.search({ text: "wagons" })).toHaveLength(1);
    expect(await corpus.indexWithout("lab", { pruneForeign: true })).toMatchObject({
      foreign_documents: 0,
      removed: 1,
      documents_total: 1,
    });
    expect(await corpus.search({ text: "wagons" })).toEqual([]);
    expect(await corpus.index()).toMatchObject({ added: 1, documents_total: 2 });
  });

  test("a rebuild keeps the documents of a root that is missing", async () => {
    corpus.write("notes/ops/a.md", "# kept");
    await corpus.index();
    corpus.remove("notes/ops");
    expect(await corpus.index({ rebuild: true })).toMatchObject({ removed: 0, documents_total: 1 });
  });

  test("verifying reads every file, writes only what differs, and names what changed in secret", async () => {
    for (const name of ["a", "b", "c"]) corpus.write(`notes/ops/${name}.md`, `# ${name}\n`);
    await corpus.index();
    await corpus.embed();
    await select("update nightdesk_data.documents set settled = true");
    await select(
      "update nightdesk_data.documents set sha256 = repeat('0', 64) where path = 'notes/ops/b.md'",
    );
    corpus.write("notes/ops/c.md", "# another\n");
    const before = await select("select path, indexed_at from nightdesk.documents order by path");
    expect(await corpus.index({ verify: true })).toMatchObject({
      unchanged: 1,
      changed: 2,
      silently_changed: 1,
      silently_changed_paths: ["notes/ops/b.md"],
    });
    const after = await select("select path, indexed_at from nightdesk.documents order by path");
    expect(after[0]).toEqual(before[0]);
    expect(await select("select 1 from nightdesk_data.embeddings")).toHaveLength(2);
    expect(await corpus.index({ verify: true })).toMatchObject({ unchanged: 3, changed: 0 });
  });

  test("counts the files that are left out for their extension, and no others", async () => {
    for (const name of ["a.md", "a.pdf", "sub/b.PDF", "c.csv", "README", "x.no ending"]) {
      corpus.write(`notes/ops/${name}`, "text\n");
    }
    for (const name of [".hidden.pdf", ".folder/d.pdf", "drafts/e.pdf", "own.zip", "~$open.pdf"]) {
      corpus.write(`notes/ops/${name}`, "text\n");
    }
    corpus.write("notes/ops/.nightdeskignore", "drafts/\n*.zip\n");
    corpus.write("notes/lab/f.pdf", "text\n");
    expect(await corpus.index()).toMatchObject({
      documents_seen: 1,
      skipped_files: 6,
      skipped_by_extension: { ".pdf": 3, ".csv": 1, none: 1, other: 1 },
    });
    expect(await corpus.index({ source: "lab" })).toMatchObject({
      skipped_files: 1,
      skipped_by_extension: { ".pdf": 1 },
    });
  });

  test("names the twenty most frequent extensions, and adds up the others", async () => {
    for (let at = 0; at < 25; at += 1) corpus.write(`notes/ops/${at}.e${at}`, "text\n");
    corpus.write("notes/ops/twice.e24", "text\n");
    const { skipped_by_extension: skipped } = await corpus.index();
    expect(Object.keys(skipped)).toHaveLength(21);
    expect(skipped).toMatchObject({ ".e24": 2, other: 5 });
  });

  test("a document that becomes ignored is removed, and comes back when it is not", async () => {
    corpus.write("notes/ops/a.md", "# kept");
    corpus.write("notes/ops/drafts/b.md", "# draft");
    await corpus.index();
    corpus.write("notes/ops/.nightdeskignore", "drafts/\n");
    expect(await corpus.index()).toMatchObject({ removed: 1, unchanged: 1, documents_total: 1 });
    corpus.write("notes/ops/.nightdeskignore", "*.md\n");
    expect(await corpus.index()).toMatchObject({ removed: 1, documents_total: 0 });
    corpus.remove("notes/ops/.nightdeskignore");
    expect(await corpus.index()).toMatchObject({ added: 2, documents_total: 2 });
  });

  test("an ignore file that can't be followed keeps what was indexed below it, and is a failure", async () => {
    corpus.write("notes/ops/sub/a.md", "# kept");
    corpus.write("notes/ops/b.md", "# seen");
    await corpus.index();
    corpus.write("notes/ops/sub/.nightdeskignore", "b.md\n".repeat(20_000));
    corpus.remove("notes/ops/b.md");
    expect(await corpus.index()).toMatchObject({ failed: 1, removed: 1, documents_total: 1 });
    expect(await failures()).toEqual([
      { path: "notes/ops/sub/.nightdeskignore", error_code: "FILE_READ_ERROR" },
    ]);
    corpus.write("notes/ops/sub/.nightdeskignore", "# nothing\n");
    expect(await corpus.index()).toMatchObject({ failed: 0, unchanged: 1 });
    expect(await failures()).toEqual([]);
  });

  test("such a file of the work root keeps all that was indexed", async () => {
    corpus.write("notes/ops/a.md", "# kept");
    expect(await corpus.indexWith({ isRoot: true })).toMatchObject({ added: 1 });
    corpus.write("notes/ops/.nightdeskignore", "b.md\n".repeat(20_000));
    expect(await corpus.indexWith({ isRoot: true })).toMatchObject({ failed: 1, removed: 0 });
    expect(await select("select path from nightdesk.documents")).toEqual([{ path: "a.md" }]);
  });

  test("a source can take fewer extensions than may be read, and no others", async () => {
    corpus.write("notes/ops/a.md", "# note");
    corpus.write("notes/ops/b.txt", "text");
    corpus.write("notes/lab/c.txt", "text");
    const exts = (list: readonly string[]) => ({ exts: { ops: list } });
    expect(await corpus.indexWith(exts([".md"]))).toMatchObject({ added: 2 });
    await expect(corpus.indexWith(exts([".md", ".rst"]))).rejects.toMatchObject({
      code: "CONFIG_ERROR",
      message: expect.stringContaining("security.allowed_exts"),
    });
  });

  test("a source can name the encoding of its texts, and another one reads them anew", async () => {
    const polish = Buffer.from("Ma\xb3y \x9clad", "latin1");
    corpus.write("notes/ops/a.txt", polish);
    corpus.write("notes/lab/b.txt", polish);
    corpus.write("notes/ops/c.md", "# Plain");
    corpus.write("notes/ops/d.txt", "Größe in UTF-8");
    await corpus.index();
    const read = () =>
      select(
        "select d.path, extractor, text from nightdesk_data.documents d join nightdesk_data.chunks c using (doc_id) where text ~ '^M' order by d.path",
      );
    const guessed = { extractor: "decoded 2", text: "Ma³y œlad" };
    expect(await read()).toEqual([
      { path: "notes/lab/b.txt", ...guessed },
      { path: "notes/ops/a.txt", ...guessed },
    ]);
    const encodings = { ops: "windows-1250" };
    expect(await corpus.indexWith({ encodings })).toMatchObject({ changed: 3 });
    expect(await read()).toEqual([
      { path: "notes/lab/b.txt", ...guessed },
      { path: "notes/ops/a.txt", extractor: "decoded 2 as windows-1250", text: "Mały ślad" },
    ]);
    expect(await corpus.indexWith({ encodings })).toMatchObject({ changed: 0 });
    await corpus.index();
    expect(await read()).toMatchObject([{}, guessed]);
  });

  test("only the source that was named is scanned, and an unknown one is refused with those there are", async () => {
    corpus.write("notes/ops/a.md", "# same");
    corpus.write("notes/lab/a.md", "# same");
    expect(await corpus.index({ source: "lab" })).toMatchObject({ added: 1, documents_total: 1 });
    expect(await corpus.index()).toMatchObject({ added: 1, chunks_total: 2 });
    await expect(corpus.index({ source: "labs" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("ops, lab"),
    });
  });

  test("other chunk settings cut again exactly what was cut with the old ones", async () => {
    corpus.write("notes/ops/a.md", "# A\n\nSome words. ".repeat(40));
    corpus.write("notes/lab/b.md", "# B\n");
    await corpus.index();
    const { workroot, close } = corpus;
    corpus = await openCorpus(database.db, 150);
    corpus.write("notes/ops/a.md", "# A\n\nSome words. ".repeat(40));
    expect(await corpus.index({ source: "ops" })).toMatchObject({ changed: 1 });
    corpus.write("notes/lab/b.md", "# B\n");
    expect(await corpus.index({ source: "lab" })).toMatchObject({ changed: 1 });
    expect(workroot).not.toBe(corpus.workroot);
    close();
  });

  test("a document that was indexed with other settings gets its words anew, though its chunks are the same", async () => {
    corpus.write("notes/ops/a.md", "# Alpha\n\nneedle\n");
    await corpus.index();
    await select("update nightdesk_data.documents set chunk_settings = 'older'");
    await select("delete from nightdesk_data.postings where term = 'needl'");
    expect(await corpus.index()).toMatchObject({ changed: 1, chunks_written: 1 });
    expect(await corpus.search({ text: "needle" })).toHaveLength(1);
  });

  test.each([
    ["an alias", "standup"],
    ["a tag", "retrospective"],
    ["a tag with a hash", "planning"],
  ])(
    "a document is found by %s of its frontmatter, and no longer when that is gone",
    async (_name, text) => {
      const note = (frontmatter: string) => `---\n${frontmatter}\n---\n# Meeting\n\nText.\n`;
      corpus.write(
        "notes/ops/a.md",
        note("aliases: [Daily Standup]\ntags: ['#planning', retrospective]"),
      );
      await corpus.index();
      expect(await corpus.search({ text })).toHaveLength(1);
      corpus.write("notes/ops/a.md", note("aliases: []\ntags: release"));
      await corpus.index();
      expect(await corpus.search({ text })).toEqual([]);
      expect(await corpus.search({ text: "releases" })).toHaveLength(1);
    },
  );

  test("JSON is found by the keys above an entry", async () => {
    const entries = Array.from({ length: 9 }, (_, id) => ({ id, text: "words ".repeat(40) }));
    corpus.write("notes/ops/a.json", JSON.stringify({ incidents: entries, other: entries }));
    await corpus.index();
    const found = await corpus.search({ text: "incidents", limit: 20 }, { perDocument: 20 });
    expect(found.map(({ headingPath }) => headingPath)).toContain("/incidents/3");
    expect(found.every(({ headingPath }) => headingPath?.startsWith("/incidents"))).toBe(true);
  });

  test("a rebuild writes everything anew, and finds the same", async () => {
    corpus.write("notes/ops/a.md", "# Alpha\n\n## Beta\n\nGamma delta.\n");
    await corpus.index();
    const before = await corpus.search({ text: "gamma beta" });
    expect(await corpus.index({ rebuild: true })).toMatchObject({ changed: 1, unchanged: 0 });
    expect(await corpus.search({ text: "gamma beta" })).toEqual(before);
    expect(before).toHaveLength(1);
  });

  test("what was finished stays when it is interrupted, and the next run goes on from there", async () => {
    for (let at = 0; at < 600; at += 1) corpus.write(`notes/ops/${at}.md`, `# Note ${at}\n`);
    const controller = new AbortController();
    const progress: number[] = [];
    const interrupted = corpus.index({
      signal: controller.signal,
      onProgress: ({ documentsDone }) => {
        progress.push(documentsDone);
        if (documentsDone > 0) controller.abort(new Error("stop"));
      },
    });
    await expect(interrupted).rejects.toThrow("stop");
    const kept = progress.at(-1) ?? 0;
    expect(kept).toBeGreaterThan(0);
    expect(await corpus.index()).toMatchObject({ unchanged: kept, added: 600 - kept });
  });
});

describe("folders that can't be listed", () => {
  const isRoot = process.getuid?.() === 0;

  (isRoot ? test.skip : test)("keep what was indexed from them", async () => {
    const { db, close } = await openPglite();
    const corpus = await openCorpus(db);
    corpus.write("notes/ops/a.md", "# a");
    corpus.write("notes/ops/deep/b.md", "# b");
    await corpus.index();
    chmodSync(join(corpus.workroot, "notes/ops/deep"), 0);
    expect(await corpus.index()).toMatchObject({ removed: 0, documents_total: 2, failed: 1 });
    chmodSync(join(corpus.workroot, "notes/ops/deep"), 0o700);
    expect(await corpus.index()).toMatchObject({ removed: 0, documents_total: 2, failed: 0 });
    corpus.close();
    await close();
  });
});
