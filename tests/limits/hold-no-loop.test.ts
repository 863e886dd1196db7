import { describe, expect, test } from "@jest/globals";
import { schemaCompiler } from "../../src/worker/json-schema.ts";
import { checkByPreset } from "../../src/worker/verify/check-fields.ts";
import { CHECK, checkReply } from "../../src/worker/verify/check-reply.ts";
import { validateReply } from "../../src/worker/jobs/ask-digest.ts";
import { MERGE, presetSchema } from "../../src/worker/jobs/extraction.ts";
import { validateFields, lookUpAll, openFields } from "../../src/worker/verify/validate-fields.ts";
import { fenceAll } from "../../src/worker/evidence/fence.ts";
import { MOST_CHARS_AT_ONCE } from "../../src/worker/offload/offload.ts";
import { fromNativeCalls } from "../../src/worker/tools/parse-tool-call.ts";
import { LONGEST_TURN_MS as MOST_MS, timeTaken, timeTakenBy } from "../support/time-taken.ts";
import { longestTurn, testOffload } from "../worker/offload/test-offload.ts";
import { blockOf, rulesFor } from "../worker/verify/support-world.ts";

/** The longest reply that is read of any host. */
const LONGEST_REPLY = 524_288;

const SHAPES = [
  ...["①", "[1]", "[1-99] ", "[1-2000] ", "[1, 2, 3] ", "(1) ", "[a.md] ", "[[a#b|c]]", "【"],
  ...["東京。", "A b. ", "ﬁ", "🚲", "3 May ", "12:30 ", "1 ", "Bikes must be back by six. ", "\n"],
  ...['"bikes must be back by six" [1] ', "“a…b” ", "[x](https://a.b/c) ", "Scope: ", "<think>"],
  ...["INSUFFICIENT_EVIDENCE ", '{"a":[', "<tool_call>", "- a\n", "a", "system: ", "<<<EVIDENCE "],
];

const filled = (shape: string, chars: number): string =>
  shape
    .repeat(Math.ceil(chars / shape.length))
    .slice(0, chars)
    .toWellFormed();

const piecesOf = (shape: string, chars: number) =>
  Array.from({ length: 20 }, (_, at) =>
    blockOf(at + 1, `notes/${at}.md`, filled(shape, Math.floor(chars / 20)), { headingPath: "b" }),
  );

const replyOf = (text: string) => ({ text, toolCalls: [], doneReason: "stop" }) as const;
const checksOf = (evidence: ReturnType<typeof piecesOf>) =>
  rulesFor(evidence, { citations: "known", unsupported: "repair" });

/** As much as one thread takes at once: of a reply, of evidence, and of both. */
const SHARES = [
  { replyChars: MOST_CHARS_AT_ONCE / 4, evidenceChars: 0 },
  { replyChars: MOST_CHARS_AT_ONCE / 8, evidenceChars: MOST_CHARS_AT_ONCE / 2 },
  { replyChars: 2_000, evidenceChars: MOST_CHARS_AT_ONCE - 8_000 },
];

