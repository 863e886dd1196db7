import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import {
  drawNames,
  EXAM_KINDS,
  EXAM_LANGUAGES,
  examCalls,
  readExamNames,
  readExamPairs,
} from "../../../../src/worker/verify/judge/exam-pairs.ts";
import type { ExamPair } from "../../../../src/worker/verify/judge/exam-pairs.ts";
import { gradeByVetoes, textOf } from "./exam-world.ts";

const pairs = readExamPairs();
const SEEDS = ["one desk", "another", "0b5f"];

/** What the vetoes say against a pair; nothing where only a judge can tell. */
function settledBefore(pair: ExamPair): string[] {
  const { reason, checks } = gradeByVetoes(pair);
  if (reason === "not_asked") return [];
  return [`${pair.id} ${reason} ${checks.map(({ detail }) => detail).join("; ")}`];
}

const countBy = (all: readonly ExamPair[], keyOf: (pair: ExamPair) => string) => {
  const counts: Record<string, number> = {};
  for (const pair of all) counts[keyOf(pair)] = (counts[keyOf(pair)] ?? 0) + 1;
  return counts;
};

describe("the pairs of the exam", () => {
  test("pass all vetoes, and none is word for word", () => {
    expect(pairs.flatMap(settledBefore)).toEqual([]);
  });

  test("are as many wrong as right ones, of each kind in each language", () => {
    const share = (language: string): number => (language === "en" ? 8 : 3);
    const wanted = Object.fromEntries(
      EXAM_KINDS.flatMap((kind) =>
        EXAM_LANGUAGES.flatMap((language) =>
          [true, false].map((isWrong) => [`${kind} ${language} ${isWrong}`, share(language)]),
        ),
      ),
    ) as Record<string, number>;
    const keyOf = ({ kind, language, isWrong }: ExamPair): string =>
      `${kind} ${language} ${isWrong}`;
    expect(countBy(pairs, keyOf)).toEqual(wanted);
  });

  test("have ids that tell nothing of the label", () => {
    expect(new Set(pairs.map(({ id }) => id)).size).toBe(pairs.length);
    for (const language of EXAM_LANGUAGES) {
      const own = pairs.filter((pair) => pair.language === language);
      const first = own.slice(0, own.length / 2).filter(({ isWrong }) => isWrong).length;
      expect(own.filter(({ id }) => !id.startsWith(`${language}-`))).toEqual([]);
      expect(Math.abs(first - own.length / 4)).toBeLessThan(own.length / 8);
    }
  });

  test("hold 700 characters of lines at most, and are shipped in less than 250 kB", () => {
    const folder = join(import.meta.dirname, "../../../../assets/exam");
    const bytes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(Math.max(...pairs.map(({ lines }) => lines.join("").length))).toBeLessThanOrEqual(700);
    expect(bytes.reduce((sum, one) => sum + one)).toBeLessThan(250_000);
  });
});

