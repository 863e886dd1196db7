import type { Refusal } from "../../shared/failure.ts";
import type { Model } from "../model/model.ts";
import { answerRules, partRules } from "./answer-rules.ts";
import type { CallParts } from "./call-model.ts";
import type { AnswerRules } from "./check-answer.ts";
import type { PassedReply } from "./check-reply.ts";
import { fenceBoundary, fenceLong, quoteName } from "./fence-evidence.ts";
import { wholeFooter, partFooter } from "./parts/part-footer.ts";
import { spansOf } from "./parts/part-node.ts";
import type { PartEvidence } from "./parts/part-node.ts";
import type { PipelineSettings, Reading } from "./pipeline-dependencies.ts";
import { renderPrompt } from "./prompts/prompt.ts";
import { OF_FILE, OF_SUMMARIES, SUMMARIZE_PROMPT } from "./prompts/summarize-prompt.ts";
import { roomForEvidence } from "./parts/room-for-evidence.ts";
import type { ModelChoice } from "../../shared/route-models.ts";
import { secondPass } from "./second-pass.ts";
import type { SecondPass } from "./second-pass.ts";
import { workInParts } from "./parts/work-in-parts.ts";

export type SummaryRun = {
  readonly fenceKey: Buffer;
  readonly settings: PipelineSettings["ask"];
  readonly reading: Reading;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly title: string;
  readonly sentences: number;
  readonly style: "prose" | "bullets";
  /** The operator's durable notes, as the prompt shows them. */
  readonly notes: string;
  readonly parts: CallParts;
};

export type Summary = {
  readonly kind: "summary";
  readonly answer: PassedReply;
  readonly rules: AnswerRules;
};

/** Sentences of the summary of a part: what it leaves out is gone for the whole. */
const FEWEST_PART_SENTENCES = 5;

/** Summarises a text at once, or in parts that cover it completely, with a footer that says so. */
export function summarizeText(run: SummaryRun): Promise<Summary | Refusal> {
  const { reading, title, model, choice, notes } = run;
  return workInParts<Summary>({
    reading,
    title,
    room: roomForEvidence(model, choice, [notes, title]),
    model: model.name,
    trace: run.parts.trace,
    askPart: (part) =>
      summarize(run, part, {
        pass: "part",
        subject: wordsFor(part).part,
        footer: partFooter(reading, part.shown),
        sentences: Math.max(run.sentences, FEWEST_PART_SENTENCES),
      }).then(({ answer }) => answer),
    askWhole: async (whole, parts) => {
      const { answer, rules } = await summarize(run, whole, {
        pass: "second",
        subject: wordsFor(whole).whole,
        footer: wholeFooter({ file: reading, parts, passages: [], snapshotHash: "" }),
        sentences: run.sentences,
      });
      return answer.kind === "refused" ? answer : { kind: "summary", answer, rules };
    },
  });
}

type Ask = {
  readonly pass: SecondPass["pass"];
  readonly subject: string;
  readonly footer: string;
  readonly sentences: number;
};

const wordsFor = ({ shown }: PartEvidence): typeof OF_FILE | typeof OF_SUMMARIES =>
  shown.every(({ summaryLevel }) => summaryLevel === null) ? OF_FILE : OF_SUMMARIES;

async function summarize(
  run: SummaryRun,
  { shown, sources }: PartEvidence,
  { pass, subject, footer, sentences }: Ask,
): Promise<{ readonly answer: PassedReply | Refusal; readonly rules: AnswerRules }> {
  const { reading, model, choice, title, style } = run;
  const boundary = fenceBoundary(
    SUMMARIZE_PROMPT.version,
    [reading.sha256, ...spansOf(shown)],
    run.fenceKey,
  );
  const about = { footer, question: "", evidence: sources };
  const rules =
    pass === "part"
      ? partRules(run.settings, about)
      : answerRules(run.settings, { ...about, citations: "known" });
  const values = {
    path: quoteName(reading.path),
    subject,
    quotable: wordsFor({ shown, sources }).quotable,
    footer,
    notes: run.notes,
    sentences: String(sentences),
    style: style === "bullets" ? "a list" : "prose",
  };
  const evidence = { text: await fenceLong(shown, boundary, run.parts), shown };
  const prompt: SecondPass["prompt"] = (correction) =>
    renderPrompt(SUMMARIZE_PROMPT, { values, boundary, evidence, correction });
  const task = { purpose: "summarize", title, evidence: shown, sentences, style } as const;
  const plan = { pass, model, choice, task, rules, boundary, prompt };
  return { answer: await secondPass(plan, run.parts), rules };
}