describe("what is done in the worker's own thread takes less than 200 ms", () => {
  test.each(SHAPES)("for a reply and evidence of %j", (shape) => {
    for (const { replyChars, evidenceChars } of SHARES) {
      const evidence = piecesOf(shape, evidenceChars);
      const reply = replyOf(filled(shape, replyChars));
      const rules = checksOf(evidence);
      const steps: readonly (readonly [string, () => unknown])[] = [
        ["check", () => checkReply({ reply, rules })],
        ["digest", () => validateReply({ reply, rules, mostLines: 10 })],
        ["fields", () => openFields({ reply, evidence })],
        ["fence", () => fenceAll({ blocks: evidence, boundary: "b" })],
      ];
      for (const [step, run] of steps) {
        const isLong = timeTaken(run, MOST_MS) >= MOST_MS;
        expect({ step, replyChars, isLong }).toEqual({ step, replyChars, isLong: false });
      }
    }
  });

  test.each(SHAPES)("for a first reply of half a million characters of %j", (shape) => {
    const reply = filled(shape, LONGEST_REPLY);
    expect(timeTaken(() => fromNativeCalls([], reply), MOST_MS)).toBeLessThan(MOST_MS);
  });

  test.each(SHAPES)("for a thousand quotes of %j", (shape) => {
    const quote = filled(shape, MOST_CHARS_AT_ONCE / 2_000);
    const quotes = Array.from({ length: 1_000 }, (_, at) => ({ path: `/${at}`, quote }));
    const evidence = piecesOf(shape, MOST_CHARS_AT_ONCE / 2);
    expect(timeTaken(() => lookUpAll({ quotes, evidence }), MOST_MS)).toBeLessThan(MOST_MS);
  });

  // A reply gives at most 65,536 characters of JSON.
  test.each([
    ["items of another type", { actions: filled("1,", 65_000).split(",").map(Number) }],
    ["items without a member", { actions: Array.from({ length: 21_000 }, () => ({})) }],
    [
      "unknown members",
      Object.fromEntries(
        filled("x,", 14_000)
          .split(",")
          .map((_, at) => [`k${at}`, 1]),
      ),
    ],
    [
      "as many items as there may be",
      {
        actions: Array.from({ length: 1_000 }, () => ({
          quote: "a b",
          action: "a",
          owner: null,
          due: null,
        })),
      },
    ],
  ])("for the fields of a preset with %s", async (_, fields) => {
    const check = await checkByPreset(presetSchema("actions", []), schemaCompiler(), new Set());
    const { signal } = new AbortController();
    expect(await timeTakenBy(() => check(fields, signal), MOST_MS)).toBeLessThan(MOST_MS);
  });
});

describe("the longest reply holds the event loop for less than 200 ms", () => {
  const { signal } = new AbortController();

  /** The least of three runs. */
  async function leastTurn(run: () => Promise<unknown>): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let at = 0; at < 3 && least >= MOST_MS; at += 1) {
      least = Math.min(least, await longestTurn(run()));
    }
    return least;
  }

  test.each(["[1]", "[a.md]", "[1-99] ", "1 ", "東京。", "A b. ", "3 May "])(
    "as an answer of %j",
    async (shape) => {
      const offload = testOffload();
      const reply = replyOf(filled(shape, LONGEST_REPLY));
      const rules = checksOf(piecesOf(shape, 20_000));
      const limits = { chars: LONGEST_REPLY + 20_000, replyChars: LONGEST_REPLY, signal };
      expect(await leastTurn(() => offload(CHECK, { reply, rules }, limits))).toBeLessThan(MOST_MS);
    },
    120_000,
  );

  test.each(["INSUFFICIENT_EVIDENCE [1]", "東京。", "①"])("as fields of %j", async (shape) => {
    const offload = testOffload();
    const reply = replyOf(filled(shape, LONGEST_REPLY));
    const evidence = piecesOf(shape, LONGEST_REPLY);
    const rules = {
      check: async () => ({ faults: [], fields: {}, paired: {}, quotes: [], values: [] }),
      evidence,
      attempt: "first",
      offload,
      signal,
    } as const;
    expect(await leastTurn(() => validateFields(reply, rules))).toBeLessThan(MOST_MS);
  });

  test("as the fields of a hundred parts with a thousand items each", async () => {
    const offload = testOffload();
    const parts = Array.from({ length: 100 }, (_, part) => {
      const actions = Array.from({ length: 1_000 }, (_, at) => ({
        quote: `bikes must be back by ${at}`,
        action: `count bike ${part * 1_000 + at}`,
        owner: null,
        due: null,
      }));
      return { json: JSON.stringify({ actions }), chars: 16_000 };
    });
    const chars = parts.reduce((sum, { json }) => sum + json.length, 0);
    const merge = async () => {
      const merged = await offload(MERGE, { preset: "actions", parts }, { chars, signal });
      expect(JSON.parse(merged)).toMatchObject({ actions: { length: 100_000 } });
    };
    expect(await leastTurn(merge)).toBeLessThan(MOST_MS);
  });
});
