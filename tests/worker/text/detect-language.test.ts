import { describe, expect, test } from "@jest/globals";
import { detectLanguage } from "../../../src/worker/text/detect-language.ts";
import { readSentenceCases } from "../../corpora/sentences/read-sentences.ts";

const NAMES: Readonly<Record<string, string | null>> = {
  en: "english",
  de: "german",
  fr: "french",
  es: "spanish",
  it: "italian",
  nl: "dutch",
  ja: null,
  zh: null,
};
const cases = readSentenceCases();

describe("detectLanguage", () => {
  test.each(Object.entries(NAMES))("knows a page in %s as %s", (lang, expected) => {
    const page = cases.filter((one) => one.lang === lang).map(({ text }) => text);
    expect(detectLanguage(page.join("\n"))).toBe(expected);
  });

  test("says nothing rather than another language, of some 400 paragraphs of a few words", () => {
    const wrong = cases.filter(({ lang, text }) => {
      const detected = detectLanguage(text);
      return detected !== null && detected !== NAMES[lang];
    });
    expect(wrong).toEqual([]);
    const told = cases.filter(({ text }) => detectLanguage(text) !== null).length;
    expect(told).toBeGreaterThan(0.45 * cases.length);
  });

  test.each([
    ["russian", "Заседание совета состоится в четверг, отчёт прилагается."],
    ["greek", "Η συνεδρίαση του συμβουλίου είναι την Πέμπτη."],
    ["arabic", "يجتمع المجلس يوم الخميس في القاعة الكبيرة."],
    ["hindi", "परिषद की बैठक गुरुवार को होगी।"],
  ])("knows %s by its letters", (language, text) => {
    expect(detectLanguage(text)).toBe(language);
  });

  test.each([
    ["nothing", ""],
    ["a title", "Protokoll der Sitzung"],
    ["numbers", "2024-01-03;17,20;EUR\n2024-01-04;3,10;EUR\n".repeat(50)],
    [
      "code",
      "const a = parse(text);\nif (a !== undefined) return a.map((b) => b.name);\n".repeat(20),
    ],
    ["initials and names", "Horty, J. F.\nBacon, C. R. T.\nMitchell, D. S.\nGay, R. E.\n"],
    ["letters of one kind", "qqqq ".repeat(100)],
    [
      "two languages in equal parts",
      "they have said this und wir sind auch nicht there ".repeat(20),
    ],
  ])("says nothing of %s", (_, text) => {
    expect(detectLanguage(text)).toBeNull();
  });

  test("finds the same with and without a letter beyond ASCII, in a page of one language or of two", () => {
    const lines = cases.map(({ text }) => text.replace(/[^\0-\x7f]/g, " "));
    for (let from = 0; from < lines.length; from += 2) {
      for (const page of [lines.slice(from, from + 2), lines.slice(from, from + 40)]) {
        const text = page.join("-").toUpperCase();
        expect(detectLanguage(`${text} é`)).toBe(detectLanguage(text));
      }
    }
  });

  test("takes letters that are composed of two as one", () => {
    const text = "Après la fête, le gâteau était déjà à côté, même si les élèves étaient là.";
    expect(detectLanguage(text.normalize("NFD"))).toBe("french");
    expect(detectLanguage(text)).toBe("french");
  });
});
