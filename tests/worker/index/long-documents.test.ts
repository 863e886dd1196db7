import { hash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { findIndexFaults } from "../../../src/shared/store/index/totals.ts";
import { createVocabularies } from "../../../src/shared/store/index/vocabulary.ts";
import { holdChunks, writeDocuments } from "../../../src/shared/store/index/write-documents.ts";
import type { DocumentToWrite } from "../../../src/shared/store/index/write-documents.ts";
import { PREPARE, unpackChunks } from "../../../src/worker/documents/packed-document.ts";
import { NO_PLACES } from "../../../src/worker/documents/places.ts";
import { prepareDocument } from "../../../src/worker/documents/prepare-document.ts";
import type { Offload } from "../../../src/worker/offload/offload.ts";
import { SOUND } from "../../support/sound-index.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";
import { testOffload } from "../offload/test-offload.ts";

const LONGEST_FILE = 10_000_000;
const CHUNKING = { maxChars: 1_200, overlap: 150 };

const filled = (shape: string, chars: number): string =>
  shape.repeat(Math.ceil(chars / shape.length)).slice(0, chars);

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");

/** With twins, more than one statement of chunks, and more words than a vocabulary keeps. */
const DOCUMENTS: readonly (readonly [string, string, string])[] = [
  [
    "headings",
    "a.md",
    `---\ntitle: Bikes\ntags: [hire, deposit]\n---\n${lines(9_000, (at) => `${"#".repeat(1 + (at % 6))} Part ${at % 7}\n`)}`,
  ],
  [
    "Chinese and Japanese",
    "a.md",
    lines(400, (at) => `# 東京都 ${at}\n\n${"自転車は六時までに返す。".repeat(30)}\n`),
  ],
  [
    "lines that end with CRLF",
    "a.md",
    lines(3_000, (at) => `## Part ${at % 50}\r\n\r\nBack by six.\r\n\r\n`),
  ],
  [
    "tables",
    "a.md",
    `# T\n\n| bike | day |\n|---|---|\n${lines(6_000, (at) => `| **${at}** | 3 May ${at % 9} |`)}`,
  ],
  [
    "code fences",
    "a.md",
    lines(
      300,
      (at) =>
        `# F ${at}\n\n\`\`\`ts\n# no heading\n${"const a_b = src/main.ts;\n".repeat(at)}\`\`\`\n`,
    ),
  ],
  [
    "emoji and tags",
    "a.md",
    lines(3_000, (at) => `## 🚲 ${at % 3}\n\nStraße <b>x</b> ${"x".repeat(at % 40)}\n`),
  ],
  [
    "JSON lines",
    "a.jsonl",
    lines(5_000, (at) => JSON.stringify({ id: at % 11, text: "Back by six." })),
  ],
  ["words that all differ", "a.md", lines(210_000, (at) => at.toString(36))],
];

/** What a thread cuts is compared by the rows that come of it, which are the same on either engine. */
const ONE_ENGINE = ENGINES.slice(0, 1);

describe.each(ONE_ENGINE)("a long document that a thread cut, on $engine", ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());

  const select = async (sql: string) => (await database.db.query(sql)).rows;

  /** Every column but numbers and times that the database gives. */
  async function rowsOf(document: DocumentToWrite): Promise<Readonly<Record<string, unknown>>> {
    const { db } = database;
    await db.query("delete from nightdesk_data.documents");
    await db.transaction((transaction) =>
      writeDocuments(transaction, {
        source: "ops",
        chunkSettings: "1",
        language: "english",
        documents: [document],
      }),
    );
    return {
      faults: await findIndexFaults(db),
      documents: await select(
        "select to_jsonb(d) - '{doc_id,scanned_at,indexed_at}'::text[] as columns from nightdesk_data.documents d",
      ),
      chunks: await select(
        "select to_jsonb(c) - '{doc_id,chunk_id}'::text[] as columns from nightdesk_data.chunks c order by ordinal",
      ),
      postings: await select(
        `select term, chunk_key, entry & 16777215 as times_and_words
           from nightdesk_data.postings p, unnest(entries) as entry
           join nightdesk_data.chunks c on c.chunk_id = entry >> 24 order by term, chunk_key`,
      ),
    };
  }

  test.each(DOCUMENTS)(
    "of %s gives the same rows from a thread as from this one",
    async (_, name, text) => {
      const bytes = Buffer.from(text);
      const document = {
        kind: "document",
        source: "ops",
        path: `notes/ops/${name}`,
        text,
        extractor: "utf-8",
        places: NO_PLACES,
        sha256: hash("sha256", bytes, "hex"),
        facts: { bytes: BigInt(bytes.length), mtimeNs: 2n, ctimeNs: 3n, inode: 4n, device: 5n },
        settled: true,
        mail: null,
        attachments: 0,
        leftOut: {},
      } as const;
      const limits = { chars: text.length, signal: new AbortController().signal };
      const packed = await testOffload()(PREPARE, { document, settings: CHUNKING }, limits);
      const vocabularies = createVocabularies();
      const unpacked = unpackChunks(packed.chunks, () => vocabularies("english"));
      const fromThread = await rowsOf({ ...packed, chunks: unpacked, replace: "all" });

      const vocabulary = createVocabularies()("english");
      const { chunks, ...facts } = prepareDocument(document, CHUNKING, vocabulary);
      const held = holdChunks(chunks, vocabulary);
      const fromHere = await rowsOf({ ...facts, chunks: held, replace: "all" });
      expect(fromThread["faults"]).toEqual(SOUND);
      expect(chunks.length).toBeGreaterThan(40);
      expect(fromThread["chunks"]).toHaveLength(chunks.length);
      expect(fromThread).toEqual(fromHere);
    },
    120_000,
  );
});

