import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { EvidenceSpan } from "../../../src/shared/job/run-result.ts";
import { cleanText } from "../../../src/worker/text/clean-text.ts";
import { ELLIPSIS, findSequence, foldWords } from "../../../src/worker/text/fold-words.ts";
import { holdsFooter } from "../../../src/worker/text/footer-form.ts";
import { checkAnswer } from "../../../src/worker/verify/check-answer.ts";
import type { AnswerRules } from "../../../src/worker/verify/check-answer.ts";
import { verifyQuotes } from "../../../src/worker/verify/verify-quotes.ts";
import { actingWhereShown } from "../../producer/export/rendered.ts";
import { blockOf, rulesFor, sliceOf } from "./support-world.ts";

/** Words and marks that mean something to one of the checks. */
const PIECES = [
  ..."[1] [2] [9] [1-3] [^1] 【1】 [ ] [[ ]] ( ) ![ ]( ](x) [a.md#x] [Source: | # ## > ` ``` ~~~ - * _ ~ ^".split(
    " ",
  ),
  ...'" \' “ ” ‘ ’ „ « » ‹ › 「 」 ＂ < <a <!-- </think> {"type":"tool_call" }'.split(" "),
  ..."https://evil.test/a?b=c www.x.test a@b.test javascript:x data:x /etc/passwd ../x a.md notes/b.md".split(
    " ",
  ),
  ..."1,200 1200 1 200 -5 3.5 40% 12:30 6pm 3. Mai 2024 2024-05-03 May 3, 03.05.2024 two 1e999".split(
    " ",
  ),
  ..."Bikes must be back by six o'clock in the evening. The deposit is forty. exam- ple ﬁne ½ ﷽ é".split(
    " ",
  ),
  ..."東京 。 … ... 🚲 👩‍👩‍👧 \u0301 \u0301\u0316 \u200B \u00AD \u202E \u2028 \u0000 \uD800 Scope: INSUFFICIENT_EVIDENCE".split(
    " ",
  ),
  "\n",
  "\n\n",
  "\r\n",
  "\t",
  " ",
  " ",
  " ",
];
const words = fc
  .array(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ unit: "binary" })),
    {
      maxLength: 40,
    },
  )
  .chain((pieces) => fc.constantFrom("", " ").map((glue) => pieces.join(glue)));

/** Files are decoded from UTF-8 and hold no half characters. */
const fileText = words.map((text) => text.toWellFormed());
const evidenceOf = fc
  .tuple(fileText, fileText, fc.nat(1_000), fc.nat(1_000))
  .map(([one, other, startChar, lineStart]) => [
    blockOf(1, "notes/a.md", one),
    blockOf(2, "notes/b.md", other, { startChar, lineStart: lineStart + 1, headingPath: "A > B" }),
  ]);
const policies = fc.record({
  question: words,
  citations: fc.constantFrom("required", "known", "off"),
  requireInSnapshot: fc.boolean(),
  headingMatch: fc.constantFrom("exact", "prefix", "ignore"),
  normalizeHeading: fc.boolean(),
  unsupported: fc.constantFrom("repair", "drop", "refuse", "flag"),
}) satisfies fc.Arbitrary<Partial<AnswerRules>>;

const RUNS = { numRuns: 200 };

describe("whatever a model writes about whatever files", () => {
  test("the checks end, every span lies in its piece, and what passes ends with the footer", () => {
    fc.assert(
      fc.property(words, evidenceOf, policies, (answer, evidence, policy) => {
        const rules = rulesFor(evidence, policy);
        const checked = checkAnswer({ text: answer, toolCalls: [], doneReason: "stop" }, rules);
        const { quotes, figures } = checked.checks;
        const claims = checked.kind === "declined" ? [] : checked.statements;
        const spans = [...quotes, ...figures, ...claims.map(({ record }) => record)];
        for (const { span } of spans) expectInside(evidence, span);
        if (checked.kind !== "passed") return;
        const lines = checked.text.split("\n");
        expect(lines.at(-1)).toBe(rules.footer);
        expect(holdsFooter(lines.slice(0, -1).join("\n"))).toBe(false);
      }),
      RUNS,
    );
  });

  test("what passes acts nowhere that it is shown", () => {
    fc.assert(
      fc.property(words, evidenceOf, (answer, evidence) => {
        const rules = rulesFor(evidence, { citations: "off" });
        const checked = checkAnswer({ text: answer, toolCalls: [], doneReason: "stop" }, rules);
        if (checked.kind !== "passed") return;
        const body = checked.text.slice(0, checked.text.lastIndexOf("\n"));
        expect(actingWhereShown(body)).toEqual([]);
      }),
      RUNS,
    );
  });
});

