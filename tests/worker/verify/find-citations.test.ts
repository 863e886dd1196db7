import { describe, expect, test } from "@jest/globals";
import { findCitations, withoutCitations } from "../../../src/worker/verify/citations.ts";
import type { HeadingRule } from "../../../src/worker/verify/evidence-names.ts";
import { resolveCitations } from "../../../src/worker/verify/resolve-citations.ts";
import type { FoundCitation } from "../../../src/worker/verify/resolve-citations.ts";
import { blockOf } from "./support-world.ts";

const whole =
  "---\ntitle: x\n---\n# Shop\n\nIntro.\n\n## Hours [and] #more | bar\n\nNine.\n\n## Hire\n\nTen.";
const evidence = [
  blockOf(1, "notes/a.md", whole),
  blockOf(2, "notes/b.md", "By rail.", { headingPath: "Trip: > Train", chunkKey: "k2" }),
  blockOf(3, "notes/b.md", "By bus.", { headingPath: "Trip: > Bus", chunkKey: "k3" }),
  blockOf(4, "other/c.md", "See [[Old note]].", { headingPath: "C#", chunkKey: "k4" }),
  blockOf(5, "more/c.md", "Text.", { chunkKey: "k5" }),
];
const KEY = "0123456789abcdef".repeat(2);
const NO_KEY = "fedcba9876543210".repeat(2);
const FILE_KEY = "fedc".repeat(8);
const PREFIX: HeadingRule = { headingMatch: "prefix", normalizeHeading: true };
const resolve = (text: string, rule: HeadingRule = PREFIX): FoundCitation[] =>
  resolveCitations(text, evidence, rule);
const show = (found: FoundCitation): number | string =>
  found.kind === "resolved" ? found.part.block.number : found.kind;

test.each([
  ["It opens at 9 [1]. It closes at 5 [2, 3].", "It opens at 9. It closes at 5."],
  ["As [1] says, it opens (see [2]).", "As says, it opens (see)."],
  ["Read `row[1]` of the .env file [2].", "Read `row[1]` of the .env file."],
  ["So [1]:\n\n```\nx = rows[2] ;\n```", "So:\n\n```\nx = rows[2] ;\n```"],
])("of %j the words without citations are %j", (answer, words) => {
  expect(withoutCitations(answer, 3)).toBe(words);
});

describe("citations by number", () => {
  test.each<[string, string, (number | string)[]]>([
    ["one", "So [1].", [1]],
    ["with blanks", "So [ 1 ].", [1]],
    ["a list", "So [1, 2].", [1, 2]],
    ["a list with a semicolon", "So [1;2].", [1, 2]],
    ["a range", "So [1-3].", [1, 2, 3]],
    ["a range with a dash", "So [1–3].", [1, 2, 3]],
    ["neighbours", "So [1][2].", [1, 2]],
    ["a footnote", "So [^1].", [1]],
    ["in lenticular brackets", "So 【1】.", [1]],
    ["with what another host adds", "So 【1†notes】.", [1]],
    ["in full width", "So ［１］.", [1]],
    ["with a word", "So [Source 1] [evidence: 2].", [1, 2]],
    [
      "with other words",
      "So [Ref. 1] [Doc 2] [#3] [Note 4] [Quelle 1] [Nr. 5].",
      [1, 2, 3, 4, 1, 5],
    ],
    [
      "a list with a word each",
      "So [Source 1, Source 2 and 3] [1 & 2] [1 und 2].",
      [1, 2, 3, 1, 2, 1, 2],
    ],
    [
      "with lines or a name behind",
      "So [1, line 4] [2: notes/b.md] [3, §7] [4 (C#)].",
      [1, 2, 3, 4],
    ],
    ["with escaped brackets", String.raw`So \[1\].`, [1]],
    ["in brackets of its own", "So [[1]] [[2], [3]].", [1, 2, 3]],
    ["a measure, a decimal, a time", "So [5 litres] [2,4 Liter] [22:50] [3. Mai].", []],
    ["a date or a year", "So [2024-11-29] [2025] [2024–2025].", []],
    ["in parentheses at the end of a sentence", "So (1). Then (2)", [1, 2]],
    ["in parentheses behind the stop", "So. (1) Then. (2)", [1, 2]],
    ["several in parentheses", "So (1, 2)(3). And (4-5).", [1, 2, 3, 4, 5]],
    ["with what it belongs to", "So (source 2).", [2]],
    ["in parentheses at the end of a list item", "- **So** (1)\n- Then *(2)*", [1, 2]],
    ["in parentheses of full width", "そうだ（1）。", [1]],
    ["in a circle", "So ①. そうだ②。そう❸。", [1, 2, 3]],
    ["in a circle within brackets", "So [①].", [1]],
    ["in digits of another script", "هكذا [٢]. ऐसा [३]।", [2, 3]],
    ["with a line of the piece", "So [1:3] and [2:12-14] and [3:L4, 4:2].", [1, 2, 3, 4]],
    ["broken over two lines", "So [1,\n2]. Then [Source\n> 3].", [1, 2, 3]],
    ["labels of a list", "(1) So. (4) Now.\n(2) Then.\n① Or.\n**(3)** Else.", []],
    ["parentheses within a sentence", "So (1) and ② then, (3) they say, he left (4), too.", []],
    ["a year in parentheses", "So (2024).", []],
    ["what repeats an amount", "They had three (3). Es waren vier (4).", []],
    ["an amount of no piece", "So (6).", []],
    ["parentheses beside brackets", "So [1]. They were many (2).", [1]],
    ["years of a list", "So [1999, 2001] and [2000–2010].", []],
    ["a link", "So [1](https://a.org) [1](#x) [1](/a.md) [1](javascript:a.md).", []],
    ["a link to its file", "So [1](notes/a.md) and [3](./notes/b.md#Bus).", [1, 3]],
    [
      "a link to another file",
      "So [1](notes/b.md) and [2](z.md).",
      ["unknown_name", "unknown_name"],
    ],
    ["a word in brackets", "So [sic] and [b]ikes and [x] done.", []],
    ["zero", "So [0].", ["unknown_number"]],
    ["one too high", "So [6].", ["unknown_number"]],
    ["a huge one", `So [${"9".repeat(300)}].`, ["unknown_number"]],
    ["a huge range", "So [1-999999].", [1, 2, 3, 4, 5, "unknown_number"]],
  ])("%s", (_, text, numbers) => {
    expect(resolve(text).map(show)).toEqual(numbers);
  });
});

