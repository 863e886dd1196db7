import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { playLoop } from "../../support/loop-rules.ts";
import type { Played, Turn } from "../../support/loop-rules.ts";

/** Set NIGHTDESK_SEED to repeat a failure. */
const seed = Number(process.env["NIGHTDESK_SEED"] ?? randomBytes(4).readInt32BE());
const RUNS = 3_000;

const folder = fc.constantFrom("a", "b", "c/d");
const file = fc.tuple(folder, fc.integer({ min: 0, max: 4 })).map(([at, n]) => `${at}/${n}.md`);
const words = fc.constantFrom(
  "rope",
  "the ropes",
  "ferries",
  "rope ferries",
  "ferry ropes",
  "of the",
);
const url = fc.constantFrom("https://x.example/1", "https://x.example/2", "https://y.example/1");
const fails = fc.option(fc.constantFrom("FILE_NOT_FOUND", "PATH_DENIED", "TOOL_ERROR"), {
  nil: undefined,
  freq: 2,
});
const finds = fc.array(file, { maxLength: 2 });

type Call = Extract<Turn, { kind: "call" }>;
const call = (tool: string, args: fc.Arbitrary<Call["args"]>): fc.Arbitrary<Turn> =>
  fc
    .record({ args, finds, fails, urls: fc.array(url, { maxLength: 2 }) })
    .map(({ args: given, finds: found, fails: code, urls }) => ({
      kind: "call",
      tool,
      args: given,
      finds: tool === "note" || tool === "web_search" ? [] : found,
      ...(tool === "web_search" ? { urls } : {}),
      ...(code === undefined ? {} : { fails: code }),
    }));

const turn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 6, arbitrary: call("search_index", fc.record({ query: words })) },
  { weight: 3, arbitrary: call("search_text", fc.record({ text: words, path_prefix: folder })) },
  { weight: 6, arbitrary: call("read_text_file", fc.record({ path: file })) },
  { weight: 3, arbitrary: call("web_search", fc.record({ query: words })) },
  { weight: 3, arbitrary: call("web_fetch", fc.record({ url })) },
  { weight: 1, arbitrary: call("note", fc.record({ text: words })) },
  { weight: 1, arbitrary: call("calculate", fc.constant({ expression: "1 + 1" })) },
  { weight: 1, arbitrary: fc.constant<Turn>({ kind: "unreadable" }) },
  { weight: 1, arbitrary: fc.constant<Turn>({ kind: "not_granted" }) },
);

const most = (least: number) => fc.option(fc.integer({ min: least, max: 6 }), { nil: null });
const drift = fc.record({
  notesEvery: most(1),
  sameQuery: most(2),
  samePlace: most(2),
  sources: most(1),
  failures: most(2),
  noNewEvidence: most(2),
});
const cases = fc.record({
  /** What the model does, over and over: it never ends by itself. */
  turns: fc.array(turn, { minLength: 1, maxLength: 40 }),
  drift,
  limits: fc.record({ maxSteps: fc.constantFrom(12, 60), maxCalls: fc.constantFrom(5, 30) }),
  tools: fc.constantFrom(["read_text_file"], ["search_index", "read_text_file", "note"]),
  roots: fc.constantFrom<readonly string[]>([], ["a"], ["a/", "b"]),
});

const hintsOf = ({ acted }: Played) =>
  acted.flatMap(({ turn: at, action }) => (action.kind === "hint" ? [{ at, ...action }] : []));
const DRIFT = ["notes", "same_query", "same_place", "failures", "sources", "no_new_evidence"];
const endless =
  (turns: readonly Turn[]) =>
  (at: number): Turn =>
    turns[at % turns.length] ?? { kind: "unreadable" };

describe("whatever a model does", () => {
  test("it is ended within its limits, and told no more than once a turn", () => {
    fc.assert(
      fc.property(cases, ({ turns, ...options }) => {
        const played = playLoop(endless(turns), options);
        expect(played.ended).toBe("rule");
        // One step of the model a turn, and one of a tool.
        expect(played.turns).toBeLessThanOrEqual(options.limits.maxSteps);
        const hints = hintsOf(played);
        expect(new Set(hints.map(({ at }) => at)).size).toBe(hints.length);
        expect(played.steps.length).toBeLessThanOrEqual(3 * options.limits.maxSteps);
      }),
      { seed, numRuns: RUNS },
    );
  });

  test("no hint is told of the same query, place or sources again, and a rule that is off tells nothing", () => {
    fc.assert(
      fc.property(cases, ({ turns, ...options }) => {
        const hints = hintsOf(playLoop(endless(turns), options));
        for (const rule of ["same_query", "same_place", "sources"]) {
          const about = hints.filter((hint) => hint.rule === rule).map((hint) => hint.about);
          expect(new Set(about).size).toBe(about.length);
          expect(about.length).toBeLessThanOrEqual(3);
        }
        const { notesEvery, sameQuery, samePlace, sources, failures, noNewEvidence } =
          options.drift;
        const limits = [notesEvery, sameQuery, samePlace, failures, sources, noNewEvidence];
        const off = DRIFT.filter((_, at) => limits[at] === null);
        expect(hints.filter(({ rule }) => off.includes(rule))).toEqual([]);
      }),
      { seed, numRuns: RUNS },
    );
  });

  test("no hint asks for what another forbids, or what the grant does not hold", () => {
    fc.assert(
      fc.property(cases, ({ turns, ...options }) => {
        const hints = hintsOf(playLoop(endless(turns), options));
        const enough = hints.findIndex(({ rule }) => rule === "sources");
        const later = enough === -1 ? [] : hints.slice(enough + 1).map(({ rule }) => rule);
        // These ask for other words, other places, or a call that is none of the last two.
        expect(later.filter((rule) => rule !== "equal_calls" && rule !== "failures")).toEqual([]);
        for (const { rule, about, told } of hints) {
          if (rule === "notes") expect(options.tools).toContain("note");
          if (rule === "same_place") {
            expect(options.roots.map((root) => root.replace("/", ""))).not.toContain(about);
          }
          if (options.tools.length === 1) expect(told).not.toContain("another tool");
          if (DRIFT.includes(rule) && rule !== "notes") expect(told).toContain("end");
        }
      }),
      { seed, numRuns: RUNS },
    );
  });

  test("one that does what it is told, and finds something, goes on until it ends by itself", () => {
    const wide = { maxSteps: 1_000, maxCalls: 1_000 };
    fc.assert(
      fc.property(cases, ({ turns, ...options }) => {
        let told = false;
        let left = 12;
        const played = playLoop(
          (at, last) => {
            told ||= last !== null;
            if (!told) return endless(turns)(at);
            left -= 1;
            if (left < 0) return { kind: "end" };
            if (last?.kind === "hint" && last.rule === "notes") {
              return { kind: "call", tool: "note", args: { text: `note ${at}` } };
            }
            const path = `new${at}/file.md`;
            return { kind: "call", tool: "read_text_file", args: { path }, finds: [path] };
          },
          { ...options, limits: wide },
        );
        const last = played.acted.at(-1)?.action;
        if (played.ended === "rule" && hintsOf(played).length > 0) {
          expect(last?.rule).toBe("sources");
        }
      }),
      { seed, numRuns: RUNS },
    );
  });
});
