import { describe, expect, test } from "@jest/globals";
import { cutToFit, sentenceEnds } from "../../../src/worker/text/sentences.ts";

function sentencesOf(text: string): string[] {
  let from = 0;
  return sentenceEnds(text).map((end) => {
    const sentence = text.slice(from, end).trim();
    from = end;
    return sentence;
  });
}

describe("sentenceEnds", () => {
  test.each([
    [
      "an ordinal before a month",
      "Am 3. Mai beginnt es.|Die Frist endet am 30. Juni 2024.|Danach ist Schluss.",
    ],
    [
      "an ordinal before what is counted",
      "Im 19. Jahrhundert war es so.|Der 2. Band folgte.|Es war 1989.|Danach kam mehr.",
    ],
    [
      "a reference by number",
      "Siehe Nr. 23 und Abs. 2 S. 1.|Voir l'art. 5.|Véase pág. 12.|See Fig. 3.|It is plain.",
    ],
    [
      "an abbreviation with a blank",
      "Wir nehmen z. B. Äpfel.|Es kostet u. a. Zeit.|Llegó a las 5 p. m. del lunes.",
    ],
    ["a title", "Dr. Meier kam.|Mr. Jones left.|El Sr. García llegó.|M. Dupont est parti."],
    ["a case before a court", "In Smith v. McCrary, 427 U.S. 160, the court held it.|The end."],
    [
      "an abbreviation that may end",
      "The U.S. Supreme Court agreed.|He left the U.S. |The rest stayed.|Acme Inc. sold it.",
    ],
    ["initials", "J. R. R. Tolkien wrote.|George W. Bush read.|Plan B. |The rest waited."],
    ["a time of day", "We met at 5 p.m. Monday.|We ate at 7 p.m. |Everyone came."],
    ["a possessive", "At Jonas's. |Seven people, five chairs.|It was Ada’s. |Peter knew."],
    ["a price", "It rose to 15.20.|Peter paid."],
    ["a number of a list", "1. Buy milk.|2. Sell it."],
    ["other stops", "¿Quién vino?|¡Nadie!|Well…|Peter stayed.|Really?!|Yes."],
    ["quotations", 'He said "Stop."|Then he left.|Il a dit : « Bonjour. »|Puis il est parti.'],
    ["citations", "It closed [1]. [2]|The next one stays.【3】|So it is."],
  ])("knows %s", (_, text) => {
    const expected = text.split("|").map((sentence) => sentence.trim());
    expect(sentencesOf(expected.join(" "))).toEqual(expected);
  });

  test("needs no blank behind the stops of Chinese and Japanese", () => {
    expect(sentencesOf("今日は雨です。明日は晴れ。「はい。」と言った。终于！")).toEqual([
      "今日は雨です。",
      "明日は晴れ。",
      "「はい。」と言った。",
      "终于！",
    ]);
  });

  test("does not end a sentence before a small letter", () => {
    expect(sentencesOf("It ran approx. twice. then again")).toHaveLength(1);
  });
});

describe("cutToFit", () => {
  const parts = (text: string, maxChars: number) =>
    cutToFit(text, { start: 0, end: text.length }, maxChars).map(({ start, end }) =>
      text.slice(start, end),
    );

  test("cuts behind the last semicolon, else a comma, else at a blank", () => {
    expect(parts("one two three; four five six", 18)).toEqual(["one two three;", "four five six"]);
    expect(parts("one two three, four five six", 18)).toEqual(["one two three,", "four five six"]);
    expect(parts("one two three four five six", 18)).toEqual(["one two three four", "five six"]);
  });

  test("loses nothing of a text without blanks, and cuts through no character", () => {
    const text = "x".repeat(9) + "😀".repeat(20);
    expect(parts(text, 10).join("")).toBe(text);
    expect(parts(text, 10).every((part) => part.isWellFormed() && part.length <= 10)).toBe(true);
  });
});
