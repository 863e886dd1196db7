import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Search } from "../src/worker/search/search.ts";
import type { Meeting } from "./meetings.ts";

/** A meeting as a text file, one turn a paragraph, and the offsets of its turns. Offsets are code points. */
export type LaidOutMeeting = {
  readonly path: string;
  readonly text: readonly string[];
  readonly turns: readonly Span[];
  readonly questions: readonly { readonly text: string; readonly goldTurns: ReadonlySet<number> }[];
};

export type Span = { readonly start: number; readonly end: number };

/** A question with the spans of its meeting in some order, the best first. */
export type OrderedSpans = {
  readonly meeting: LaidOutMeeting;
  readonly goldTurns: ReadonlySet<number>;
  readonly spans: readonly Span[];
};

/** Writes each meeting as a file of the folder `corpus` of a work root. */
export function writeMeetings(meetings: readonly Meeting[], workroot: string): LaidOutMeeting[] {
  mkdirSync(join(workroot, "corpus"), { recursive: true });
  return meetings.map((meeting, index) => {
    const path = `corpus/meeting-${index}.txt`;
    const laidOut = layOut(meeting, path);
    writeFileSync(join(workroot, path), laidOut.text.join(""));
    return laidOut;
  });
}

function layOut({ turns, specific }: Meeting, path: string): LaidOutMeeting {
  const text: string[] = [];
  const spans = turns.map((turn) => {
    const start = text.length;
    text.push(...turn);
    const end = text.length;
    text.push("\n", "\n");
    return { start, end };
  });
  const questions = specific
    .filter((question) => question.turns.size > 0)
    .map((question) => ({ text: question.question, goldTurns: question.turns }));
  return { path, text, turns: spans, questions };
}

/** Every question asked of its meeting. */
export async function searchMeetings(
  search: Search,
  meetings: readonly LaidOutMeeting[],
  mode: "lexical" | "vector" | "hybrid",
): Promise<OrderedSpans[]> {
  const { signal } = new AbortController();
  const answers: OrderedSpans[] = [];
  for (const meeting of meetings) {
    for (const { text, goldTurns } of meeting.questions) {
      const request = { text, mode, limit: 1_000, pathPrefix: meeting.path };
      const passages = await search(request, signal);
      const spans = passages.map(({ startChar, endChar }) => ({ start: startChar, end: endChar }));
      answers.push({ meeting, goldTurns, spans });
    }
  }
  return answers;
}

/**
 * Mean share, in percent, of the characters of the gold turns that stand in the best spans, taken until they are a
 * part of the meeting's text, the last one cut. White space does not count as evidence.
 */
export function evidenceRecall(answers: readonly OrderedSpans[], part: number): number {
  const recalls = answers.map((answer) => recallOf(answer, part));
  return (100 * recalls.reduce((sum, recall) => sum + recall, 0)) / recalls.length;
}

function recallOf(
  { meeting: { text, turns }, goldTurns, spans }: OrderedSpans,
  part: number,
): number {
  const gold = new Uint8Array(text.length);
  for (const turn of goldTurns) {
    const { start, end } = turns[turn] ?? { start: 0, end: 0 };
    for (let at = start; at < end; at += 1) gold[at] = text[at]?.trim() === "" ? 0 : 1;
  }
  const taken = new Uint8Array(text.length);
  let room = text.length * part;
  let found = 0;
  for (const { start, end } of spans) {
    for (let at = start; at < end && room > 0; at += 1) {
      if (taken[at] === 1) continue;
      taken[at] = 1;
      room -= 1;
      found += gold[at] ?? 0;
    }
  }
  return found / gold.reduce((sum, value) => sum + value, 0);
}

/** Share of the questions, in percent, with a gold turn in one of the first spans. */
export function hitRate(answers: readonly OrderedSpans[], depth: number): number {
  const hits = answers.filter(({ meeting: { turns }, goldTurns, spans }) =>
    spans
      .slice(0, depth)
      .some(({ start, end }) =>
        [...goldTurns].some(
          (at) => (turns[at]?.start ?? end) < end && (turns[at]?.end ?? start) > start,
        ),
      ),
  );
  return (100 * hits.length) / answers.length;
}
