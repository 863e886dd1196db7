import type { Refusal } from "../../shared/failure.ts";
import type { SummarizeInput } from "../../shared/job/job.ts";
import type { RunTrace } from "../run-trace.ts";
import type { RunEnd } from "../../shared/job/settlement.ts";
import { callParts } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { partFooter, roomForEvidence, wholeFooter, mapReduce } from "../answer/map-reduce.ts";
import { spansOf } from "../answer/parts.ts";
import type { PartEvidence } from "../answer/parts.ts";
import { fencePieces } from "../answer/prompt.ts";
import {
  OF_SUMMARIES,
  SUMMARIZE_PROMPT,
  SUMMARY_CLAIMS_PROMPT,
  SUMMARY_OF_FILE,
} from "../answer/prompts.ts";
import { askWithRepair } from "../answer/repair-loop.ts";
import { quoteName } from "../evidence/fence.ts";
import { titleOf } from "../evidence/number.ts";
import { readWholeFile } from "../evidence/read.ts";
import type { PipelineDependencies, PipelineSettings, Reading } from "../evidence/types.ts";
import type { AnswerRules } from "../verify/check-answer.ts";
import {
  answerRequest,
  answerRules,
  askForPart,
  createCheck as check,
  toDraft,
  formFor,
  partRules,
  answerOutcome,
} from "./answer-request.ts";
import type { CheckAnswer, Drafted } from "./answer-request.ts";
import { selectAnswerer } from "./ask-run.ts";
import type { Answerer } from "./ask-run.ts";
import { endOf, verify } from "./verification/verify.ts";

type SummarizeJob = { readonly jobId: string; readonly input: SummarizeInput };

/**
 * A summary of a whole file: reads and gates it, summarises it at once or in parts that cover it completely, adds a footer that
 * states the coverage, checks and verifies the summary.
 *
 * Refusals: those of the read, FILE_EMPTY, EVIDENCE_TRUNCATED (over ask.max_chars_full_read), and those of the second pass.
 */
export async function summarizeFile(
  { input }: SummarizeJob,
  deps: PipelineDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<RunEnd> {
  const reading = await readWholeFile(input.path, deps, trace);
  if (reading.kind === "refused") return reading;
  const parts = callParts(deps, { trace, signal });
  const run = await summaryRun(input, reading, deps, parts);
  const draft = await secondPass(run, check);
  if (draft.kind !== "draft") return draft;
  return endOf(await verify(draft, parts), answerOutcome);
}

const SENTENCES = { sentence: 1, short: 2, medium: 5, long: 10 } as const;

async function summaryRun(
  input: SummarizeInput,
  reading: Reading,
  deps: PipelineDependencies,
  parts: CallParts,
): Promise<SummaryRun> {
  const { options } = input;
  return {
    ...(await selectAnswerer(options, deps, parts)),
    settings: deps.settings.ask,
    reading,
    title: titleOf(reading.text) ?? reading.path,
    sentences: SENTENCES[options?.length ?? "medium"],
    style: options?.bullets === true ? "bullets" : "prose",
  };
}

type SummaryRun = Answerer & {
  readonly settings: PipelineSettings["ask"];
  readonly reading: Reading;
  readonly title: string;
  readonly sentences: number;
  readonly style: "prose" | "bullets";
};

/** The least sentences per summary of a part: the whole summary never sees what a part leaves out. */
const FEWEST_PART_SENTENCES = 5;

/** Summarises a text at once or in parts that cover it completely; the footer states the coverage. */
function secondPass(run: SummaryRun, check: CheckAnswer): Promise<Drafted | Refusal> {
  const { reading, title, model, choice, notes, parts, settings } = run;
  return mapReduce<Drafted>({
    reading,
    title,
    room: roomForEvidence(model, choice, [notes, title]),
    model: model.name,
    trace: parts.trace,
    async askPart(part) {
      const footer = partFooter(reading, part.shown);
      const rules = partRules(settings, { footer, question: "", evidence: part.sources });
      const sentences = Math.max(run.sentences, FEWEST_PART_SENTENCES);
      const { part: subject } = wordingFor(part);
      const asked = await requestFor(run, part, { subject, rules, sentences });
      // Nobody sees the summary of a part, so it always has the form of text.
      return askForPart(asked, parts);
    },
    async askWhole(whole, of) {
      const footer = wholeFooter({ files: [reading], parts: of, passages: [], snapshotHash: "" });
      const about = { footer, question: "", evidence: whole.sources, citations: "known" } as const;
      const rules = answerRules(settings, about);
      const { whole: subject } = wordingFor(whole);
      const asked = await requestFor(run, whole, { subject, rules, sentences: run.sentences });
      const claims = formFor(settings.answer_form, model) === "claims" ? asked.claims : null;
      const request = answerRequest({ ...asked, claims }, check, parts);
      return toDraft(request, await askWithRepair(request, parts), parts);
    },
  });
}

const NOTHING_TO_TELL =
  "The model found nothing to summarise in the file. Look whether it holds more than headings and lists.";

const wordingFor = ({ shown }: PartEvidence): typeof SUMMARY_OF_FILE | typeof OF_SUMMARIES =>
  shown.every(({ summaryLevel }) => summaryLevel === null) ? SUMMARY_OF_FILE : OF_SUMMARIES;

type SummaryRequest = {
  readonly subject: string;
  readonly rules: AnswerRules;
  readonly sentences: number;
};

/** The request as text and as claims: both prompts show the same evidence between the same marks. */
async function requestFor(
  run: SummaryRun,
  { shown, sources }: PartEvidence,
  { subject, rules, sentences }: SummaryRequest,
) {
  const { reading, model, choice, title, style, notes } = run;
  const hashes = [reading.sha256, ...spansOf(shown)];
  const mark = { version: SUMMARIZE_PROMPT.version, hashes };
  const fenced = await fencePieces(shown, mark, { fenceKey: run.fenceKey, ...run.parts });
  const { quotable, claim, quote } = wordingFor({ shown, sources });
  const path = quoteName(reading.path);
  const told = { path, subject, quotable, notes, sentences: String(sentences) };
  const layout = style === "bullets" ? "list" : "prose";
  const values = { ...told, footer: rules.footer, style: style === "bullets" ? "a list" : "prose" };
  const task = { purpose: "summarize", title, evidence: shown, sentences, style } as const;
  return {
    ...{
      model,
      choice,
      task,
      rules,
      boundary: fenced.boundary,
      whenDeclined: () => NOTHING_TO_TELL,
    },
    prompt: fenced.promptOf(SUMMARIZE_PROMPT, values),
    claims: {
      form: { layout, quotes: quote !== "", cites: false } as const,
      prompt: fenced.promptOf(SUMMARY_CLAIMS_PROMPT, { ...told, claim, quote }),
    },
  };
}
