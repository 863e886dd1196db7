import { describe, expect, test } from "@jest/globals";
import { splitCitedText } from "../../../src/worker/verify/claims/split.ts";
import { readSplits } from "../../corpora/claims/read-claims.ts";
import { splitClaims } from "../../support/split-claims.ts";
import { expectLinear } from "../../support/time-taken.ts";

/** What an answer with nine pieces to cite says, as `text [1, 2]`, with a star where the citation is inherited. */
const split = (text: string): string[] =>
  splitClaims(text, 9).map(
    (claim) => `${claim.text} [${claim.cites.join(", ")}]${claim.isInherited ? "*" : ""}`,
  );

/** Whether an answer is split as its writer did; a full stop that stands behind a citation counts as none. */
function isExact({ text, claims }: ReturnType<typeof readSplits>[number]): boolean {
  const comparable = (words: string, cites: readonly number[]): string =>
    `${words.replace(/[.。]$/, "")} [${cites.join(", ")}]`;
  const found = splitClaims(text, 9).map((claim) =>
    comparable(claim.text, claim.isInherited ? [] : claim.cites),
  );
  const wanted = claims.map((claim) => comparable(claim.text, claim.cites));
  return JSON.stringify(found) === JSON.stringify(wanted);
}

test("splits the answers that it was tuned on as their writers do", () => {
  const answers = readSplits().filter(({ part }) => part === "tune");
  expect(answers).toHaveLength(96);
  expect(answers.filter((answer) => !isExact(answer)).map(({ id }) => id)).toEqual([]);
});

// Nobody reads which ones are wrong: they are kept to measure.
test("splits nine of ten answers that nobody tuned it on as their writers do", () => {
  const answers = readSplits().filter(({ part }) => part === "final");
  expect(answers).toHaveLength(66);
  expect(answers.filter(isExact).length).toBeGreaterThanOrEqual(60);
});

test("a sentence directly above a rule is no heading", () => {
  expect(split("The fee is 9 EUR [1].\n---\nIt is due in May [2].")).toEqual([
    "The fee is 9 EUR. [1]",
    "It is due in May. [2]",
  ]);
  expect(split("Fees\n---\nIt is due in May [2].")).toEqual(["It is due in May. [2]"]);
});

describe("a citation covers what cites nothing", () => {
  test("before it in its paragraph, up to the citation before", () => {
    expect(split("One. Two. [1] Three. Four. [2]")).toEqual([
      "One. [1]*",
      "Two. [1]",
      "Three. [2]*",
      "Four. [2]",
    ]);
  });

  test("not where the paragraph ends without one", () => {
    expect(split("One. [1] Two.")).toEqual(["One. [1]", "Two. []"]);
  });

  test("in the list that it introduces", () => {
    expect(split("The hours are [1]:\n- Monday 9 to 5\n- Sunday [2]\n\nIt rains.")).toEqual([
      "Monday 9 to 5 [1]*",
      "Sunday [2]",
      "It rains. []",
    ]);
  });

  test("above it where it stands alone or as sources, up to the heading", () => {
    expect(split("## A\nOne.\n\n## B\nTwo. [1]\n\n- Three\n\nSources: [1], [2]")).toEqual([
      "One. []",
      "Two. [1]",
      "Three [1, 2]*",
    ]);
  });
});

