import { expect, test } from "@jest/globals";
import { checkStatements, stateOf } from "./rules-world.ts";

/** A claim that its document says, and a sentence of another document. */
type Pair = readonly [claim: string, other: string];

const DISAGREE: readonly Pair[] = [
  ["The Petrel carries 48 passengers.", "The Petrel carries 42 passengers."],
  ["The Harrow ferry fare is £9.80.", "The Harrow ferry fare is £11.20."],
  [
    "Sallow & Finch charges £27.50 a head for the buffet.",
    "Sallow & Finch charges £29.00 a head for the buffet.",
  ],
  ["The workshop in Sandray opens on 3 May 2026.", "The workshop in Sandray opens on 10 May 2026."],
  ["The deposit of Brandt Ltd is 500 EUR.", "The deposit of Brandt Ltd is 800 EUR."],
  [
    "The notice period of the Olsen contract is 3 months.",
    "The notice period of the Olsen contract is 6 months.",
  ],
  ["The Kestrel server has 64 GB of memory.", "The Kestrel server has 128 GB of memory."],
  [
    "The subscription of Nordlys costs 12 EUR per month.",
    "The subscription of Nordlys costs 15 EUR per month.",
  ],
  ["The Marlow library holds 11,300 books.", "The Marlow library holds 12,900 books."],
  ["The Corran Lass is 32 m long.", "The Corran Lass is 36 m long."],
  ["The Marlow office closes at 5 pm.", "The Marlow office closes at 18:00."],
];

const AGREE: readonly Pair[] = [
  ["The Petrel carries 48 passengers.", "The Corran Lass carries 240 passengers."],
  ["The Harrow ferry fare is £9.80.", "The Harrow ferry fare for children is £4.90."],
  ["The Kestrel server has 64 GB of memory.", "The Kestrel server will have 128 GB of memory."],
  ["The deposit of Brandt Ltd is 500 EUR.", "The deposit of Brandt Ltd was 400 EUR."],
  ["The Olsen contract runs for 3 years.", "The Olsen contract runs for at least 2 years."],
  ["The Marlow library holds 11,300 books.", "The Marlow library holds about 11,000 books."],
  [
    "The subscription of Nordlys costs 12 EUR per month.",
    "The subscription of Nordlys costs 144 EUR per year.",
  ],
  ["The Corran Lass is 32 m long.", "The Corran Lass is 3,200 cm long."],
  ["In 2025 the Marlow library lent 400 books.", "In 2024 the Marlow library lent 380 books."],
  ["The rent of the Marlow flat is 900 EUR.", "The rent of the Marlow garage is 90 EUR."],
  ["The Marlow office closes at 5 pm.", "The Marlow office closes at 17:00."],
  ["The monthly rent is 1,250 EUR.", "The monthly rent is 1,310 EUR."],
];

const documentsOf = (claim: string, other: string): Readonly<Record<string, string>> => ({
  "a/first.md": `# Facts\n\n${claim} All are welcome.`,
  "b/second.md": `# News\n\nWe met on Monday. ${other}`,
});

test.each(DISAGREE)("%s is contradicted by: %s", async (claim, other) => {
  expect(await stateOf("agreement", documentsOf(claim, other), claim)).toBe("no");
});

test.each(AGREE)("%s is not contradicted by: %s", async (claim, other) => {
  expect(await stateOf("agreement", documentsOf(claim, other), claim)).not.toBe("no");
});

const [CLAIM, OTHER] = ["The Petrel carries 48 passengers.", "The Petrel carries 42 passengers."];
const dated = (first: string, second: string): Readonly<Record<string, string>> => ({
  "a/first.md": `---\ndate: ${first}\n---\n\n${CLAIM}`,
  "b/second.md": `---\ndate: ${second}\n---\n\n${OTHER}`,
});

test("of two dated documents the newer one wins where the operator says so, and is named", async () => {
  const newer = await checkStatements(dated("2024-05-01", "2025-05-01"), [CLAIM]);
  const check = newer.checks.find(({ rule }) => rule === "agreement");
  expect(check).toMatchObject({ state: "no" });
  expect(check?.detail).toBe("42 in b/second.md, 48 in a/first.md; b/second.md is newer");
  expect(newer.disagreements).toMatchObject([{ claim: 1, what: "48 against 42", newer: "other" }]);
  expect(await stateOf("agreement", dated("2025-05-01", "2024-05-01"), CLAIM)).toBe("yes");
});

test("without that policy both are shown, and neither wins", async () => {
  const settings = { newestWins: false };
  const { checks, disagreements } = await checkStatements(
    dated("2025-05-01", "2024-05-01"),
    [CLAIM],
    { settings },
  );
  const check = checks.find(({ rule }) => rule === "agreement");
  expect(check?.state).toBe("no");
  expect(check?.places.map(({ path }) => path)).toEqual(["a/first.md", "b/second.md"]);
  expect(disagreements).toMatchObject([{ newer: "cited" }]);
});
