import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { PartRecord } from "../../shared/job/run-result.ts";
import type { RunTrace } from "../run-trace.ts";
import { callParts } from "../answer/call-model.ts";
import {
  FEWEST_ROOM,
  isOverflow,
  mapReduce,
  partFooter,
  roomForEvidence,
  wholeFooter,
} from "../answer/map-reduce.ts";
import { joinEvidence, spansOf } from "../answer/parts.ts";
import type { PartEvidence } from "../answer/parts.ts";
import { fencePieces } from "../answer/prompt.ts";
import {
  ANSWER_CLAIMS_PROMPT,
  ANSWER_FROM_FILES_PROMPT,
  ANSWER_FROM_NOTES_PROMPT,
  ANSWER_PROMPT,
  CLAIMS_FROM_NOTES_PROMPT,
  NOTE_OF_FILE,
  NOTE_PART_PROMPT,
  OF_NOTES,
} from "../answer/prompts.ts";
import { askWithRepair } from "../answer/repair-loop.ts";
import { FENCE_CHARS, fitPieces } from "../evidence/fence.ts";
import { outputsHash } from "../evidence/footer.ts";
import { numberBesideFiles, numberFilesFrom, titleOf } from "../evidence/number.ts";
import { ADMITTED, filePiece } from "../evidence/piece.ts";
import type { AdmittedEvidence, PipelineSettings, Reading } from "../evidence/types.ts";
import type { EvidenceBlock } from "../models/model.ts";
import {
  contentStems,
  stemWord,
  subjectWordsOf,
  withoutFunctionWords,
} from "../text/content-words.ts";
import type { AnswerRules } from "../verify/check-answer.ts";
import type { PassedReply } from "../verify/check-reply.ts";
import { ANSWER_CLAIMS } from "../verify/claims-reply.ts";
import {
  answerRequest,
  answerRules,
  askForPart,
  toDraft,
  formFor,
  partRules,
} from "./answer-request.ts";
import type { AnswerRequest, CheckAnswer, Drafted } from "./answer-request.ts";
import type { Answerers, AskRun } from "./ask-run.ts";

/** The inputs that every call of the second pass for one question shares. */
type AnswerRun = Pick<AskRun, "deps" | "trace" | "signal"> & {
  /** The question as the prompt shows it. */
  readonly question: string;
  readonly admitted: AdmittedEvidence;
  readonly answerers: Answerers;
  /** The operator's durable notes, as the prompt shows them. */
  readonly notes: string;
  readonly check: CheckAnswer;
};

/**
 * The answer from the admitted evidence, with its footer and citations; each reply is checked as it arrives. A file beyond
 * the model's window is first read part by part, and the answer rests on the notes about each part.
 */
export function secondPass(run: AnswerRun): Promise<Drafted | Refusal> {
  run.trace.memory(run.answerers.notes.ids);
  const [file, ...others] = run.admitted.files;
  if (file === undefined) return answerOnce(run, { shown: [], sources: [] }, 1);
  return others.length === 0 ? answerFromFile(run, file) : answerFromFiles(run);
}

/**
 * The answer to a question from one file: at once, or from notes on its parts if it exceeds the model's window.
 * Refusals: those of `mapReduce` and `answerOnce`.
 */
const answerFromFile = (run: AnswerRun, file: Reading): Promise<Drafted | Refusal> =>
  mapReduce<Drafted>({
    ...partsRun(run, file, run.trace),
    room: roomFor(run),
    askWhole: (whole, parts) => answerOnce(run, whole, parts),
  });

/**
 * The answer to a question from all of several files. They share the model's window fairly: a file within its share is shown
 * whole, a longer one as notes on its parts. If the prompt overflows all the same, because the text is dense, the shares are
 * halved.
 *
 * Refusals: those of `answerOnce` and of the notes, CONTEXT_OVERFLOW (not even short notes of all fit together),
 * EVIDENCE_NOT_ACQUIRED (the model finds nothing in any of them).
 */
