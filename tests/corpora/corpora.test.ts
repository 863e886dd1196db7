import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { testOffload } from "../worker/offload/test-offload.ts";
import { SETTINGS } from "../support/pipeline-world.ts";
import { playAnswer } from "./play-answer.ts";
import {
  isHeldOut,
  readAnswers,
  readBadAnswers,
  readEvidence,
  readFileQuestions,
  readGoodAnswers,
  readOrdinaryQuestions,
} from "./read-corpora.ts";

const repeated = (all: readonly string[]): string[] =>
  all.filter((one, index) => all.indexOf(one) < index);

const countBy = <K extends string>(keys: readonly K[]): ReadonlyMap<K, number> =>
  keys.reduce((counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1), new Map<K, number>());

const LANGUAGES = ["en", "de", "fr", "es"] as const;

describe("the corpora of questions", () => {
  test("hold 300 ordinary ones, some 75 in each language, and 120 that name a file", () => {
    const ordinary = readOrdinaryQuestions();
    const perLanguage = countBy(ordinary.map(({ lang }) => lang));
    const naming = readFileQuestions();

    expect(ordinary.length).toBeGreaterThanOrEqual(300);
    for (const lang of LANGUAGES) expect(perLanguage.get(lang)).toBeGreaterThanOrEqual(70);
    expect(naming.length).toBeGreaterThanOrEqual(120);
    expect([...countBy(naming.map(({ lang }) => lang)).keys()].sort()).toEqual(
      [...LANGUAGES].sort(),
    );
  });

  test("hold no id and no question twice", () => {
    const all = [...readOrdinaryQuestions(), ...readFileQuestions()];

    expect(repeated(all.map(({ id }) => id))).toEqual([]);
    expect(repeated(all.map(({ question }) => question))).toEqual([]);
  });

  test("spell every expected name as its question does, in its order", () => {
    for (const { question, names } of readFileQuestions()) {
      const places = names.map((name) => question.indexOf(name));
      expect({ question, isThere: !places.includes(-1) }).toEqual({ question, isThere: true });
      expect(places).toEqual(places.toSorted((one, other) => one - other));
    }
  });
});

describe("the corpora of answers", () => {
  test("hold 170 good ones and 170 bad ones, at least 18 of each bad kind", () => {
    const bad = readBadAnswers();

    expect(readGoodAnswers().length).toBeGreaterThanOrEqual(170);
    expect(bad.length).toBeGreaterThanOrEqual(170);
    const perKind = countBy(bad.map(({ kind }) => kind));
    expect(perKind.size).toBe(8);
    for (const count of perKind.values()) expect(count).toBeGreaterThanOrEqual(18);
  });

  test("hold no id and no reply to the same question twice", () => {
    const all = readAnswers();

    expect(repeated(all.map(({ id }) => id))).toEqual([]);
    expect(repeated(all.map(({ question, reply }) => `${question}\n${reply}`))).toEqual([]);
  });

  test("use every evidence set", () => {
    const used = new Set(readAnswers().map(({ evidence }) => evidence));

    expect(readEvidence().filter(({ id }) => !used.has(id))).toEqual([]);
    expect(repeated(readEvidence().map(({ id }) => id))).toEqual([]);
  });

  test("quote in good replies what stands in the evidence, letter for letter but for capitals", () => {
    for (const item of readAnswers()) {
      if (!("verbatim" in item)) continue;
      const shown = item.pieces
        .map(({ heading, text }) => `${heading}\n${text}`)
        .join("\n")
        .toLowerCase();
      const lost = item.verbatim?.filter(
        (quote) => !shown.includes(quote.toLowerCase()) || !item.reply.includes(quote),
      );
      expect({ id: item.id, lost }).toEqual({ id: item.id, lost: [] });
    }
  });

  test("mark the words of a quotation in every good reply of that kind", () => {
    const quoting = readGoodAnswers().filter(({ kind }) => kind === "quote");

    expect(quoting.filter(({ verbatim }) => verbatim === undefined)).toEqual([]);
  });

  test("hold the forged mark that they name in the reply", () => {
    const marked = readBadAnswers().filter(({ mark }) => mark !== undefined);

    expect(marked.length).toBeGreaterThan(0);
    expect(marked.filter(({ reply, mark }) => !reply.includes(mark ?? ""))).toEqual([]);
  });

  test("have about a third of the good and of the bad held out", () => {
    for (const answers of [readGoodAnswers(), readBadAnswers()]) {
      const share = answers.filter(isHeldOut).length / answers.length;
      expect(share).toBeGreaterThanOrEqual(0.28);
      expect(share).toBeLessThanOrEqual(0.39);
    }
  });

  test("end each file with a line break, so that no item is lost", async () => {
    for (const name of ["questions/ordinary", "questions/files", "answers/good", "answers/bad"]) {
      const text = await readFile(resolve(import.meta.dirname, `${name}.jsonl`), "utf8");
      expect(text.endsWith("}\n")).toBe(true);
    }
  });
});

describe("an item that is played through the pipeline", () => {
  const [lease] = readAnswers();
  if (lease === undefined) throw new Error("there is no answer");
  const play = (item: Partial<typeof lease>) =>
    playAnswer({ ...lease, ...item }, SETTINGS, testOffload());

  test.each([
    ["word for word", "A late payment costs £25 after the seventh day [1].", false],
    ["in other words", "The rent is £1,240 a month [1].", true],
  ])("is right when a good one is accepted %s, its footer filled in", async (_, text, isMarked) => {
    expect(await play({ reply: `${text}\n{{footer}}` })).toEqual({
      accepted: true,
      isMarked,
      codes: [],
      isRight: true,
      wasChecked: true,
    });
  });

  test("is wrong when a good one is refused, with the codes of what was found", async () => {
    const played = await play({ reply: "The rent is £1,240 a month [99]." });

    expect(played).toMatchObject({ accepted: false, isRight: false, wasChecked: true });
    expect(played.codes[0]).toBe("CITATION_INVALID");
  });

  test("is right when a bad one is refused", async () => {
    const reply = "The rent is £1,240 a month [99].";

    expect(await play({ verdict: "bad", kind: "wrong citation", reply })).toMatchObject({
      accepted: false,
      isRight: true,
    });
  });

  test("is right when a decline is refused as one", async () => {
    expect(await play({ kind: "decline", reply: "INSUFFICIENT_EVIDENCE" })).toEqual({
      accepted: false,
      isMarked: false,
      codes: ["EVIDENCE_NOT_ACQUIRED"],
      isRight: true,
      wasChecked: true,
    });
  });
});
