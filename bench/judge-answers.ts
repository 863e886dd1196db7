import type { Candidate } from "../src/worker/models/extractive/candidates.ts";
import type { Meeting } from "./meetings.ts";
import { rouge, rougeL, wordsIn } from "./rouge.ts";

export type Answer = (
  candidates: readonly Candidate[],
  question: string,
  most: number,
) => readonly Candidate[];

export type AskedMeeting = Meeting & { readonly candidates: readonly Candidate[] };

/** How answers are cut: so many sentences as they come, or so many words of as many sentences as it takes. */
export type Cut = { readonly sentences: number; readonly words: number };

/** Prints how an answerer does on all questions: ROUGE against what people wrote, and what it shows of the judged turns. */
export function judgeAnswers(
  name: string,
  meetings: readonly AskedMeeting[],
  answer: Answer,
  cut: Cut,
): void {
  const judged = meetings.flatMap((meeting) =>
    meeting.specific.map((query) => {
      const shown = cutTo(answer(meeting.candidates, query.question, cut.sentences), cut.words);
      return judge(shown, query, meeting.turns);
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
  shown: readonly { readonly text: string; readonly words: number }[],
  { answer, turns: judgedTurns }: Meeting["specific"][number],
  turns: readonly string[],
): Validated {
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

/** The first so many words of sentences, each part still a slice of its sentence. */
function cutTo(
  sentences: readonly Candidate[],
  most: number,
): { readonly text: string; readonly words: number }[] {
  let left = most;
  return sentences.flatMap(({ text }) => {
    const kept = text.split(" ").slice(0, left);
    left -= kept.length;
    return kept.length === 0 ? [] : [{ text: kept.join(" "), words: kept.length }];
  });
}
