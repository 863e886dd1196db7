import { describe, expect, test } from "@jest/globals";
import { foldWords } from "../../../src/worker/text/fold-words.ts";
import { findQuotes } from "../../../src/worker/verify/quotes.ts";
import { verifyQuotes } from "../../../src/worker/verify/verify-quotes.ts";
import { blockOf, sliceOf } from "./support-world.ts";

const text = [
  "Bikes must be back by “six o’clock” in the evening.",
  "The de-",
  "posit is 1,200 EUR; the well-known ofﬁce keeps it.",
  "> Please **wear a helmet** at",
  "> all times (see [7]).",
  "Call the [rental desk](https://desk.example/x) before noon.",
  "東京の店は朝九時に開きます。",
  "x < 5 is not x > 5, and 10–20 is not 1020.",
].join("\n");
const evidence = [
  blockOf(1, "a.md", text),
  blockOf(2, "b.md", "🚲🚲 The shop closes early on Sundays. Locks are free.", {
    startChar: 100,
    lineStart: 7,
    headingPath: "Trip > Opening hours in winter",
  }),
];
const classify = (quote: string, cited: readonly number[] = [1, 2]) =>
  verifyQuotes([{ quote, cited }], evidence)[0];

describe("a quote that stands in the evidence", () => {
  test.each([
    ["word for word", "Bikes must be back by", "verbatim"],
    ["with its full stop", "Locks are free.", "verbatim"],
    ["with other quote marks", `Bikes must be back by "six o'clock" in`, "normalised"],
    ["without its quote marks", "Bikes must be back by six o'clock in the evening", "normalised"],
    ["with other white space", "Bikes  must\nbe back by", "normalised"],
    ["across a hyphenated line end", "The deposit is 1,200 EUR", "normalised"],
    ["across a line end", "keeps it. Please wear", "normalised"],
    ["with other hyphens", "the well\u2010known office", "normalised"],
    ["with a soft hyphen", "the well\u00ADknown office", "normalised"],
    ["without a ligature", "well-known office keeps it", "normalised"],
    ["in full width", "Ｂｉｋｅｓ must be back", "normalised"],
    ["without marks of markdown and of quotation", "wear a helmet at all times", "normalised"],
    ["with our own change to a footnote", "all times (see (7))", "normalised"],
    ["without the target of a link", "Call the rental desk before noon", "normalised"],
    ["with a capital inside", "Bikes Must be back by", "normalised"],
    ["with a small first letter", "bikes must be back by", "normalised"],
    ["with an editor's first letter", "[b]ikes must be back by", "normalised"],
    ["with a comma of the sentence around it", "Bikes must be back by,", "normalised"],
    ["cut with an ellipsis at its end", "Bikes must be back …", "normalised"],
    ["in a script without blanks", "店は朝九時に開きます", "verbatim"],
    ["behind characters of two units", "The shop closes early", "verbatim"],
    ["in a heading", "Opening hours in winter", "normalised"],
    ["parted by an ellipsis", "Bikes must be … in the evening", "elided"],
    ["parted by dots", "Bikes must be [...] in the evening", "elided"],
  ])("%s", (_, quote, found) => {
    expect(classify(quote)?.class).toBe(found);
  });
});

describe("a quote that does not", () => {
  test.each([
    ["with another word", "Bikes must be home by", "not_found"],
    ["with a word left out", "Bikes must back by", "not_found"],
    ["with another figure", "The deposit is 1,300 EUR", "not_found"],
    ["with another sign", "x > 5 is not", "not_found"],
    ["with a range made one number", "1020 is not 1020", "not_found"],
    ["with part of a word", "ikes must be back by", "not_found"],
    ["parted by an ellipsis, in another order", "in the evening … Bikes must be", "stitched"],
    ["parted by dots, out of two pieces", "Bikes must be back [...] Locks are free", "stitched"],
    ["glued together", "Bikes must be in the evening", "stitched"],
    ["glued together out of two pieces", "Bikes must be back The shop closes early", "stitched"],
    ["parted, and one part invented", "Bikes must be … by bus", "not_found"],
    ["made of nothing but marks", "- - - - - - -", "not_found"],
  ])("%s", (_, quote, found) => {
    expect(classify(quote)?.class).toBe(found);
  });

  test("is searched for in no more than 300 quotes of an answer", () => {
    const quotes = Array.from({ length: 301 }, () => ({ quote: "Locks are free", cited: [] }));
    expect(verifyQuotes(quotes, evidence).at(-1)?.class).toBe("not_found");
    expect(verifyQuotes(quotes, evidence).at(-2)?.class).toBe("verbatim");
  });
});

describe("the piece that is cited with a quote", () => {
  test.each([
    ["the right one", [2], "verbatim", 2],
    ["another one", [1], "misattributed", 2],
    ["several, the right one among them", [1, 2], "verbatim", 2],
    ["none", [], "verbatim", 2],
  ])("is %s", (_, cited, found, number) => {
    const record = classify("The shop closes early", cited);
    expect(record).toMatchObject({ class: found, span: { number } });
  });

  test("is preferred where the words stand in several", () => {
    const twice = [blockOf(1, "a.md", "Locks are free."), blockOf(2, "b.md", "Locks are free.")];
    const [record] = verifyQuotes([{ quote: "Locks are free", cited: [2] }], twice);
    expect(record).toMatchObject({ class: "verbatim", span: { number: 2, path: "b.md" } });
  });
});