describe.each(ENGINES)("a long document on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus | undefined;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  afterEach(async () => {
    corpus?.close();
    corpus = undefined;
    for (const table of ["documents", "document_failures", "segments", "postings", "dead_chunks"])
      await database.db.query(`delete from nightdesk_data.${table}`);
  });

  const select = async (sql: string) => (await database.db.query(sql)).rows;

  async function corpusWith(text: string, offload?: Offload): Promise<TestCorpus> {
    corpus = await openCorpus(database.db, CHUNKING.maxChars, LONGEST_FILE, offload);
    corpus.write("notes/ops/a.md", "# A\n\nneedle\n");
    corpus.write("notes/ops/long.md", text);
    corpus.write("notes/ops/z.md", "# Z\n\nneedle\n");
    return corpus;
  }

  const headings = (chars: number): string => filled("## What is said of it here\n", chars);

  test("keeps the chunks that stay the same when it is edited", async () => {
    const { index, write } = await corpusWith(lines(9_000, (at) => `## Part ${at}\n`));
    await index();
    const idsOf = () =>
      select("select chunk_key, chunk_id from nightdesk_data.chunks order by chunk_key");
    const before = await idsOf();
    write(
      "notes/ops/long.md",
      lines(9_000, (at) => `## Part ${at === 4_500 ? "new" : at}\n`),
    );
    expect(await index()).toMatchObject({ changed: 1, chunks_written: 9_000 });
    const after = new Set((await idsOf()).map((row) => JSON.stringify(row)));
    const gone = before.filter((row) => !after.has(JSON.stringify(row)));
    expect([before.length, after.size, gone.length]).toEqual([9_002, 9_002, 1]);
    expect(await findIndexFaults(database.db)).toEqual(SOUND);
  }, 60_000);

  test("ends the scan at once when it is aborted while it is cut", async () => {
    const { index } = await corpusWith(headings(LONGEST_FILE));
    const cancel = new AbortController();
    const scan = index({ signal: cancel.signal });
    setTimeout(() => {
      cancel.abort(new Error("cancelled"));
    }, 300);
    const startedAt = performance.now();
    await expect(scan).rejects.toThrow("cancelled");
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test("is its own failure when it breaks the thread, and the others are indexed", async () => {
    const little = testOffload({ resourceLimits: { maxOldGenerationSizeMb: 16 } });
    const { index, write } = await corpusWith(headings(LONGEST_FILE / 2), little);
    write("notes/ops/m.md", filled("Bikes must be back by six.\n\n", 60_000));
    expect(await index()).toMatchObject({ added: 3, failed: 1 });
    expect(
      await select("select path, error_code, error_message from nightdesk_data.document_failures"),
    ).toEqual([
      {
        path: "notes/ops/long.md",
        error_code: "FILE_READ_ERROR",
        error_message:
          '"notes/ops/long.md" can\'t be cut into chunks: it needs more memory than there is. Split the file, or leave it out.',
      },
    ]);
  }, 60_000);
});
