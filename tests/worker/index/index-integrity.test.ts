import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { findIndexFaults } from "../../../src/shared/store/index/totals.ts";
import { SOUND } from "../../support/sound-index.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

describe.each(ENGINES)("the integrity of the index on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    const tables = [
      "dead_chunks",
      "documents",
      "segments",
      "postings",
      "dead_chunks",
      "chunk_counts",
    ];
    for (const table of tables) {
      await database.db.query(`delete from nightdesk_data.${table}`);
    }
    corpus = await openCorpus(database.db);
    corpus.write("notes/ops/a.md", "# Alpha\n\n## One\n\nfirst\n\n## Two\n\nsecond\n");
    corpus.write("notes/ops/b.md", "# Beta\n\nthird\n");
    corpus.write("notes/lab/empty.md", "");
    await corpus.index();
  });
  afterEach(() => {
    corpus.close();
  });

  const faults = () => findIndexFaults(database.db);

  test("an index is sound when it is new, after edits, and when it is empty", async () => {
    expect(await faults()).toEqual(SOUND);
    corpus.write("notes/ops/a.md", "# Alpha\n\n## Two\n\nsecond\n\n## Three\n\nmore\n");
    corpus.remove("notes/lab/empty.md");
    await corpus.index();
    expect(await faults()).toEqual(SOUND);
    await corpus.index({ rebuild: true });
    expect(await faults()).toEqual(SOUND);
    await database.db.query("delete from nightdesk_data.documents");
    expect(await faults()).toEqual(SOUND);
  });

  test("the proof of a document is the formula that stands beside its column", async () => {
    const { db } = database;
    const { rows } = await db.query(
      `select d.sha256, d.chunks_sha256,
              (select string_agg(ordinal || ' ' || start_char || ' ' || end_char || ' ' || c.sha256, ',' order by ordinal)
                 from nightdesk_data.chunks c where c.doc_id = d.doc_id) as chunks
         from nightdesk_data.documents d`,
    );
    const documents = rows as { sha256: string; chunks_sha256: string; chunks: string | null }[];
    expect(documents).toHaveLength(3);
    for (const { sha256, chunks_sha256: proof, chunks } of documents) {
      const lines = [sha256, ...(chunks?.split(",") ?? [])];
      expect(proof).toBe(createHash("sha256").update(lines.join("\n")).digest("hex"));
    }
    await db.query("update nightdesk_data.documents set chunks_sha256 = default");
    expect(await faults()).toEqual({ ...SOUND, proofs: 3 });
  });

  const LAST = "(select max(chunk_id) from nightdesk_data.chunks)";
  const ONE = "chunk_id = (select min(chunk_id) from nightdesk_data.chunks)";
  test.each([
    ["chunks", `update nightdesk_data.chunks set text = reverse(text) where ${ONE}`],
    ["documents", `update nightdesk_data.chunks set ordinal = 9 where ${ONE}`],
    ["documents", "update nightdesk_data.documents set chars = 1 where path = 'notes/ops/b.md'"],
    ["proofs", `delete from nightdesk_data.chunks where chunk_id = ${LAST}`],
    ["proofs", "delete from nightdesk_data.chunks"],
    ["proofs", "update nightdesk_data.documents set sha256 = repeat('0', 64) where chars = 0"],
    [
      "proofs",
      `update nightdesk_data.chunks set start_char = start_char + 1, text = substr(text, 2),
                       sha256 = encode(sha256(convert_to(substr(text, 2), 'UTF8')), 'hex') where ${ONE}`,
    ],
    [
      "proofs",
      `update nightdesk_data.chunks set text = reverse(text),
                       sha256 = encode(sha256(convert_to(reverse(text), 'UTF8')), 'hex') where ${ONE}`,
    ],
    ["proofs", `update nightdesk_data.documents set chunks_sha256 = default where chars = 0`],
    ["postings", "delete from nightdesk_data.postings where term = 'first'"],
    [
      "postings",
      `update nightdesk_data.postings set entries = entries || entries where term = 'first'`,
    ],
    ["counts", "update nightdesk_data.chunk_counts set terms = terms + 1"],
    ["counts", "delete from nightdesk_data.chunk_counts"],
    ["counts", "update nightdesk_data.chunk_counts set language = 'german'"],
    ["documents", "update nightdesk_data.documents set language = 'german'"],
    [
      "dead",
      `insert into nightdesk_data.dead_chunks select chunk_id from nightdesk_data.chunks where ${ONE}`,
    ],
    ["dead", "insert into nightdesk_data.dead_chunks values (987654321)"],
    [
      "segments",
      "insert into nightdesk_data.segments (chunk_ids) select chunk_ids from nightdesk_data.segments",
    ],
    ["segments", "delete from nightdesk_data.segments"],
  ])("a fault of the %s is found: %s", async (name, sql) => {
    await database.db.query(sql);
    expect(await faults()).toMatchObject({ [name]: expect.any(Number) });
    expect(await faults()).not.toMatchObject({ [name]: 0 });
  });
});