test.each([
  [
    "lines that end with citations",
    "Rent: 9 EUR [1]\nKeys: two [2]",
    ["Rent: 9 EUR [1]", "Keys: two [2]"],
  ],
  ["a table without outer bars", "a | b\n--- | ---\nc | d [1]\ne | f", ["c | d [1]", "e | f []"]],
  ["a block quotation", "> It opens.\n> It closes. [1]", ["It opens. [1]*", "It closes. [1]"]],
  ["lines of code", "```sh\nnpm ci\n}\n```", ["npm ci []"]],
  [
    "a fence with words behind it, which closes none",
    "```\nnpm ci\n```js\nnpm run\n```\n# End",
    ["npm ci []", "```js []", "npm run []"],
  ],
  [
    "a stop in code",
    "Use `a. B; c`. `x` runs it. [1]",
    ["Use `a. B; c`. [1]*", "`x` runs it. [1]"],
  ],
  ["an ordinal that opens a line", "3. Juni ist der Termin. [1]", ["3. Juni ist der Termin. [1]"]],
  [
    "a semicolon in brackets",
    "The gate (9 a.m.; 5 p.m.) opens [1].",
    ["The gate (9 a.m.; 5 p.m.) opens. [1]"],
  ],
  [
    "a row of a table",
    "item: soup; price: 7,50 [1]\nitem: bread; price: 3,20; note: with, comma [1]",
    ["item: soup; price: 7,50 [1]", "item: bread; price: 3,20; note: with, comma [1]"],
  ],
  ["a character reference", "Quill &amp; Thorn opened. [1]", ["Quill &amp; Thorn opened. [1]"]],
  [
    "one subject with two citations",
    "It opens at 9 [1] and closes at 5 [2].",
    ["It opens at 9 and closes at 5. [1, 2]"],
  ],
  [
    "things with their citations",
    "It holds a key [1] and a tube [2].",
    ["It holds a key and a tube. [1, 2]"],
  ],
  ["one answer in bold", "**900 EUR**", ["**900 EUR** []"]],
  ["a courtesy with a fact", "Certainly the gate is open.", ["Certainly the gate is open. []"]],
  [
    "an offer that holds a figure",
    "Let me know if code 4711 fails.",
    ["Let me know if code 4711 fails. []"],
  ],
])("%s", (_, text, claims) => {
  expect(split(text)).toEqual(claims);
});

test("says where each claim stands, with its citations", () => {
  const text = "## Rent\n- The rent is 9 EUR [1]; the keys [2] are here.\n";
  expect(splitClaims(text, 9).map(({ start, end }) => text.slice(start, end))).toEqual([
    "The rent is 9 EUR [1]",
    "the keys [2] are here.",
  ]);
});

test("takes citations by name from the one who resolved them", () => {
  const text = "The rent is 9 EUR [notes/lease.md#Rent. Due]. It is paid.";
  const start = text.indexOf("[");
  const citations = [{ start, end: text.indexOf("]") + 1, numbers: [2] }];
  expect(splitCitedText(text, citations).map(({ text: words, cites }) => [words, cites])).toEqual([
    ["The rent is 9 EUR.", [2]],
    ["It is paid.", []],
  ]);
});

test.each([
  ["semicolons", ";"],
  ["cells", "a: b; "],
  ["semicolons with blanks", "a; "],
  ["opening brackets", "["],
  ["brackets", "([)]"],
  ["list marks", "- "],
  ["list marks on lines", "- \n"],
  ["numbers of a list", "1. "],
  ["quotation marks", ' "a'],
  ["single quotation marks", " 'a"],
  ["block quotations", "> "],
  ["block quotations on lines", "> a\n"],
  ["bars", "|"],
  ["bars on lines", "|a|\n|-|\n"],
  ["dashes and blanks", "-   "],
  ["stars", "**"],
  ["backticks", "` "],
  ["fences", "```\n"],
  ["citations", "[1]"],
  ["citations in cells", "[1],"],
  ["citations on lines", "a\n\n[1]\n\n"],
  ["citations behind hard breaks", "[1]  \n"],
  ["cited joints", "a [1] and "],
  ["contrasts", ", while "],
  ["question marks", "?"],
  ["colons", ":"],
  ["stops", "."],
  ["sentences", "It is so. "],
  ["blanks", " "],
  ["line breaks", "\n"],
])("takes time in proportion to 200,000 characters of %s", async (_, piece) => {
  await expectLinear(50_000, (chars) => {
    const text = piece.repeat(Math.ceil(chars / piece.length));
    return () => splitClaims(text, 9);
  });
});
