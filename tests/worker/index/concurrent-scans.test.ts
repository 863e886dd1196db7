import { execFileSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { waitUntil } from "../../services/wait-until.js";
import { countsAreTrue } from "../../support/counts-are-true.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const FILES = 600;

describeOnPostgres("scans of the same source", () => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await openPostgres(() => undefined);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    corpus = await openCorpus(database.db);
    for (let at = 0; at < FILES; at += 1) corpus.write(`notes/ops/${at}.md`, note(at));
  });
  afterEach(() => {
    corpus.close();
  });

  const find = () => corpus.search({ text: "common", limit: 1_000 }, { perDocument: 100 });
  const scores = async () =>
    (await find()).map(({ path, startChar, score }) => ({ path, startChar, score }));

  test("two at once leave what one would, over an empty index and over edits", async () => {
    await Promise.all([corpus.index(), corpus.index()]);
    expect(await find()).toHaveLength(FILES);
    for (let at = 0; at < FILES; at += 3) corpus.write(`notes/ops/${at}.md`, note(at + 7));
    for (let at = 1; at < FILES; at += 3) corpus.write(`notes/ops/${at}.md`, Buffer.from([0xff]));
    for (let at = 2; at < FILES; at += 9) corpus.remove(`notes/ops/${at}.md`);
    await Promise.all([corpus.index(), corpus.index({ rebuild: true }), corpus.index()]);
    const afterwards = await scores();
    expect(await countsAreTrue(database.db)).toBe(true);
    await corpus.index({ rebuild: true });
    expect(await scores()).toEqual(afterwards);
    expect(afterwards.length).toBeGreaterThan(300);
  }, 60_000);

  test("one that lost its connections between two portions is finished by the next", async () => {
    const url = new URL(String(database.db.pool.options.connectionString));
    await corpus.index();
    for (let at = 0; at < FILES; at += 1) corpus.write(`notes/ops/${at}.md`, note(at + 7));
    // Its portion waits for this row, so that one is always in the middle of its transaction at the cut.
    const holder = await database.db.pool.connect();
    holder.on("error", () => undefined);
    await holder.query("begin");
    await holder.query(
      "select from nightdesk_data.documents where path = 'notes/ops/0.md' for update",
    );
    let isCut = false;
    const interrupted = corpus.index({
      onProgress: ({ documentsDone }) => {
        if (documentsDone === 0 || isCut) return;
        isCut = true;
        cutConnections(url);
      },
    });
    await expect(interrupted).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    holder.release(true);
    // An idle connection learns of its end a moment later, and would give it to the next statement.
    expect(await waitUntil(async () => database.db.pool.totalCount === 0, 10_000)).toBe(true);
    const { unchanged, changed } = await corpus.index();
    expect([unchanged > 0, changed > 0, unchanged + changed]).toEqual([true, true, FILES]);
    expect(await find()).toHaveLength(FILES);
    expect(await countsAreTrue(database.db)).toBe(true);
  }, 60_000);
});

/** Another process does it, for which this one waits: a scan is faster than any promise. */
function cutConnections(url: URL): void {
  const script = `
    import pg from "pg";
    const client = new pg.Client(process.argv[1]);
    await client.connect();
    await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [process.argv[2]]);
    await client.end();`;
  const server = Object.assign(new URL(url), { pathname: "/postgres" });
  execFileSync(process.execPath, [
    "--input-type=module",
    "--eval",
    script,
    server.href,
    url.pathname.slice(1),
  ]);
}

const note = (at: number): string =>
  `# Note ${at}\n\ncommon ${"word ".repeat(at % 40)}\n\n## Part\n\nrare${at % 11}\n`;
