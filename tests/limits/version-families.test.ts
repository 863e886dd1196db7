import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { selectVersions } from "../../src/shared/store/index/document-versions.ts";
import { familyKey } from "../../src/shared/files/version-family.ts";
import { describeOnPostgres, openPostgres } from "../support/test-databases.ts";
import type { TestDatabase } from "../support/test-databases.ts";
import { timeTakenBy } from "../support/time-taken.ts";

const DOCUMENTS = 1_400;
const FOUND = 1_000;
const MOST_MS = 100;

const NAMES: readonly (readonly [string, (at: number) => string])[] = [
  ["names of their own", (at) => `topic ${at} of the year.md`],
  ["dates in their names", (at) => `telekom 2026-01-14 ${at}.pdf`],
  ["versions of one document", (at) => `plan v${at}.md`],
  ["two versions each", (at) => `plan of flat ${at >> 1} v${at % 2}.md`],
];

describeOnPostgres("versions of many documents", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  test.each(NAMES)("of 1,000 of 1,400 with %s are told in 0.1 s", async (source, nameOf) => {
    const paths = Array.from({ length: DOCUMENTS }, (_, at) => `notes/${source}/${nameOf(at)}`);
    await database.db.query(
      `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled,
              metadata_state, chunk_settings, family)
       select $1, path, repeat('a', 64), 10, 10, 0, 0, 1, 1, true, 'absent', 'x', family
         from unnest($2::text[], $3::text[]) as u (path, family)`,
      [source, paths, paths.map((path) => familyKey(path))],
    );
    await database.db.query("analyze nightdesk_data.documents");
    const found = paths.slice(0, FOUND);
    let known = await selectVersions(database.db, found);
    expect(known.size).toBe(FOUND);
    const ms = await timeTakenBy(async () => {
      known = await selectVersions(database.db, found);
    }, MOST_MS);
    expect(ms).toBeLessThan(MOST_MS);
  });
});
