import { utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { selectDays, selectVersions } from "../../../src/shared/store/index/document-versions.ts";
import { preferNewest } from "../../../src/worker/evidence/prefer-newest.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

describeOnPostgres("versions and days of documents", () => {
  let database: TestDatabase;
  let corpus: TestCorpus;
  const FILES = {
    "notes/ops/price list 2025.md": "# Price list\n\nCopper pipe costs 4.10 EUR.\n",
    "notes/ops/price list 2026.md": "# Price list\n\nCopper pipe costs 4.55 EUR.\n",
    "notes/ops/a/17.md": "# Terms of delivery 2024\n\nDelivery takes ten days.\n",
    "notes/ops/b/18.md":
      "---\ndate: 2026-02-01\nsupersedes: ../a/17.md\n---\n# Terms of delivery\n\nDelivery takes six days.\n",
    "notes/ops/c/19.md":
      "---\nsupersedes: [notes/ops/price list 2026.md]\n---\n# Conditions of sending\n\nFive, after Easter.\n",
    "notes/ops/plan Q1 2026.md": "# Plan\n\nThe plan.\n",
    "notes/ops/memo.md": "Berlin, 3. Mai 2025\n\nA memo.\n",
    "notes/ops/bare.md": "Words without a day.\n",
  };
  const FIRST_SEEN = "2021-06-01";

  beforeAll(async () => {
    database = await openPostgres();
    corpus = await openCorpus(database.db);
    for (const [path, text] of Object.entries(FILES)) {
      corpus.write(path, text);
      const day = new Date(`${FIRST_SEEN}T12:00:00Z`);
      utimesSync(join(corpus.workroot, path), day, day);
    }
    await corpus.index();
  });
  afterAll(async () => {
    corpus.close();
    await database.close();
  });

  test("a document is of the days that it says, with where it says so", async () => {
    const days = await selectDays(database.db, Object.keys(FILES));
    expect(Object.fromEntries(days)).toEqual({
      "notes/ops/price list 2025.md": {
        day: "2025-01-01",
        dayUntil: "2025-12-31",
        daySource: "file_name",
      },
      "notes/ops/price list 2026.md": {
        day: "2026-01-01",
        dayUntil: "2026-12-31",
        daySource: "file_name",
      },
      "notes/ops/a/17.md": { day: "2024-01-01", dayUntil: "2024-12-31", daySource: "text" },
      "notes/ops/b/18.md": { day: "2026-02-01", dayUntil: "2026-02-01", daySource: "frontmatter" },
      "notes/ops/plan Q1 2026.md": {
        day: "2026-01-01",
        dayUntil: "2026-03-31",
        daySource: "file_name",
      },
      "notes/ops/c/19.md": { day: FIRST_SEEN, dayUntil: FIRST_SEEN, daySource: "file_time" },
      "notes/ops/memo.md": { day: "2025-05-03", dayUntil: "2025-05-03", daySource: "text" },
      "notes/ops/bare.md": { day: FIRST_SEEN, dayUntil: FIRST_SEEN, daySource: "file_time" },
    });
    const { rows } = await database.db.query(
      "select day::text, day_source, dates from nightdesk.documents where path like '%18.md'",
    );
    expect(rows).toEqual([
      {
        day: "2026-02-01",
        day_source: "frontmatter",
        dates: [{ source: "frontmatter", date: "2026-02-01" }],
      },
    ]);
  });

  test("newer versions are told by name, and by what documents say they supersede", async () => {
    const versions = await selectVersions(database.db, [
      "notes/ops/price list 2025.md",
      "notes/ops/price list 2026.md",
      "notes/ops/a/17.md",
      "notes/ops/bare.md",
    ]);
    expect([...versions].map(([path, { newer }]) => [path, newer])).toEqual([
      ["notes/ops/a/17.md", ["notes/ops/b/18.md"]],
      ["notes/ops/bare.md", []],
      ["notes/ops/price list 2025.md", ["notes/ops/c/19.md", "notes/ops/price list 2026.md"]],
      ["notes/ops/price list 2026.md", ["notes/ops/c/19.md"]],
    ]);
  });

  test.each([
    [{ since: "2026-01-15", until: "2026-01-20" }, ["plan Q1 2026", "price list 2026"]],
    [{ until: "2021-12-31" }, ["bare"]],
    [{ since: "2026-04-01" }, ["price list 2026"]],
  ])("a search within %j finds documents that any day of it is of", async (days, names) => {
    const found = await corpus.search({
      text: "plan copper words",
      mode: "lexical",
      limit: 10,
      ...days,
    });
    expect(found.map(({ path }) => path.replace(/^notes\/ops\/|\.md$/g, "")).sort()).toEqual(names);
  });

  const ask = async (question: string, limits: { until?: string } = {}) => {
    const { passages, passedOver } = await preferNewest(
      { question, limits: { pathPrefix: null, source: null, documents: limits } },
      await corpus.search({ text: question, mode: "lexical", limit: 1, ...limits }),
      {
        search: ({ text, limit, pathPrefix, documents }) =>
          corpus.search({
            ...{ text, limit, mode: "lexical" as const, pathPrefix: pathPrefix ?? undefined },
            ...{ since: documents.since, until: documents.until },
          }),
        versions: (paths) => selectVersions(database.db, paths),
      },
      AbortSignal.timeout(60_000),
    );
    return [
      passages.map(({ path }) => path),
      passedOver.map(({ passage, newer }) => [passage.path, newer]),
    ];
  };

  test("the newest is answered from where it is asked for, and what was passed over is told", async () => {
    const [old, current] = ["notes/ops/a/17.md", "notes/ops/b/18.md"];
    expect(await ask("ten days delivery")).toEqual([[old], []]);
    expect(await ask("newest terms: ten days delivery 2024")).toEqual([
      [current],
      [[old, current]],
    ]);
    expect(await ask("newest terms: ten days delivery 2024", { until: "2025-12-31" })).toEqual([
      [old],
      [],
    ]);
  });
});