describe("the span of a quote", () => {
  test.each([
    ["Bikes must be back by", "Bikes must be back by", 1, 1],
    ["The deposit is", "The de-\nposit is", 2, 3],
    ["the well-known office", "the well-known ofﬁce", 3, 3],
    ["helmet at all times", "helmet** at\n> all times", 4, 5],
    ["店は朝九時に開きます", "店は朝九時に開きます", 7, 7],
  ])("%s", (quote, original, lineStart, lineEnd) => {
    const span = classify(quote)?.span;
    expect(span).toMatchObject({ number: 1, path: "a.md", lineStart, lineEnd });
    expect(sliceOf(evidence, span)).toBe(original);
  });

  test("counts from the start of the file, in code points", () => {
    expect(classify("The shop closes")?.span).toEqual({
      number: 2,
      path: "b.md",
      startChar: 103,
      endChar: 118,
      lineStart: 7,
      lineEnd: 7,
    });
  });

  test("is of the verbatim place where there are several", () => {
    const [record] = verifyQuotes(
      [{ quote: "Locks are free", cited: [] }],
      [blockOf(1, "a.md", "Locks\nare free. Locks are free.")],
    );
    expect(record).toMatchObject({ class: "verbatim", span: { startChar: 16, lineStart: 2 } });
  });

  test("is of a quote with words left out from its first to its last", () => {
    const span = classify("Bikes must be … in the evening")?.span;
    expect(sliceOf(evidence, span)).toBe("Bikes must be back by “six o’clock” in the evening");
  });

  test("is of the first part of a stitched quote", () => {
    const span = classify("Bikes must be in the evening")?.span;
    expect(sliceOf(evidence, span)).toBe("Bikes must be");
  });

  test("is the whole part that a summary stands for", () => {
    const summary = blockOf(1, "a.md", "Locks are free.", {
      summaryLevel: 0,
      startChar: 40,
      endChar: 900,
      lineStart: 3,
      lineEnd: 30,
    });
    const [record] = verifyQuotes([{ quote: "Locks are free", cited: [] }], [summary]);
    expect(record?.span).toMatchObject({ startChar: 40, endChar: 900, lineStart: 3, lineEnd: 30 });
  });
});

describe("the quotes of a text", () => {
  const quotesOf = (answer: string): string[] =>
    findQuotes(answer).map(({ start, end }) => answer.slice(start, end));

  test.each([
    ["straight marks", 'It says "one two three four".', ["one two three four"]],
    ["curly marks", "It says “one two three four”.", ["one two three four"]],
    ["German marks", "Da steht „one two three four“.", ["one two three four"]],
    ["French marks", "Il dit « one two three four ».", [" one two three four "]],
    ["turned French marks", "Da steht »one two three four«.", ["one two three four"]],
    ["single French marks", "Il dit ‹one two three four›.", ["one two three four"]],
    ["corner marks", "「one two three four」と", ["one two three four"]],
    ["full-width marks", "It says ＂one two three four＂.", ["one two three four"]],
    ["single curly marks", "It says ‘one two three four’.", ["one two three four"]],
    ["single straight marks", "It says 'one two three four'.", ["one two three four"]],
    ["nested marks", "It says “one ‘two’ three “four” five”.", ["one ‘two’ three “four” five"]],
    ["nested straight marks", 'It says "one "two" three four".', ['one "two" three four']],
    ["marks without a blank before them", 'Said:"one two three four".', ["one two three four"]],
    ["a mark that nobody closes", 'He says "one two three four\n\nNext.', ["one two three four"]],
    [
      "a mark that nobody closes, and further sentences",
      'He says "one two three. Four five six.',
      ["one two three."],
    ],
    ["two of them", '"one two three" and "four five six"', ["one two three", "four five six"]],
    [
      "a block quotation",
      "So:\n> one two three\n> four five\n\nEnd.",
      ["one two three\n> four five"],
    ],
    ["a block quotation in marks", "> “one two three four”", ["one two three four"]],
    ["who is quoted", "> one two three four\n> — The author of it", ["one two three four"]],
    ["twelve characters", '"one two thre"', ["one two thre"]],
    ["eleven characters", '"one two thr"', []],
    ["a term", 'The "deposit" is due.', []],
    ["inches", 'A 26" wheel and a 28" wheel with spokes.', []],
    ["apostrophes", "The dogs' bowl isn't the cats' bowl, it's John's own.", []],
    ["decades", "In the '90s the shops' doors were open.", []],
    ["an elision", "'Tis said that the dogs' bowl is empty.", []],
    ["an alert", "> [!NOTE]", []],
  ])("%s", (_, answer, quotes) => {
    expect(quotesOf(answer)).toEqual(quotes);
  });
});

test("one word of millions of letters with marks exhausts no stack", () => {
  const letters = foldWords("e\u0301".repeat(1_500_000)).map(({ start, end }) => end - start);
  expect(letters.reduce((total, length) => total + length, 0)).toBe(3_000_000);
});
