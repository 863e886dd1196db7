// Extracted summaries and answers on QMSum meetings, beside taking the beginning, even places, and plain BM25.
// node --import ./bench/register.js bench/summaries.ts [data.jsonl]
import { candidatesOf } from "../src/worker/models/extractive/candidates.ts";
import type { Candidate } from "../src/worker/models/extractive/candidates.ts";
import { rankForQuestion } from "../src/worker/models/extractive/rank-for-question.ts";
import { rankForSummary } from "../src/worker/models/extractive/rank-for-summary.ts";
import { judgeAnswers, type Answer } from "./judge-answers.ts";
import { readMeetings, type Meeting } from "./meetings.ts";
import { plainBm25 } from "./plain-bm25.ts";
import { judgeRefusals } from "./judge-refusals.ts";
import { rouge, wordsIn } from "./rouge.ts";

const meetings = readMeetings(process.argv[2] ?? "../shared/data/qmsum-val/data.jsonl");
const HALVES = { "tuned on": 0, "held out": 1 } as const;

const candidatesIn = ({ turns }: Meeting): Candidate[] =>
  candidatesOf([
    { number: 1, path: "meeting.md", title: null, headingPath: null, text: turns.join("\n\n") },
  ]);

type Summarize = (candidates: readonly Candidate[], most: number) => readonly Candidate[];
const SUMMARIES: Readonly<Record<string, Summarize>> = {
  lead: (candidates, most) => candidates.slice(0, most),
  "even places": (candidates, most) =>
    Array.from(
      { length: most },
      (_, index) => candidates[Math.floor(((index + 0.5) * candidates.length) / most)],
    ).filter((candidate) => candidate !== undefined),
  longest: (candidates, most) =>
    candidates.toSorted((a, b) => b.text.length - a.text.length).slice(0, most),
  nightdesk: (candidates, most) => rankForSummary(candidates, "", most),
};

const ANSWERS: Readonly<Record<string, Answer>> = {
  lead: (candidates, _, most) => candidates.slice(0, most),
  "plain BM25": plainBm25,
  nightdesk: rankForQuestion,
};

const CUTS = {
  "answers of 3 sentences": { sentences: 3, words: Number.POSITIVE_INFINITY },
  "answers of 70 words": { sentences: 12, words: 70 },
} as const;

const textOf = (picked: readonly Candidate[]): string => picked.map(({ text }) => text).join(" ");

for (const [half, rest] of Object.entries(HALVES)) {
  const chosen = meetings.filter((_, index) => index % 2 === rest);
  console.log(`\n${half}: ${chosen.length} meetings`);
  for (const most of [5, 10]) {
    for (const [name, summarize] of Object.entries(SUMMARIES)) {
      judgeSummaries(`summary of ${most}, ${name}`, chosen, (all) => summarize(all, most));
    }
  }
  const asked = chosen.map((meeting) => ({ ...meeting, candidates: candidatesIn(meeting) }));
  for (const [form, cut] of Object.entries(CUTS)) {
    console.log(form);
    for (const [name, answer] of Object.entries(ANSWERS)) judgeAnswers(name, asked, answer, cut);
  }
  judgeRefusals("nightdesk", asked, rankForQuestion);
}

function judgeSummaries(
  name: string,
  chosen: readonly Meeting[],
  summarize: (candidates: readonly Candidate[]) => readonly Candidate[],
): void {
  let ms = 0;
  const texts = chosen.flatMap((meeting) => {
    const startedAt = performance.now();
    const text = textOf(summarize(candidatesIn(meeting)));
    ms += performance.now() - startedAt;
    return meeting.general.map(({ answer }) => ({ text, answer }));
  });
  console.log(`${figures(name, texts)}  ${(ms / chosen.length).toFixed(0)} ms`);
}

function figures(name: string, texts: readonly { text: string; answer: string }[]): string {
  const mean = (of: (pair: { text: string; answer: string }) => number): number =>
    texts.reduce((total, pair) => total + of(pair), 0) / texts.length;
  const [one, two] = [1, 2].map((n) => mean(({ text, answer }) => rouge(n, text, answer)));
  const words = mean(({ text }) => wordsIn(text).length).toFixed(0);
  return `${name.padEnd(28)} R1 ${one?.toFixed(4)}  R2 ${two?.toFixed(4)}  ${words.padStart(3)} words`;
}