describe("names that are drawn", () => {
  test.each(SEEDS)("keep each pair past the vetoes: %s", (seed) => {
    expect(pairs.map((pair) => drawNames(pair, seed)).flatMap(settledBefore)).toEqual([]);
  });

  test.each(SEEDS)("replace all of a pair's, in heading, lines and statement: %s", (seed) => {
    const left = pairs.flatMap((pair) => {
      const drawn = drawNames(pair, seed);
      const text = `${textOf(drawn)}\n${drawn.statement}`;
      // As a whole word: "Jo" is no part of "Joan".
      const stands = (name: string): boolean =>
        pair.language === "ja"
          ? text.includes(name)
          : new RegExp(String.raw`(?<!\p{L})${name}(?!\p{L})`, "u").test(text);
      return Object.keys(pair.names).flatMap((name) => name.split(" ").filter(stands));
    });
    expect(left).toEqual([]);
  });

  test("are the same for the same seed, and others for another", () => {
    const [pair] = pairs.filter(({ names }) => Object.keys(names).length > 2);
    if (pair === undefined) throw new Error("no pair with names");
    expect(drawNames(pair, "a")).toEqual(drawNames(pair, "a"));
    expect(drawNames(pair, "a")).not.toEqual(drawNames(pair, "b"));
  });

  test("are one for one: who stands apart under a given or a family name stays who he is", () => {
    const pair = {
      ...({ id: "en-000", kind: "role", language: "en", isWrong: true } as const),
      heading: "Minutes (Ruth Okafor)",
      lines: ["Ruth thanked Mr Lang's brother; Dieter Lang and the Okafors live in Bath."],
      statement: "Dieter Okafor lives in Bath.",
      names: { "Ruth Okafor": "woman", "Dieter Lang": "man", Bath: "place" } as const,
    };
    const { women, men, places } = readExamNames().en;
    const drawn = drawNames(pair, "a");
    const shape =
      /^Minutes \((\S+) (\S+)\)\n(\S+) thanked Mr (\S+)'s brother; (\S+) (\S+) and the (\S+)s live in (\S+)\.\n(\S+) (\S+) lives in (\S+)\.$/;
    const [, ...found] =
      shape.exec([drawn.heading, ...drawn.lines, drawn.statement].join("\n")) ?? [];
    const [ruth = "", okafor = "", , lang = "", dieter = "", , , bath = ""] = found;
    expect(found).toEqual([
      ...[ruth, okafor, ruth, lang, dieter, lang, okafor, bath],
      ...[dieter, okafor, bath],
    ]);
    expect(new Set([ruth, okafor, lang, dieter, bath]).size).toBe(5);
    expect(women.map(([given]) => given)).toContain(ruth);
    expect(men.map(([given]) => given)).toContain(dieter);
    expect(places).toContain(bath);
  });

  test("fit where they are put: French ones follow no apostrophe, no name of a list is another's", () => {
    const french = pairs.filter(({ language }) => language === "fr");
    const elided = french.filter((pair) =>
      Object.keys(pair.names).some((name) =>
        new RegExp(`['’]${name}`, "u").test(`${textOf(pair)}\n${pair.statement}`),
      ),
    );
    expect(elided).toEqual([]);
    for (const { women, men, places, organisations } of Object.values(readExamNames())) {
      const all = [...women.flat(), ...men.flat(), ...places, ...organisations];
      expect(new Set(all).size).toBe(all.length);
      expect([women, men, places, organisations].map(({ length }) => length)).toEqual([
        ...[20, 20, 30, 20],
      ]);
    }
  });
});

describe("the calls of an exam", () => {
  const calls = examCalls("a");

  test("are of five wrong and five right pairs, and each pair is asked once", () => {
    expect(calls).toHaveLength(40);
    for (const call of calls) expect(call.map(({ isWrong }) => isWrong).sort()).toEqual(FIVE_EACH);
    expect(new Set(calls.flat().map(({ id }) => id)).size).toBe(pairs.length);
  });

  test("have names of the seed", () => {
    const shipped = new Map(pairs.map((pair) => [pair.id, pair]));
    const expected = calls.flat().map(({ id }) => {
      const pair = shipped.get(id);
      if (pair === undefined) throw new Error(id);
      return drawNames(pair, "a");
    });
    expect(calls.flat()).toEqual(expected);
  });

  test.each(SEEDS)("spread kinds and languages over the first twelve: %s", (seed) => {
    const first = examCalls(seed).slice(0, 12).flat();
    for (const isWrong of [true, false]) {
      const own = first.filter((pair) => pair.isWrong === isWrong);
      const kinds = countBy(own, ({ kind }) => kind);
      const { en = 0, ...others } = countBy(own, ({ language }) => language);
      expect(new Set(Object.values(kinds))).toEqual(new Set([6]));
      expect(Math.abs(en - 24)).toBeLessThanOrEqual(3);
      for (const count of Object.values(others)) expect(Math.abs(count - 9)).toBeLessThan(4);
      expect(Object.keys(others)).toHaveLength(4);
    }
  });

  test("are in the same order for the same seed alone, and tell no label by their order", () => {
    const idsOf = (seed: string): string[] =>
      examCalls(seed)
        .flat()
        .map(({ id }) => id);
    expect(idsOf("a")).toEqual(idsOf("a"));
    expect(idsOf("a")).not.toEqual(idsOf("b"));
    const firsts = calls.filter(([first]) => first?.isWrong).length;
    expect(firsts).toBeGreaterThan(10);
    expect(firsts).toBeLessThan(30);
  });
});

const FIVE_EACH = [...Array<boolean>(5).fill(false), ...Array<boolean>(5).fill(true)];
