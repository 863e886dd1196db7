import { expect, test } from "@jest/globals";
import { documentDate } from "../../../../src/worker/documents/document-date.ts";
import { periodOf } from "../../../../src/shared/date-period.ts";
import { namesVersion, newerDocuments } from "../../../../src/shared/version-family.ts";
import type { FamilyDocument } from "../../../../src/shared/version-family.ts";
import { checkStatements, stateOf } from "./rules-world.ts";

/** A path, another one, and whether the other is a newer version of it. */
const FAMILIES: readonly (readonly [string, string, boolean])[] = [
  ["a/lease-2024.md", "a/lease-2025.md", true],
  ["a/lease-2025.md", "a/lease-2024.md", false],
  ["a/lease_v1.md", "a/lease_v2.md", true],
  ["a/lease-v2.9.md", "a/lease-v2.10.md", true],
  ["a/lease-draft.md", "a/lease-final.md", true],
  ["a/lease-draft.md", "a/lease.md", true],
  ["a/lease-old.md", "a/lease.md", true],
  ["a/lease.md", "a/lease-old.md", false],
  ["archive/lease.md", "lease.md", true],
  ["contracts/2024/lease.md", "contracts/2025/lease.md", true],
  ["a/2024-03-01 price list.md", "a/2025-01-15 price list.md", true],
  ["a/Preisliste-alt.md", "a/Preisliste-neu.md", true],
  ["a/Satzung-Entwurf.md", "a/Satzung-Endfassung.md", true],
  ["a/tarif-2024.pdf", "a/tarif-2025.docx", true],
  ["x/tenancy-agreement-2024.md", "y/tenancy-agreement-2025.md", true],
  ["club-a/rules-2024.md", "club-b/rules-2025.md", false],
  ["a/lease-flat-2.md", "a/lease-flat-3.md", false],
  ["a/minutes-2025-03-11.md", "a/minutes-2025-04-08.md", false],
  ["a/invoice-2024.md", "a/invoice-2025.md", false],
  ["a/lease-v1.md", "a/lease-2025.md", false],
  ["a/lease-2025.md", "a/lease-2025-03.md", false],
  ["a/2024.md", "a/2025.md", false],
  ["a/README.md", "b/README.md", false],
  ["minutes/board-2025-03.md", "minutes/board-2025-04.md", false],
  ["a/minutes-2025-03-11-draft.md", "a/minutes-2025-03-11-final.md", true],
  ["a/minutes-2025-03-11-draft.md", "a/minutes-2025-04-08-final.md", false],
  ["a/offer-v1.md", "a/offer-v2.md", true],
  ["a/report-2024.md", "a/report-2025.md", false],
  ["a/handbook-2nd-edition.md", "a/handbook-3rd-edition.md", true],
  ["a/spec-rev-b.md", "a/spec_rev_C.pdf", true],
  ["a/spec-r9.md", "a/spec-r10.md", true],
];

const named = (path: string): FamilyDocument => ({ path, title: null, period: null });
const newerOf = (path: string, paths: readonly string[]): readonly string[] =>
  newerDocuments(named(path), paths.map(named)).map((newer) => newer.path);

test.each(FAMILIES)("beside %s, %s is a newer version: %s", (path, other, isNewer) => {
  expect(newerOf(path, [path, other])).toEqual(isNewer ? [other] : []);
});

test("the newest of several versions stands first", () => {
  const paths = ["lease-2026.md", "lease-2024.md", "lease-2025.md"];
  expect(newerOf("lease-2024.md", paths)).toEqual(["lease-2026.md", "lease-2025.md"]);
});

/** A title, and that of a newer version. */
const EDITIONS: readonly (readonly [string, string])[] = (
  [
    ["Rope handbook", "2nd edition", "3rd edition"],
    ["Rope handbook", "First Edition", "Second edition"],
    ["Rope handbook", "2nd, revised and enlarged ed.", "10th edition"],
    ["Rope handbook", "Edition 9", "Tenth edition"],
    ["Rope handbook", "Version II", "Version IV"],
    ["Rope handbook", "version 1.9", "v1.10"],
    ["Rope handbook", "rev. B", "rev. C"],
    ["Rope handbook", "Rev A", "Revision B"],
    ["Rope handbook", "rev. 2", "Rev. 3"],
    ["Rope handbook", "2nd edition, rev. A", "2nd edition, rev. B"],
    ["Rope handbook", "edition 2024", "2025 edition"],
    ["Das kleine Seilbuch", "1. Auflage", "2. Auflage"],
    ["Das kleine Seilbuch", "zweite Auflage", "3., überarbeitete Auflage"],
    ["Das kleine Seilbuch", "1. Fassung", "Zweite Fassung"],
    ["Seilpreise Nord", "Stand Januar 2025", "Stand: Mai 2025"],
    ["Guide des cordages", "1re édition", "deuxième édition"],
    ["Guide des cordages", "2e éd. revue", "3ème édition"],
    ["Guía de cabos", "1.ª edición", "segunda edición revisada"],
    ["Guía de cabos", "versión 1", "Versión 2"],
  ] as const
).map(([title, older, newer]) => [`${title}, ${older}`, `${title} (${newer})`]);