describe("numbers of two thousand pieces", () => {
  const PIECES = 2_100;
  const cited = (text: string): number[] =>
    findCitations(text, PIECES).flatMap(({ numbers }) => numbers);
  const all = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at);

  test.each<[string, string, number[]]>([
    [
      "those of years",
      "So [1900] and [1984, 2001] and [2050-2052].",
      [1900, 1984, 2001, 2050, 2051, 2052],
    ],
    ["a range of all", "So [1-2000].", all(1, 2000)],
    ["a list of all", `So [${all(1, 2000).join(", ")}].`, all(1, 2000)],
    ["a list of all, over many lines", `So [${all(1, 2000).join(",\n  ")}].`, all(1, 2000)],
    ["but no date", "So [2024-11-29] and [2024-11].", []],
    ["but no year in parentheses", "So (1984).", []],
  ])("%s", (_, text, numbers) => {
    expect(cited(text)).toEqual(numbers);
  });

  test("are as many as a text has room for, within bounds", () => {
    expect(cited("[1-2000] ".repeat(2_000)).length).toBeLessThan(250_000);
  });
});

describe("citations by name", () => {
  test.each<[string, string, (number | string)[]]>([
    ["a path", "[notes/a.md]", [1]],
    ["a path with ./", "[./notes/a.md]", [1]],
    ["the last part of a path", "[a.md]", [1]],
    ["the last part of a path without its ending", "[[a]]", [1]],
    ["an ambiguous last part", "[c.md]", ["unknown_name"]],
    ["a longer last part", "[more/c.md]", [5]],
    ["a path and all headings", "[notes/b.md#Trip: > Bus]", [3]],
    ["a path and a heading by its title", "[notes/b.md#Bus]", [3]],
    ["a path and the first headings", "[notes/b.md#Trip]", [2]],
    ["headings parted by #", "[[b#Trip#Bus]]", [3]],
    ["with a source mark", "[Source: notes/b.md#Bus]", [3]],
    ["with a source mark in small letters", "[source:notes/b.md # Bus ]", [3]],
    ["with an alias", "[[b#Bus|the bus]]", [3]],
    ["broken over two lines", "[notes/b.md#Trip:\n> Bus] [Source:\nnotes/a.md]", [3, 1]],
    ["with lines", "[a.md:3] [a.md:3-5] [a.md#L3] [notes/a.md, lines 3-5]", [1, 1, 1, 1]],
    ["a source that is a number", "[Source: [1]]", [1]],
    ["a heading with all marks", "[notes/a.md#Hours [and] #more | bar]", [1]],
    ["a heading with all marks, as a wiki link", "[[a#Hours [and] #more | bar]]", [1]],
    ["a heading that ends in #", "[other/c.md#C#]", [4]],
    ["a heading that nothing has", "[notes/b.md#Tram]", ["unknown_heading"]],
    ["a file that was not read", "[notes/z.md#Bus]", ["unknown_name"]],
    ["a source that was not read", "[Source: the web]", ["unknown_name"]],
    ["a wiki link to nothing", "[[secret plans]]", ["unknown_name"]],
    ["a wiki link of a document", "[[Old note]]", []],
    ["a link", "[notes/a.md](https://a.org)", []],
    ["in a chain with numbers", "[1] [a.md] [9]", [1, 1, "unknown_number"]],
  ])("%s", (_, text, numbers) => {
    expect(resolve(`So ${text}.`).map(show)).toEqual(numbers);
  });

  test.each<[string, string, (number | string)[]]>([
    ["by itself", `[${KEY}]`, [6]],
    ["in capitals", `[${KEY.toUpperCase()}]`, [6]],
    ["behind its path", `[source: keys/d.md | ${KEY}]`, [6]],
    ["behind its path and heading", `[keys/d.md#D | ${KEY}] [keys/d.md:${KEY}]`, [6, 6]],
    ["beside its number", `[6, ${KEY}] [6 | ${KEY}]`, [6, 6]],
    ["of nothing, by itself", `[${NO_KEY}]`, ["unknown_name"]],
    ["of nothing, behind a path", `[source: keys/d.md | ${NO_KEY}]`, ["unknown_name"]],
    ["of nothing, as a heading", `[keys/d.md#${NO_KEY}]`, ["unknown_name"]],
    ["of nothing, beside a number", `[6, ${NO_KEY}]`, ["unknown_name"]],
    ["of another file", `[notes/a.md | ${KEY}]`, ["other_key"]],
    ["of another number", `[1, ${KEY}]`, ["other_key"]],
    ["that a file is called by", `[keys/${FILE_KEY}.md] [[${FILE_KEY}]]`, [7, 7]],
  ])("a chunk key %s", (_, text, numbers) => {
    const more = [
      blockOf(6, "keys/d.md", "Text.", { chunkKey: KEY, headingPath: "D" }),
      blockOf(7, `keys/${FILE_KEY}.md`, "Text.", { chunkKey: "k7" }),
    ];
    expect(resolveCitations(text, [...evidence, ...more], PREFIX).map(show)).toEqual(numbers);
  });

  test("a heading of a whole file gives the lines of its section", () => {
    const [found] = resolve("[notes/a.md#Hire]");
    expect(found).toMatchObject({
      part: { headingPath: "Shop > Hire", lineStart: 12, lineEnd: 14 },
    });
  });

  test("where it stands ends with its last bracket", () => {
    const text = "So [a.md#Hours [and] #more | bar] it is.";
    const [found] = resolve(text);
    expect(text.slice(found?.start, found?.end)).toBe("[a.md#Hours [and] #more | bar]");
  });
});

