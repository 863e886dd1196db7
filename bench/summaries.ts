// Extracted summaries and answers on QMSum meetings, beside taking the beginning, even places, and plain BM25 with as many words
// for each question. Of summaries also the share of sentences that open with a pronoun while the one before is not shown.
// node --import ./bench/register.js bench/summaries.ts [data.jsonl]
import { candidatesOf } from "../src/worker/models/extractive/candidates.ts";
import type { Candidate } from "../src/worker/models/extractive/candidates.ts";
import { rankForQuestion } from "../src/worker/models/extractive/rank-for-question.ts";
import { rankForSummary } from "../src/worker/models/extractive/rank-for-summary.ts";
import { atLengthOf, judgeAnswers, type Answer } from "./judge-answers.ts";
import { readMeetings, type Meeting } from "./meetings.ts";
import { plainBm25 } from "./plain-bm25.ts";
import { judgeRefusals } from "./judge-refusals.ts";
import { rouge, rougeL, wordsIn } from "./rouge.ts";

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
  "plain BM25, as many words": atLengthOf(rankForQuestion, plainBm25),
  nightdesk: rankForQuestion,
};

const PRONOUN =
  /^(?:this|it|he|she|they|that|these|those|his|her|hers|their|theirs|its)(?!\p{L})/iu;
const SPEAKER = /^[^:.?!]{1,60}: /u;

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
  console.log("answers of 3 sentences");
  for (const [name, answer] of Object.entries(ANSWERS)) judgeAnswers(name, asked, answer, 3);
  judgeRefusals("nightdesk", asked, rankForQuestion);
}

function judgeSummaries(
  name: string,
  chosen: readonly Meeting[],
  summarize: (candidates: readonly Candidate[]) => readonly Candidate[],
): void {
  let [ms, sentences, dangling] = [0, 0, 0];
  const texts = chosen.flatMap((meeting) => {
    const startedAt = performance.now();
    const shown = summarize(candidatesIn(meeting));
    ms += performance.now() - startedAt;
    sentences += shown.length;
    dangling += danglingIn(shown, meeting);
    const text = textOf(shown);
    return meeting.general.map(({ answer }) => ({ text, answer }));
  });
  const share = ((100 * dangling) / Math.max(1, sentences)).toFixed(1);
  console.log(
    `${figures(name, texts)}  dangling ${share} % of ${sentences}  ${(ms / chosen.length).toFixed(0)} ms`,
  );
}

/** Sentences that open with a pronoun, behind who speaks, while the words before them in the meeting are not shown. */
function danglingIn(shown: readonly Candidate[], { turns }: Meeting): number {
  const whole = turns.join("\n\n");
  return shown.filter(({ text }, index) => {
    if (!PRONOUN.test(text.replace(SPEAKER, ""))) return false;
    const before = shown[index - 1]?.text;
    const at = whole.indexOf(text);
    return before === undefined || !whole.slice(0, at).trimEnd().endsWith(before);
  }).length;
}

function figures(name: string, texts: readonly { text: string; answer: string }[]): string {
  const mean = (of: (pair: { text: string; answer: string }) => number): string =>
    (texts.reduce((total, pair) => total + of(pair), 0) / texts.length).toFixed(4);
  const [one, two] = [1, 2].map((n) => mean(({ text, answer }) => rouge(n, text, answer)));
  const longest = mean(({ text, answer }) => rougeL(text, answer));
  const words = Number(mean(({ text }) => wordsIn(text).length)).toFixed(0);
  return `${name.padEnd(28)} R1 ${one ?? ""}  R2 ${two ?? ""}  RL ${longest}  ${words.padStart(3)} words`;
}
