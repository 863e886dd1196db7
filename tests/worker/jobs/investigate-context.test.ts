import { describe, expect, test } from "@jest/globals";
import { spanPassage } from "../../../src/worker/evidence/span-passage.ts";
import { showLog } from "../../../src/worker/jobs/investigate/context.ts";
import { gate } from "../../../src/worker/jobs/investigate/investigate.ts";
import type {
  Exploration,
  InvestigateRun,
} from "../../../src/worker/jobs/investigate/look-around.ts";
import { openRecord } from "../../../src/worker/jobs/investigate/record.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { outputOf } from "../../../src/worker/tools/tool.ts";
import { readingOf, scripted, SETTINGS, worldOf } from "../../support/pipeline-world.ts";

const boundary = "b".repeat(32);
const passageOf = (path: string, words: string) => {
  const reading = readingOf(path, words);
  return { kind: "passage", passage: spanPassage(reading, 0, words.length) } as const;
};

/** A record of calls, each with so many passages of so many characters. */
function recordOf(calls: readonly { readonly passages: number; readonly chars: number }[]) {
  const record = openRecord([]);
  for (const [ordinal, { passages, chars }] of calls.entries()) {
    const found = Array.from({ length: passages }, (_, at) =>
      passageOf(`${ordinal}-${at}.md`, `Words of ${ordinal}-${at}. `.repeat(chars).slice(0, chars)),
    );
    record.add({
      ordinal,
      kind: "tool",
      state: "done",
      detail: {},
      activeMs: 0,
      tokens: 0,
      tool: {
        name: "search_index",
        args: { query: `call ${ordinal}` },
        output: outputOf(`${passages} passages`, {}, found),
        error: null,
      },
    });
  }
  return record;
}

describe("what a prompt shows of an investigation", () => {
  test("is all of it where it has room", () => {
    const shown = showLog(recordOf([{ passages: 2, chars: 100 }]), {
      boundary,
      room: 10_000,
      since: 0,
    });
    expect(shown).toMatchObject({ begin: 0, shown: [{ number: 1 }, { number: 2 }] });
    expect(shown.text).toContain("Words of 0-1.");
  });

  test("always has the newest call, its pieces cut so that they have room together", () => {
    const room = 6_000;
    const calls = Array.from({ length: 4 }, () => ({ passages: 8, chars: 1_200 }));
    const { text, shown, begin } = showLog(recordOf(calls), { boundary, room, since: 0 });
    expect(begin).toBe(3);
    expect(shown.map(({ number }) => number)).toEqual([25, 26, 27, 28, 29, 30, 31, 32]);
    expect(text).toContain("Words of 3-7.");
    expect(text).not.toContain("Words of 2-0.");
    expect(text).toContain('Step 1: search_index {"query":"call 0"} -> evidence 1, 2');
    expect(text.length).toBeLessThan(room);
  });

  test("leaves half of the room free when it is compacted, and then only grows", () => {
    const room = 6_000;
    const calls = Array.from({ length: 12 }, () => ({ passages: 1, chars: 600 }));
    const { text, begin } = showLog(recordOf(calls), { boundary, room, since: 0 });
    expect(begin).toBeGreaterThan(0);
    expect(text.length).toBeLessThanOrEqual(room / 2);
    const further = showLog(recordOf([...calls, { passages: 1, chars: 600 }]), {
      boundary,
      room,
      since: begin,
    });
    expect(further.begin).toBe(begin);
    expect(further.text.startsWith(text)).toBe(true);
  });

  test("shows a piece once, however often it was found", () => {
    const record = recordOf([{ passages: 1, chars: 50 }]);
    const again = passageOf("0-0.md", "Words of 0-0. ".repeat(50).slice(0, 50));
    const added = record.add({
      ordinal: 1,
      kind: "tool",
      state: "done",
      detail: {},
      activeMs: 0,
      tokens: 0,
      tool: {
        name: "search_index",
        args: {},
        output: outputOf("1 passage", {}, [again]),
        error: null,
      },
    });
    expect(added.tool).toMatchObject({ evidence: [1], found: 0 });
    const { text } = showLog(record, { boundary, room: 10_000, since: 0 });
    expect(text.split("<<<EVIDENCE")).toHaveLength(2);
  });
});

test("an answer rests on passages of a file that has no room beside another one", async () => {
  const settings = { ...SETTINGS, ask: { ...SETTINGS.ask, max_chars_full_read: 700 } };
  const [one, other] = [readingOf("1.md", "a".repeat(300)), readingOf("2.md", "b".repeat(300))];
  const evidence = [
    { kind: "file", reading: one } as const,
    { kind: "file", reading: other } as const,
    passageOf("1.md", one.text),
    passageOf("2.md", other.text),
    passageOf("2.md", "An earlier version."),
  ];
  const model = scripted([]);
  const run = {
    input: { kind: "investigate", task: "What?" },
    deps: worldOf({ models: [model], settings }),
    trace: startTrace(),
  } as unknown as InvestigateRun;
  const looking = {
    answerers: { second: model, route: { second: { maxTokens: 100 } }, notes: { text: "" } },
    record: {
      steps: [],
      evidence: evidence.map((piece, at) => ({ number: at + 1, evidence: piece })),
    },
  } as unknown as Exploration;
  expect(await gate(run, looking, { kind: "ended", why: "the model ended it" })).toMatchObject({
    files: [{ path: "1.md" }],
    passages: [{ path: "2.md", sha256: other.sha256 }],
  });
});
