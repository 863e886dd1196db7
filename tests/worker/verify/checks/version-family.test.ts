import { expect, test } from "@jest/globals";
import { documentDate } from "../../../../src/worker/documents/document-date.ts";
import {
  familyKey,
  namesVersion,
  newerVersionFinder,
  supersededPaths,
} from "../../../../src/shared/files/version-family.ts";
import type { FamilyDocument } from "../../../../src/shared/files/version-family.ts";
import { checkStatements, stateOf } from "./rules-world.ts";

/** A path, another one, and whether the other is a newer version of it. */
const FAMILIES: readonly (readonly [string, string, boolean])[] = [
  ["a/lease-2024.md", "a/lease-2025.md", true],
  ["a/lease-2025.md", "a/lease-2024.md", false],
  ["a/price list 2025.pdf", "a/price list 2026.pdf", true],
  ["a/price_list_2025.pdf", "a/price_list_(2026).pdf", true],
  ["a/価格表2025年.pdf", "a/価格表2026年.pdf", true],
  ["a/lease_v1.md", "a/lease_v2.md", true],
  ["a/LICENCE v1.9", "a/LICENCE v1.10", true],
  ["a/lease-v2.9.md", "a/lease-v2.10.md", true],
  ["a/lease version 9.md", "a/Lease Version 10.docx", true],
  ["a/spec-rev-b.md", "a/spec_rev_C.pdf", true],
  ["a/spec rev. 2.md", "a/spec rev. 3.md", true],
  ["a/lease-draft.md", "a/lease-final.md", true],
  ["a/lease-draft.md", "a/lease.md", true],
  ["a/lease-old.md", "a/lease.md", true],
  ["a/lease.md", "a/lease-old.md", false],
  ["a/Satzung-Entwurf.md", "a/Satzung-Endfassung.md", true],
  ["a/tarif-2024.pdf", "a/tarif-2025.docx", true],
  ["a/minutes-2025-03-11-draft.md", "a/minutes-2025-03-11-final.md", true],
  ["a/offer-v1.md", "a/offer-v2.md", true],
  ["a/plan 2024 v3.md", "a/plan 2025 v1.md", true],
  ["mail/a.eml/attachments/1/prices v1.pdf", "mail/a.eml/attachments/2/prices v2.pdf", true],
  // Another folder, or another name.
  ["archive/lease-2024.md", "lease-2025.md", false],
  ["contracts/2024/lease.md", "contracts/2025/lease.md", false],
  ["x/tenancy-agreement-2024.md", "y/tenancy-agreement-2025.md", false],
  ["club-a/rules-2024.md", "club-b/rules-2025.md", false],
  ["a/README.md", "b/README.md", false],
  ["a/price list 2025.md", "a/wine list 2026.md", false],
  // A month or a day.
  ["telekom 2026-01-14.pdf", "telekom 2026-02-14.pdf", false],
  ["telekom 2025-01-14.pdf", "telekom 2026-01-14.pdf", false],
  ["telekom 14.01.2026.pdf", "telekom 14.02.2026.pdf", false],
  ["telekom 14-01-2025.pdf", "telekom 14-01-2026.pdf", false],
  ["telekom 20260114.pdf", "telekom 20260214.pdf", false],
  ["a/prices January 2025.md", "a/prices March 2025.md", false],
  ["a/prices March 2025.md", "a/prices March 2026.md", false],
  ["a/prices 2025-Q1.md", "a/prices 2026-Q1.md", false],
  ["a/plan 2024-2025.md", "a/plan 2025-2026.md", false],
  ["a/lease-2025.md", "a/lease-2025-03.md", false],
  // A number that is no year, and one that is no word.
  ["IMG_2019.jpg", "IMG_2020.jpg", false],
  ["DSCN2019.jpg", "DSCN2020.jpg", false],
  ["P1012019.jpg", "P1012020.jpg", false],
  ["scan0002.pdf", "scan0003.pdf", false],
  ["invoice 4471.pdf", "invoice 4472.pdf", false],
  ["a/lease-flat-2.md", "a/lease-flat-3.md", false],
  ["a/route R1.gpx", "a/route R2.gpx", false],
  ["a/handbook-2nd-edition.md", "a/handbook-3rd-edition.md", false],
  ["a/2024.md", "a/2025.md", false],
  // A series, by its name or its folder.
  ["a/invoice-2024.md", "a/invoice-2025.md", false],
  ["a/report-2024.md", "a/report-2025.md", false],
  ["a/Jahresbericht 2024.pdf", "a/Jahresbericht 2025.pdf", false],
  ["minutes/board-2024.md", "minutes/board-2025.md", false],
  ["a/minutes-2025-03-11.md", "a/minutes-2025-04-08.md", false],
  ["a/minutes-2025-03-11-draft.md", "a/minutes-2025-04-08-final.md", false],
  // Marks of different kinds.
  ["a/lease-v1.md", "a/lease-2025.md", false],
  ["a/lease.md", "a/lease-2025.md", false],
  ["a/lease-v2.md", "a/lease-version-C.md", false],
  ["a/lease-v2.md", "a/lease-rev-3.md", false],
];