describe("headings", () => {
  test.each<[HeadingRule["headingMatch"], boolean, string, number | string]>([
    ["exact", true, "b.md#Trip > Bus", 3],
    ["exact", true, "b.md#Trip:  >  Bus!", 3],
    ["exact", true, "b.md#Trip", "unknown_heading"],
    ["exact", true, "b.md#Bus", "unknown_heading"],
    ["exact", true, "b.md", "unknown_heading"],
    ["exact", true, "more/c.md", 5],
    ["exact", true, "more/c.md#root", 5],
    ["exact", false, "b.md#Trip: > Bus", 3],
    ["exact", false, "b.md#Trip > Bus", "unknown_heading"],
    ["prefix", true, "b.md", 2],
    ["prefix", true, "b.md#Trip", 2],
    ["prefix", true, "b.md#Trip > Bus > Stop", "unknown_heading"],
    ["prefix", true, "b.md#trip", "unknown_heading"],
    ["prefix", false, "b.md#Trip", "unknown_heading"],
    ["prefix", false, "b.md#Trip:", 2],
    ["ignore", true, "b.md#Whatever", 2],
    ["ignore", false, "b.md", 2],
  ])("%s, normalised %s: [%s]", (headingMatch, normalizeHeading, name, expected) => {
    expect(resolve(`[${name}]`, { headingMatch, normalizeHeading }).map(show)).toEqual([expected]);
  });
});
