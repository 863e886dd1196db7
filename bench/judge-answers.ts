import type { Candidate } from "../src/worker/models/extractive/candidates.ts";
import type { Meeting } from "./meetings.ts";
import { rouge, rougeL, wordsIn } from "./rouge.ts";

export type Answer = (
  candidates: readonly Candidate[],
  question: string,
  most: number,
) => readonly Candidate[];

export type AskedMeeting = Meeting & { readonly candidates: readonly Candidate[] };

/** Prints how an answerer does on all questions: ROUGE against what people wrote, and what it shows of the judged turns. */
export function judgeAnswers(
  name: string,
  meetings: readonly AskedMeeting[],
  answer: Answer,
  most: number,
): void {
  const judged = meetings.flatMap((meeting) =>
    meeting.specific.map((query) => {
      return judge(answer(meeting.candidates, query.question, most), query, meeting.turns);
    }),
  );
  const mean = (of: (one: Validated) => number): string =>
    (judged.reduce((total, one) => total + of(one), 0) / judged.length).toFixed(3);
  const declined = judged.filter(({ words }) => words === 0).length;
  console.log(
    `${name.padEnd(24)} R1 ${mean((one) => one.rouge1)}  R2 ${mean((one) => one.rouge2)}  RL ${mean((one) => one.rougeL)}` +
      `  evidence recall ${mean((one) => one.recall)}  precision ${mean((one) => one.precision)}` +
      `  touched ${mean((one) => (one.recall > 0 ? 1 : 0))}  ${mean((one) => one.words).slice(0, -2)} words` +
      `  declined ${declined} of ${judged.length}`,
  );
}

type Validated = {
  readonly rouge1: number;
  readonly rouge2: number;
  readonly rougeL: number;
  /** Of the words of the judged turns, the share that is shown. */
  readonly recall: number;
  /** Of the words shown, the share from the judged turns. */
  readonly precision: number;
  readonly words: number;
};

function judge(
  picked: readonly Candidate[],
  { answer, turns: judgedTurns }: Meeting["specific"][number],
  turns: readonly string[],
): Validated {
  const shown = picked.map(({ text }) => ({ text, words: text.split(" ").length }));
  const text = shown.map((part) => part.text).join(" ");
  const gold = [...judgedTurns].map((index) => turns[index] ?? "");
  const words = shown.reduce((total, part) => total + part.words, 0);
  const right = shown
    .filter((part) => gold.some((turn) => turn.includes(part.text)))
    .reduce((total, part) => total + part.words, 0);
  const wanted = wordsIn(gold.join(" ")).length;
  return {
    rouge1: rouge(1, text, answer),
    rouge2: rouge(2, text, answer),
    rougeL: rougeL(text, answer),
    recall: right / Math.max(1, wanted),
    precision: right / Math.max(1, words),
    words,
  };
}

/** Another answerer, of which so many words are taken for each question as the first one gives. */
export const atLengthOf =
  (measured: Answer, other: Answer): Answer =>
  (candidates, question, most) => {
    const words = measured(candidates, question, most).flatMap(({ text }) => text.split(" "));
    return cutTo(other(candidates, question, MOST_SENTENCES), words.length);
  };

const MOST_SENTENCES = 40;

/** The first so many words of sentences, each part still a slice of its sentence. */
function cutTo(sentences: readonly Candidate[], most: number): Candidate[] {
  let left = most;
  return sentences.flatMap((sentence) => {
    const kept = sentence.text.split(" ").slice(0, left);
    left -= kept.length;
    return kept.length === 0 ? [] : [{ ...sentence, text: kept.join(" ") }];
  });
}