function expectInside(
  evidence: ReturnType<typeof evidenceOf.generate>["value"],
  span: EvidenceSpan | null,
): void {
  if (span === null) return;
  const block = evidence.find(({ number }) => number === span.number);
  expect(block?.path).toBe(span.path);
  expect(span.startChar).toBeGreaterThanOrEqual(block?.startChar ?? Number.NaN);
  expect(span.endChar).toBeGreaterThan(span.startChar);
  expect(span.endChar).toBeLessThanOrEqual(block?.endChar ?? Number.NaN);
  expect(span.lineStart).toBeGreaterThanOrEqual(block?.lineStart ?? Number.NaN);
  expect(span.lineEnd).toBeGreaterThanOrEqual(span.lineStart);
}

const folded = (text: string): string[] => foldWords(text).map((word) => word.text);
const isWord = (word: string): boolean => !/^[.,;:!?-]$/.test(word) && word !== ELLIPSIS;
const lettersOf = (all: readonly string[]): string => all.filter(isWord).join(" ").toLowerCase();

describe("a slice of a file, quoted", () => {
  const cut = fc.tuple(fileText, fc.nat(), fc.nat()).map(([text, from, length]) => {
    const characters = [...text];
    const start = characters.length === 0 ? 0 : from % characters.length;
    return { text, quote: characters.slice(start, start + 1 + (length % 60)).join("") };
  });

  test("at the edges of words is found, and its span slices to text that folds to the quote", () => {
    fc.assert(
      fc.property(fileText, fc.nat(), fc.nat(), (text, from, length) => {
        const all = foldWords(text);
        fc.pre(all.length > 0);
        const first = from % all.length;
        const last = Math.min(all.length - 1, first + (length % 12));
        const quote = text.slice(all[first]?.start, all[last]?.end);
        fc.pre(folded(quote).some(isWord));
        const evidence = [blockOf(1, "a.md", text)];
        const [record] = verifyQuotes([{ quote, cited: [1] }], evidence);
        expect(record?.class).toMatch(/^(?:verbatim|normalised)$/);
        const slice = sliceOf(evidence, record?.span) ?? "";
        expect(lettersOf(folded(slice))).toBe(lettersOf(folded(quote)));
      }),
      RUNS,
    );
  });

  test("is never called verbatim unless it stands there code point for code point", () => {
    fc.assert(
      fc.property(cut, words, ({ text, quote }, noise) => {
        const evidence = [blockOf(1, "a.md", text)];
        const records = verifyQuotes(
          [quote, `${quote}${noise}`, noise].map((spelled) => ({ quote: spelled, cited: [] })),
          evidence,
        );
        for (const { class: found, quote: spelled, span } of records) {
          if (found === "verbatim") expect(cleanText(sliceOf(evidence, span) ?? "")).toBe(spelled);
          if (found === "not_found") expect(span).toBeNull();
        }
      }),
      RUNS,
    );
  });
});

test("a sequence is found wherever it stands", () => {
  const numbers = fc.array(fc.nat(2), { maxLength: 30 });
  fc.assert(
    fc.property(numbers, fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }), (all, wanted) => {
      const places = all
        .map((_, at) => at)
        .filter((at) => wanted.every((number, index) => all[at + index] === number));
      expect(findSequence(wanted, Int32Array.from(all), 1_000)).toEqual(places);
    }),
  );
});
