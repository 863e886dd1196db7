import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  forgetDocuments,
  removeUnnamedSlice,
  selectReaders,
} from "../../../src/shared/store/index/contents.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";
import { planOf } from "../../support/plan-of.ts";

const FILES = 2_000;

describe.each(ENGINES)("with $engine and much evidence", ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    await database.db.transaction(async (db) => {
      await db.query("set local session_replication_role = replica");
      await db.query(
        `insert into nightdesk_data.contents (sha256, bytes, content, used_at)
         select md5(i::text) || md5(i::text), 1, 'x', now() - interval '1 day' from generate_series(1, $1) i`,
        [FILES],
      );
      await db.query(
        `insert into nightdesk_data.evidence (run_id, ordinal, kind, admitted, path, sha256, text_sha256, chars_full, chars_returned,
                truncated, start_char, end_char, line_start, line_end, preview)
         select gen_random_uuid(), n, 'file', true, 'corpus/' || i || '.md', md5(i::text) || md5(i::text), md5('') || md5(''), 1, 1, false,
                0, 1, 1, 1, 'x'
           from generate_series(2, $1) i, generate_series(1, 15) n`,
        [FILES],
      );
    });
    await database.db.query("analyze");
  }, 60_000);
  afterAll(() => database.close());

  test("a prune looks up its slice, and goes through all contents in the order of their hashes", async () => {
    const limits = { limit: 500, graceSeconds: 1 };
    const plan = await planOf(database.db, (db) => removeUnnamedSlice(db, "", limits));
    expect(plan).toMatch(/evidence_by_sha256/);
    expect(plan).not.toMatch(/Seq Scan on (?:evidence|contents)/);
    const removed: number[] = [];
    for (let after = ""; ;) {
      const slice = await removeUnnamedSlice(database.db, after, limits);
      if (slice.last === null) break;
      after = slice.last;
      removed.push(slice.contents);
    }
    // The first content is nobody's.
    expect(removed.toSorted()).toEqual([0, 0, 0, 1]);
  });

  test("a forget looks up the runs that read a file", async () => {
    const path = "corpus/7.md";
    const sha256 = "8f14e45fceea167a5a36dedd4bea2543".repeat(2);
    const plans = [
      await planOf(database.db, (db) => selectReaders(db, path, [sha256])),
      await planOf(database.db, (db) => forgetDocuments(db, path, [])),
    ];
    for (const plan of plans) {
      expect(plan).toMatch(/evidence_by_path/);
      expect(plan).not.toMatch(/Seq Scan on evidence/);
    }
  });

  test("has an index for each foreign key, by which its rows are found that go with another", async () => {
    const { rows } = await database.db.query(
      `select conname from pg_constraint c
        where c.contype = 'f' and not exists (
          select from pg_index i
           where i.indrelid = c.conrelid and (i.indkey::int2[])[0 : cardinality(c.conkey) - 1] @> c.conkey)`,
    );
    expect(rows).toEqual([]);
  });
});
