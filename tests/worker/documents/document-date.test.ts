import { expect, test } from "@jest/globals";
import { datesOf } from "../../../src/worker/documents/document-date.ts";
import type { DatedDocument } from "../../../src/worker/documents/document-date.ts";

const dated = (document: Partial<DatedDocument>) =>
  datesOf({ path: "a.md", text: "Text.", frontmatter: null, format: "markdown", ...document });
const firstOf = (document: Partial<DatedDocument>) => dated(document)[0] ?? null;

test.each([
  [{ date: "2024-05-01" }, "2024-05-01"],
  [{ date: "2024-05-01T10:00:00Z", created: "2020-01-01" }, "2024-05-01"],
  [{ date: "yesterday", updated: "2023-12-31 10:00" }, "2023-12-31"],
  [{ Datum: "3. Mai 2025" }, "2025-05-03"],
  [{ date: 2024 }, "2024"],
  [{ date: "Fri, 1 May 2026 00:30:00 +0200" }, "2026-05-01"],
  [{ date: "Q1 2026" }, "2026-Q1"],
  [{ date: ["2024-05-01"] }, undefined],
  [{ title: "2024-05-01" }, undefined],
  [{}, undefined],
])("frontmatter %j gives %s", (frontmatter, date) => {
  expect(firstOf({ frontmatter: JSON.stringify(frontmatter) })?.date).toBe(date);
});

test.each([
  ["a heading", "# Prices of March 2025\n\nText", "2025-03"],
  ["a dated line", "# Preise\n\nStand: 3. Mai 2025\n", "2025-05-03"],
  ["a word that begins as a dated line does", "Stand-alone sales since 2019\n", undefined],
  ["a dateline with its place", "Berlin, 3. Mai 2025\n\nSehr geehrte Damen", "2025-05-03"],
  ["a dateline alone", "ACME Ltd.\n14 March 2025\n\nDear Sir", "2025-03-14"],
  ["a French dateline", "Lyon, le 5 mai 2024\n\nMadame", "2024-05-05"],
  ["a sentence that tells of a day", "The club met on 3 May 2025.", undefined],
  ["a day far down", `${"Line.\n".repeat(40)}3 May 2025\n`, undefined],
  ["a day without its year", "Berlin, 3. Mai\n", undefined],
])("%s is told from the head of a text", (_name, text, date) => {
  expect(firstOf({ text })).toEqual(
    date === undefined ? null : expect.objectContaining({ date, source: "text" }),
  );
});

test("what people wrote comes before what programs set, and every source is told", () => {
  const dates = dated({
    path: "lists/prices 2025.docx",
    text: "# Prices of March 2025",
    format: "docx",
    metadata: { created: "2019-01-01T00:00:00Z", modified: "2026-02-02T10:00:00Z" },
  });
  expect(dates.map(({ source, date }) => [source, date])).toEqual([
    ["file_name", "2025"],
    ["text", "2025-03"],
    ["properties", "2019-01-01"],
  ]);
  expect(dates[0]).toMatchObject({ from: "2025-01-01", to: "2025-12-31" });
});

test("a mail is dated by its header, and not by a day that it quotes", () => {
  const mail = {
    format: "eml",
    metadata: { date: "2026-03-14T09:00:00.000Z" },
    text: "# Re: Lease\n\nDate: 2020-01-01\n",
  };
  expect(dated({ ...mail, path: "a.eml" }).map(({ source, date }) => [source, date])).toEqual([
    ["mail_header", "2026-03-14"],
  ]);
});

test("days that no clock was set to are none", () => {
  expect(dated({ format: "pdf", metadata: { created: "1601-01-01" } })).toEqual([]);
  expect(dated({ format: "pdf", metadata: { created: "9999-12-31" } })).toEqual([]);
});

test("a hostile head takes no longer than its length", () => {
  const startedAt = performance.now();
  for (const text of [
    "A ".repeat(500_000),
    "1. Mai ".repeat(100_000),
    "A".repeat(1_000_000),
    ", ".repeat(500_000),
  ])
    dated({ text, path: `${text.slice(0, 100_000)}.md` });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
