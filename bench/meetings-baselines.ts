import { contentStems } from "../src/worker/text/content-words.ts";
import type { LaidOutMeeting, OrderedSpans, Span } from "./meetings-retrieval.ts";
import { seededRandom } from "./synthetic-corpus.ts";

type Order = (meeting: LaidOutMeeting, question: string) => readonly Span[];

/** Every question with the turns of its meeting, as the baseline orders them. */
export const orderMeetings = (meetings: readonly LaidOutMeeting[], order: Order): OrderedSpans[] =>
  meetings.flatMap((meeting) =>
    meeting.questions.map(({ text, goldTurns }) => ({
      meeting,
      goldTurns,
      spans: order(meeting, text),
    })),
  );

export const firstTurns: Order = ({ turns }) => turns;

/** Turns in any order, always the same. */
export function chance(): Order {
  const random = seededRandom(3);
  return ({ turns }) =>
    turns
      .map((turn) => ({ turn, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ turn }) => turn);
}

/**
 * BM25 (k1 0.9, b 0.4) of each turn within its meeting, and what the turns around it lend: the mean of up to `reach` on
 * each side.
 */
export const bm25Turns =
  (reach: number): Order =>
  (meeting, question) => {
    const stems = meeting.turns.map(({ start, end }) =>
      contentStems(meeting.text.slice(start, end).join("")),
    );
    const scores = bm25(stems, new Set(contentStems(question)));
    return meeting.turns
      .map((turn, at) => ({ turn, at, score: (scores[at] ?? 0) + meanAround(scores, at, reach) }))
      .sort((a, b) => b.score - a.score || a.at - b.at)
      .map(({ turn }) => turn);
  };

function meanAround(scores: readonly number[], at: number, reach: number): number {
  if (reach === 0) return 0;
  const around = [
    ...scores.slice(Math.max(0, at - reach), at),
    ...scores.slice(at + 1, at + 1 + reach),
  ];
  return around.reduce((sum, score) => sum + score, 0) / (2 * reach);
}

function bm25(documents: readonly (readonly string[])[], terms: ReadonlySet<string>): number[] {
  const mean = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const scores = documents.map(() => 0);
  for (const term of terms) {
    const times = documents.map((stems) => stems.filter((stem) => stem === term).length);
    const holding = times.filter((count) => count > 0).length;
    const idf = Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
    times.forEach((count, at) => {
      const length = 0.6 + (0.4 * (documents[at]?.length ?? 0)) / mean;
      scores[at] = (scores[at] ?? 0) + (idf * count * 1.9) / (count + 0.9 * length);
    });
  }
  return scores;
}