const named = (path: string): FamilyDocument => ({ path, supersedes: [] });
const newerOf = (path: string, documents: readonly FamilyDocument[]): readonly string[] =>
  newerVersionFinder(documents)(path);

test.each(FAMILIES)("beside %s, %s is a newer version: %s", (path, other, isNewer) => {
  expect(newerOf(path, [path, other].map(named))).toEqual(isNewer ? [other] : []);
});

test("the newest of several versions stands first", () => {
  const paths = ["lease-2026.md", "lease-2024.md", "lease-2025.md", "lease-2024-v2.md"];
  expect(newerOf("lease-2024.md", paths.map(named))).toEqual(["lease-2026.md", "lease-2025.md"]);
});

test("versions of one document share a key", () => {
  expect(familyKey("a/Lease 2024.md")).toBe(familyKey("a/lease_2025.pdf"));
  expect(familyKey("a/Lease 2024.md")).not.toBe(familyKey("b/lease 2024.md"));
  expect(familyKey("a/2024.md")).toBeNull();
});

test("a path that is superseded is meant from the work root or from the document's own folder", () => {
  const written = ["../old.md", "in/first.md", "new.md"];
  const paths = supersededPaths("in/2025/new.md", written);
  for (const path of ["in/old.md", "in/first.md", "in/2025/in/first.md"])
    expect(paths).toContain(path);
  expect(paths).not.toContain("in/2025/new.md");
});

const superseding = (path: string, ...older: readonly string[]): FamilyDocument => ({
  path,
  supersedes: older,
});

test("what supersedes a document, or a newer version of it, is newer than all of them", () => {
  const documents = [
    ...["terms 2023.md", "terms 2024.md"].map(named),
    superseding("conditions.md", "terms 2024.md"),
    superseding("rules/of-delivery.md", "conditions.md"),
  ];
  const newest = ["rules/of-delivery.md", "conditions.md"];
  expect(newerOf("terms 2023.md", documents)).toEqual([...newest, "terms 2024.md"]);
  expect(newerOf("terms 2024.md", documents)).toEqual(newest);
  expect(newerOf("rules/of-delivery.md", documents)).toEqual([]);
});

test("documents that say they supersede each other are each newer than the other, and no more", () => {
  const documents = [superseding("a.md", "b.md"), superseding("b.md", "a.md")];
  expect(documents.map(({ path }) => newerOf(path, documents))).toEqual([["b.md"], ["a.md"]]);
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
const ROPE_TASK = { task: "What does the Lind rope cost?" };

test.each([
  ["# Price list 2025", "# Price list 2026"],
  ["# Rope prices, version 1", "# Rope prices, version 2"],
  ["# Microsoft Word - Dokument1", "---\ndate: 2026-01-05\n---\n# Microsoft Word - Dokument1"],
])("the titles %j and %j make no versions", async (one, other) => {
  const documents = { "in/a.md": priced(one, "3.10"), "in/b.md": priced(other, "3.45") };
  expect(await stateOf("newest", documents, ROPE, ROPE_TASK)).toBeNull();
});

test("a document whose front matter says that it supersedes another one speaks against it", async () => {
  const newer = priced("---\nsupersedes: a.md\n---\n# Rope", "3.45");
  const documents = { "in/a.md": priced("# Rope", "3.10"), "in/b.md": newer };
  expect(await stateOf("newest", documents, ROPE, ROPE_TASK)).toBe("no");
});

test("a newer version that speaks of something else is for somebody to look at", async () => {
  const documents = {
    "prices 2025.md": "# Prices\n\nA metre of rope costs 3.10 EUR.",
    "prices 2026.md": "# Prices\n\nA metre of new tarred rope costs 2.90 EUR.",
  };
  const claim = "A metre of rope costs 3.10 EUR.";
  expect(await stateOf("newest", documents, claim, { task: "What does rope cost?" })).toBe("open");
});

test.each([
  [{ "lease-2025.md": "# Lease", "lease-2024.md": "# Lease" }],
  [{ "a.md": "---\nsupersedes: b.md\n---\n# Lease", "b.md": "# Lease" }],
])("an older version that says another figure is named, and is no disagreement", async (heads) => {
  const [[path, title] = [], [older, olderTitle] = []] = Object.entries(heads);
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