const titled = (path: string, title: string): FamilyDocument => ({ ...named(path), title });

test.each(EDITIONS)("%s is an older version than %s", (older, newer) => {
  const [one, other] = [titled("in/a.md", older), titled("in/b.md", newer)];
  expect(newerDocuments(one, [one, other])).toEqual([
    { path: "in/b.md", alike: "title", by: "marks" },
  ]);
  expect(newerDocuments(other, [one, other])).toEqual([]);
});

test.each([
  ["Rope handbook, 2nd edition", "Rope handbook, rev. C"],
  ["Rope handbook, rev. 2", "Rope handbook, rev. C"],
  ["Rope handbook, 2nd edition", "Cordage handbook, 3rd edition"],
  ["Sermons of Rev. A. Smith", "Sermons of Rev. B. Smith"],
  ["Board minutes of May 2025", "Board minutes of June 2025"],
  ["Rope handbook, part 1", "Rope handbook, part 2"],
])("nobody can tell which of %s and %s is newer", (one, other) => {
  const documents = [titled("in/a.md", one), titled("in/b.md", other)];
  expect(documents.flatMap((document) => newerDocuments(document, documents))).toEqual([]);
});

test("where names tell nothing the dates of the documents do, but not of a series", () => {
  const on = (path: string, title: string, date: string): FamilyDocument => ({
    ...titled(path, title),
    period: periodOf(date),
  });
  const of = (title: string) =>
    newerDocuments(on("a.md", title, "2025-01-02"), [on("b.md", title, "2026-01-05")]);
  expect(of("Price list")).toEqual([{ path: "b.md", alike: "title", by: "date" }]);
  expect(of("Board minutes")).toEqual([]);
});

test.each([
  ["What was the rent in 2024?", true],
  ["What does v2 say of the rent?", true],
  ["What does the 2nd edition say of the rent?", true],
  ["Was steht in der 2. Auflage zur Miete?", true],
  ["What is the rent by rev. B?", true],
  ["What did the previous lease say?", true],
  ["Wie hoch war die Miete in der alten Fassung?", true],
  ["What is the rent?", false],
])("%s names a version: %s", (question, names) => {
  expect(namesVersion(question)).toBe(names);
});

test.each([
  ["a.md", "---\ndate: 2025-03-14\n---\nText", "2025-03-14"],
  ["price-2024.md", "Text", "2024"],
  ["a.md", "# Prices of March 2025\n\nText", "2025-03"],
  ["a.md", "# Preise\n\nStand: 3. Mai 2025\n", "2025-05-03"],
  ["a.md", "The club met on 3 May 2025.", null],
])("%s with its text is dated", (path, text, date) => {
  expect(documentDate(path, text)).toBe(date);
});

const OLD = "# Lease of flat 2\n\nThe monthly rent is 1,250 EUR.";
const LEASE = "The monthly rent is 1,250 EUR.";

test("a newer version that says another figure speaks against a claim, and both are named", async () => {
  const documents = { "lease-2024.md": OLD, "lease-2025.md": OLD.replace("1,250", "1,310") };
  const { checks } = await checkStatements(documents, [LEASE], { task: "What is the rent?" });
  const newest = checks.find(({ rule }) => rule === "newest");
  expect(newest).toMatchObject({ state: "no" });
  expect(newest?.detail).toBe("lease-2025.md is newer and says 1,310 EUR, lease-2024.md 1,250 EUR");
  expect(newest?.places.map(({ path }) => path)).toEqual(["lease-2024.md", "lease-2025.md"]);
});