async function answerFromFiles(run: AnswerRun): Promise<Drafted | Refusal> {
  const { files } = run.admitted;
  const length = files.reduce((total, { text }) => total + text.length, 0);
  for (let room = roomFor(run); ; room = Math.floor(Math.min(room, length) / 2)) {
    const fitted = await fitFiles(run, room);
    if ("kind" in fitted) return fitted;
    const answer = await answerFrom(run, fitted);
    if (!isOverflow(answer)) {
      // Parts of a try that overflowed are not recorded: the answer does not rest on them.
      recordParts(run.trace, fitted);
      return answer;
    }
    if (room < FEWEST_ROOM) return tooManyFor(run);
  }
}

const tooManyFor = ({ admitted: { files }, answerers }: AnswerRun): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The window of "${answerers.second.name}" is too small for ${files.length} files at once: ` +
      `${files.map(({ path }) => path).join(", ")}. Raise model.num_ctx, or name fewer of them.`,
  );

async function answerFrom(
  run: AnswerRun,
  fitted: readonly FittedFile[],
): Promise<Drafted | Refusal> {
  const whole = joinEvidence(fitted.map(({ evidence }) => evidence));
  const parts = fitted.reduce((total, { parts: ofFile }) => total + leavesIn(ofFile), 0);
  if (whole.shown.length > 0) return answerOnce(run, whole, Math.max(1, parts));
  return refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `The model found nothing to go by in any of the ${fitted.length} files.`,
  );
}

/** Counts the parts of the file itself; parts of higher levels are notes on notes. */
const leavesIn = (parts: readonly PartRecord[]): number =>
  parts.filter(({ level }) => level === 0).length;

/** A file as the last prompt shows it, with the parts that it was read in; no parts if it is shown whole. */
type FittedFile = {
  readonly kind: "fitted";
  readonly evidence: PartEvidence;
  readonly parts: readonly PartRecord[];
};

async function fitFiles(run: AnswerRun, room: number): Promise<readonly FittedFile[] | Refusal> {
  const { files } = run.admitted;
  const lengths = files.map(({ text }) => text.length);
  const shares = shareFairly(lengths, room - files.length * FENCE_CHARS);
  const fitted: FittedFile[] = [];
  for (const [at, file] of files.entries()) {
    const fit = await fitFile(run, file, shares[at] ?? 0);
    if (fit.kind === "refused") return fit;
    fitted.push(fit);
  }
  return fitted;
}

/** Shows nothing of a file in which the model finds nothing: the other files may answer. */
async function fitFile(run: AnswerRun, file: Reading, room: number): Promise<FittedFile | Refusal> {
  const parts: PartRecord[] = [];
  const plan = partsRun(run, file, { part: (part) => void parts.push(part) });
  const fitted = await mapReduce<FittedFile>({
    ...plan,
    room,
    askWhole: async (evidence) => ({ kind: "fitted", evidence, parts }),
  });
  if (fitted.kind === "fitted" || fitted.code !== "EVIDENCE_NOT_ACQUIRED") return fitted;
  return { kind: "fitted", evidence: { shown: [], sources: [] }, parts };
}

/** Records the parts of all files, level by level, and within a level in the order of reading. */
function recordParts(trace: RunTrace, fitted: readonly FittedFile[]): void {
  const parts = fitted.flatMap(({ parts: ofFile }) => ofFile);
  const levels = [...new Set(parts.map(({ level }) => level))].sort((one, other) => one - other);
  for (const level of levels) {
    const layer = parts.filter((part) => part.level === level);
    for (const [ordinal, part] of layer.entries()) trace.part({ ...part, ordinal });
  }
}

/**
 * Shares a room between several texts: a short text gets its whole length, and the longer ones divide the rest equally. The
 * result has the unit of the lengths.
 */
export function shareFairly(lengths: readonly number[], room: number): number[] {
  const shares = lengths.map(() => 0);
  let left = room;
  let others = lengths.length;
  for (const at of [...lengths.keys()].sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0))) {
    const share = Math.min(lengths[at] ?? 0, Math.floor(left / others));
    shares[at] = share;
    left -= share;
    others -= 1;
  }
  return shares;
}

const roomFor = ({ admitted, answerers, question, notes }: AnswerRun): number =>
  roomForEvidence(answerers.second, answerers.route.second, [
    question,
    notes,
    ...[...admitted.passages, ...(admitted.outputs ?? [])].map(({ text }) => text),
  ]);

const partsRun = (run: AnswerRun, file: Reading, trace: Pick<RunTrace, "part">) => ({
  reading: file,
  title: titleOf(file.text),
  model: run.answerers.second.name,
  trace,
  askPart: (part: PartEvidence) => extractNotes(run, file, part),
});

/** Notes what in a part of a file concerns the question. Refuses with EVIDENCE_NOT_ACQUIRED if nothing does. */
async function extractNotes(
  run: AnswerRun,
  file: Reading,
  { shown, sources }: PartEvidence,
): Promise<PassedReply | Refusal> {
  const { question, deps, answerers, notes, trace, signal } = run;
  const { second, route } = answerers;
  const footer = partFooter(file, shown);
  const rules = partRules(deps.settings.ask, { footer, question, evidence: sources });
  const subject = shown.every(({ summaryLevel }) => summaryLevel === null)
    ? NOTE_OF_FILE
    : OF_NOTES;
  const values = { question, subject, footer, notes };
  const hashes = [file.sha256, ...spansOf(shown)];
  const mark = { version: NOTE_PART_PROMPT.version, hashes };
  const fenced = await fencePieces(shown, mark, { ...deps, signal });
  const prompt = fenced.promptOf(NOTE_PART_PROMPT, values);
  const task = { purpose: "answer", question, evidence: shown, sentences: SENTENCES } as const;
  const asked = { model: second, choice: route.second, task, rules, prompt };
  const { boundary } = fenced;
  return askForPart(
    { ...asked, boundary, whenDeclined: () => NOT_ANSWERED },
    callParts(deps, { trace, signal }),
  );
}

/** Sentences that the built-in model without language combines, at least one per file; a language model is asked for few. */
const SENTENCES = 3;

const NOT_ANSWERED =
  "The evidence that was read does not answer the question. Name a file that does, or index more.";
const FILES_DO_NOT_ANSWER =
  "The files that were read do not answer the question. Ask in the words that they use, or without their names.";

const NO_WORD_FOUND =
  "No word of the question stands in what was found. Ask in the words and in the language of the documents, or set a language " +
  "model in model.provider.";

/**
 * A model that only quotes finds nothing when the evidence has no word of the question, as when it is in another language;
 * the message then says so.
 */
function whyDeclined(run: AnswerRun, shown: readonly EvidenceBlock[]): string {
  if (run.admitted.files.length > 0) return FILES_DO_NOT_ANSWER;
  if (run.answerers.second.facts.readsPrompts) return NOT_ANSWERED;
  const held = new Set(shown.flatMap(({ text, path }) => contentStems(`${path} ${text}`)));
  const asked = withoutFunctionWords(subjectWordsOf(run.question)).map(stemWord);
  return asked.some((stem) => held.has(stem)) ? NOT_ANSWERED : NO_WORD_FOUND;
}

/**
 * The answer to the question from all evidence: the whole files (`parts` 1), or notes on that many parts of them, and the
 * passages. Either way it is checked by the words of the files.
 */
async function answerOnce(
  run: AnswerRun,
  fromFiles: PartEvidence,
  parts: number,
): Promise<Drafted | Refusal> {
  const request = await requestFor(run, { fromFiles, parts, found: [] });
  const called = callParts(run.deps, run);
  return toDraft(request, await askWithRepair(request, called), called);
}

type AnswerBasis = {
  readonly fromFiles: PartEvidence;
  readonly parts: number;
  /** Files that checks of the answer found. They get the last numbers, so that earlier numbers do not change. */
  readonly found: readonly Reading[];
};

async function requestFor(base: AnswerRun, basis: AnswerBasis): Promise<AnswerRequest> {
  const { fromFiles, parts, found } = basis;
  const files = [...base.admitted.files, ...found];
  const run = { ...base, admitted: { ...base.admitted, files } };
  const { question, deps, admitted, answerers } = run;
  const first = numberBesideFiles(admitted, fromFiles.shown.length + 1);
  const last = fromFiles.shown.length + first.length + 1;
  const beside = [...first, ...numberFilesFrom(found, last)];
  const shown = [...fromFiles.shown, ...beside];
  const { ask } = deps.settings;
  const rules = answerRules(ask, {
    footer: wholeFooter({ ...admitted, parts }),
    question,
    evidence: [...fromFiles.sources, ...beside],
    citations: citationRule(ask.citations),
  });
  const { second: model, route } = answerers;
  const sentences = Math.max(SENTENCES, admitted.files.length);
  const task = { purpose: "answer", question, evidence: shown, sentences } as const;
  const prompts = await promptsFor(run, fromFiles, { shown, footer: rules.footer, parts });
  const asked = {
    ...{ model, choice: route.second, task, rules, ...prompts },
    claims: formFor(ask.answer_form, model) === "claims" ? prompts.claims : null,
    whenDeclined: () => whyDeclined(base, shown),
    ...(found.length > 0
      ? {
          admit: () => {
            admitFound(run, found);
          },
        }
      : { withFound: (more: readonly Reading[]) => requestWithFound(base, basis, more) }),
  };
  return answerRequest(asked, run.check, callParts(deps, run));
}

function admitFound({ deps, trace }: AnswerRun, found: readonly Reading[]): void {
  trace.evidence(found.map((reading) => filePiece(reading, ADMITTED, deps.previewChars)));
}

/** The same request with files that checks found, as many as fit beside the rest; null if none fits. */
async function requestWithFound(
  run: AnswerRun,
  basis: AnswerBasis,
  more: readonly Reading[],
): Promise<AnswerRequest | null> {
  const { question, notes, answerers, admitted } = run;
  const beside = [...basis.fromFiles.shown, ...admitted.passages, ...(admitted.outputs ?? [])];
  const texts = [question, notes, ...beside.map(({ text }) => text)];
  const room = roomForEvidence(answerers.second, answerers.route.second, texts);
  const found = fitPieces(more, room);
  return found.length === 0 ? null : requestFor(run, { ...basis, found });
}

/** The prompts for an answer as text and as claims: both show the same evidence between the same marks. */
async function promptsFor(
  { question, deps, admitted, notes, signal }: AnswerRun,
  fromFiles: PartEvidence,
  { shown, footer, parts }: Pick<PartEvidence, "shown"> & { footer: string; parts: number },
) {
  const { files, outputs = [], snapshotHash } = admitted;
  const ofOutputs = outputs.length === 0 ? [] : [outputsHash(outputs)];
  const ofFiles = [...files.map(({ sha256 }) => sha256), ...spansOf(fromFiles.shown)];
  const ofNotes = files.length > 1 ? ANSWER_FROM_FILES_PROMPT : ANSWER_FROM_NOTES_PROMPT;
  const template = parts === 1 ? ANSWER_PROMPT : ofNotes;
  const ofClaims = parts === 1 ? ANSWER_CLAIMS_PROMPT : CLAIMS_FROM_NOTES_PROMPT;
  const values = { question, footer, notes };
  const hashes = [...ofFiles, snapshotHash, ...ofOutputs];
  const mark = { version: template.version, hashes };
  const fenced = await fencePieces(shown, mark, { ...deps, signal });
  return {
    boundary: fenced.boundary,
    prompt: fenced.promptOf(template, values),
    claims: {
      // Notes on parts are not words of the file: a claim could not quote its source.
      form: { ...ANSWER_CLAIMS, quotes: parts === 1 },
      prompt: fenced.promptOf(ofClaims, values),
    },
  };
}

/** The rule for citations in an answer that rests on evidence. */
function citationRule({
  enabled,
  strict,
}: PipelineSettings["ask"]["citations"]): AnswerRules["citations"] {
  if (!enabled) return "off";
  return strict ? "required" : "known";
}