test("a newer version that says the same speaks for a claim, one that does not say it is left open", async () => {
  const task = "What is the rent?";
  expect(
    await stateOf("newest", { "lease-2024.md": OLD, "lease-2025.md": OLD }, LEASE, { task }),
  ).toBe("yes");
  const silent = { "lease-2024.md": OLD, "lease-2025.md": "# Lease\n\nDogs are welcome." };
  expect(await stateOf("newest", silent, LEASE, { task })).toBe("open");
});

test("a question that names the year is answered by the version of that year", async () => {
  const documents = { "lease-2024.md": OLD, "lease-2025.md": OLD.replace("1,250", "1,310") };
  const asked = { task: "What was the rent in 2024?" };
  expect(await stateOf("newest", documents, LEASE, asked)).toBeNull();
});

const priced = (heading: string, price: string): string =>
  `${heading}\n\nA metre of the Lind rope costs ${price} EUR.`;
const ROPE = "A metre of the Lind rope costs 3.10 EUR.";

/** What a document begins with, what another one does, and what is said of a claim that the first carries. */
const TITLES: readonly (readonly [string, string, string | null])[] = [
  ["# Price list 2025", "# Price list 2026", "no"],
  ["# Price list, January 2025", "# Price list, March 2025", "no"],
  ["# Rope prices, version 1", "# Rope prices, version 2", "no"],
  ["---\ntitle: Preisliste Taue 2025\n---", "# Preisliste Taue 2026", "no"],
  ["# Rope prices, 2nd edition", "# Rope prices, 3rd edition", "no"],
  ["# Rope prices, rev. B", "# Rope prices, rev. C", "no"],
  ["# Price list 2026", "# Price list 2025", null],
  ["# Price list 2025", "# Delivery terms 2026", null],
  ["# Prices 2025", "# Prices 2026", null],
  ["# Board minutes 2025", "# Board minutes 2026", null],
  ["# Price list", "# Price list", null],
];

test.each(TITLES)("of a claim from %j beside %j the title says %s", async (one, other, state) => {
  const documents = { "in/a.md": priced(one, "3.10"), "in/b.md": priced(other, "3.45") };
  expect(await stateOf("newest", documents, ROPE, { task: "What does the Lind rope cost?" })).toBe(
    state,
  );
});

const dated = (date: string, price: string): string =>
  priced(`---\ndate: ${date}\n---\n# Price list`, price);

test("of one title the later date counts where the operator says so; else somebody has to look", async () => {
  const documents = { "a.md": dated("2025-01-02", "3.10"), "b.md": dated("2026-01-05", "3.45") };
  const task = "What does the Lind rope cost?";
  expect(await stateOf("newest", documents, ROPE, { task })).toBe("no");
  const settings = { newestWins: false };
  expect(await stateOf("newest", documents, ROPE, { task, settings })).toBe("open");
  const { checks } = await checkStatements(documents, [ROPE], { task, settings });
  expect(checks.find(({ rule }) => rule === "newest")?.question).toBe(
    `Does what a.md says still hold beside b.md, which has the same title and a later date: "${ROPE}"?`,
  );
});

test("a document of the same title that speaks of something else is for somebody to look at", async () => {
  const documents = {
    "lind.md": "# Price list 2025\n\nA metre of rope costs 3.10 EUR.",
    "holm.md": "# Price list 2026\n\nA metre of rope costs 2.90 EUR.",
  };
  const claim = "A metre of rope costs 3.10 EUR.";
  expect(await stateOf("newest", documents, claim, { task: "What does rope cost?" })).toBe("open");
});

test.each([
  [{ "lease-2025.md": "# Lease", "lease-2024.md": "# Lease" }],
  [{ "a.md": "# Lease of flat two, 2025", "b.md": "# Lease of flat two, 2024" }],
])("an older version that says another figure is named, and is no disagreement", async (titles) => {
  const [[path, title] = [], [older, olderTitle] = []] = Object.entries(titles);
  const documents = {
    [String(path)]: `${title}\n\nThe deposit of Brandt Ltd is 800 EUR.`,
    [String(older)]: `${olderTitle}\n\nThe deposit of Brandt Ltd is 500 EUR.`,
  };
  const claim = "The deposit of Brandt Ltd is 800 EUR.";
  const found = await checkStatements(documents, [claim], { settings: { newestWins: false } });
  expect(found.disagreements).toEqual([]);
  expect(found.checks.find(({ rule }) => rule === "agreement")).toMatchObject({
    state: "yes",
    detail: `500 EUR in ${older}, 800 EUR in ${path}; ${older} is an older version`,
  });
});
