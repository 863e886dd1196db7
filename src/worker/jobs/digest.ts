import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { DigestInput } from "../../shared/job/job.ts";
import type { Citation, Outcome } from "../../shared/job/run-result.ts";
import type { RunTrace } from "../run-trace.ts";
import { selectDigestChildren } from "../../shared/store/jobs/dependencies.ts";
import type { ChildRow } from "../../shared/store/jobs/dependencies.ts";
import { plural } from "../evidence/footer.ts";
import type { PipelineDependencies } from "../evidence/types.ts";
import { callParts } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { leftOutNote } from "../verify/check-answer.ts";
import { askDigest, emptyDigest } from "./ask-digest.ts";
import type { DigestLine, DigestRun } from "./ask-digest.ts";
import { selectAnswerer } from "./ask-run.ts";
import {
  answerWords,
  fieldWords,
  groupItems,
  leftOutOf,
  leftOutLines,
  promptLength,
  sha256Of,
} from "./digest-items.ts";
import type { DigestChild, DigestItem } from "./digest-items.ts";
import { countLines } from "../evidence/piece.ts";
import { quoteName } from "../evidence/fence.ts";
import { isOverflow, roomForEvidence } from "../answer/map-reduce.ts";
import type { WorkerResources } from "../resources.ts";
import type { JobCall } from "./open-run.ts";

/** Writes the digest of the jobs that this job depends on, from their rows as they are now. */
export async function runDigest(
  { job, input, trace, signal }: JobCall<DigestInput>,
  { database }: Pick<WorkerResources, "database">,
  pipeline: PipelineDependencies,
): Promise<Outcome> {
  const children = await trace.step("children", () => loadChildren(job.jobId, database));
  trace.detail("children", { children: children.length });
  return digestChildren({ input }, children, pipeline, { trace, signal });
}

/** The child jobs of a digest with their answers, in its order. */
export const loadChildren = async (
  jobId: string,
  database: WorkerResources["database"],
): Promise<DigestChild[]> => (await selectDigestChildren(database, jobId)).map(toChild);

function toChild(row: ChildRow): DigestChild {
  const { job_id: jobId, kind, state, error_code: errorCode, path, left_out: leftOut } = row;
  return { jobId, kind, state, errorCode, path, words: wordsOf(row), leftOut: leftOut ?? [] };
}

function wordsOf({ fields, answer }: ChildRow): string | null {
  if (fields !== null) return fieldWords(fields);
  return answer === null ? null : answerWords(answer);
}

type DigestDependencies = Pick<
  PipelineDependencies,
  "settings" | "models" | "notes" | "calls" | "offload" | "fenceKey"
>;

/**
 * Summarizes answers of jobs in a few lines, each of which cites the jobs that support it. The evidence is the answers, in
 * the given order. Code, not the model, names the jobs without an answer with their error code: below the lines and in
 * `summary.failed`.
 *
 * Refusals: EVIDENCE_NOT_ACQUIRED (no job has an answer, or the model finds nothing in them), and those of `askWithRepair`.
 */
export async function digestChildren(
  { input }: { readonly input: DigestInput },
  children: readonly DigestChild[],
  deps: DigestDependencies,
  { trace, signal }: { readonly trace: RunTrace; readonly signal: AbortSignal },
): Promise<Outcome> {
  const items = itemsOf(children);
  const leftOut = leftOutOf(children);
  if (items.length === 0) return nothingToTell(children);
  const footer = digestFooter(items, children.length);
  const run = await digestRun(input, items.length, deps, callParts(deps, { trace, signal }));
  const room = roomForEvidence(run.model, run.choice, [run.notes, run.subject]);
  const told = await digestInLevels(run, items, room, footer);
  if (told.kind === "refused") return told;
  const body = told.lines.map(({ text }) => text);
  const dropped = told.dropped === 0 ? [] : [leftOutNote(told.dropped)];
  const named = [...dropped, ...leftOutLines(leftOut)];
  const answer = [...body, ...(named.length === 0 ? [] : ["", ...named]), footer].join("\n");
  const counts = { children: children.length, succeeded: items.length, failed: leftOut };
  return {
    kind: "succeeded",
    answer,
    scope: footer,
    citations: citationsOf(told.lines, children),
    summary: { ...counts, levels: told.levels },
  };
}

/** Numbered from 1 among the children that have an answer, as the prompt shows them. */
const itemsOf = (children: readonly DigestChild[]): DigestItem[] =>
  childrenWithAnswers(children).map(({ words, path }, index) => ({
    text: words,
    path,
    children: [index + 1],
    level: 0,
  }));

type ChildWithWords = DigestChild & { readonly words: string };

const childrenWithAnswers = (children: readonly DigestChild[]): ChildWithWords[] =>
  children.flatMap((child) =>
    child.words === null || child.words === "" ? [] : [{ ...child, words: child.words }],
  );

/** The basis of the digest: how many of its jobs have an answer, and the SHA-256 of the lines `path sha256` of those. */
function digestFooter(items: readonly DigestItem[], children: number): string {
  const snapshot = sha256Of(items.map(({ path, text }) => `${path} ${sha256Of(text)}`).join("\n"));
  return `Scope: ${plural(items.length, "answer")} of ${plural(children, "job")}, snapshot=${snapshot}`;
}

const FEWEST_LINES = 6;
const MOST_LINES = 30;

async function digestRun(
  { title, level, options }: DigestInput,
  items: number,
  deps: DigestDependencies,
  parts: CallParts,
): Promise<DigestRun> {
  return {
    ...(await selectAnswerer(options, deps, parts)),
    subject: level === "folder" ? `the folder ${quoteName(title)}` : "a batch of jobs",
    lines: options?.lines ?? Math.min(MOST_LINES, Math.max(FEWEST_LINES, items)),
    settings: deps.settings.ask,
  };
}

/** Each cited child once, by number. The line numbers are those of its answer. */
function citationsOf(lines: readonly CitedLine[], children: readonly DigestChild[]): Citation[] {
  const numbered = childrenWithAnswers(children);
  const cited = [...new Set(lines.flatMap((line) => line.children))].sort(
    (one, other) => one - other,
  );
  return cited.flatMap((number): Citation[] => {
    const child = numbered[number - 1];
    if (child === undefined) return [];
    const { path, jobId, words } = child;
    const lineEnd = countLines(words);
    return [{ number, path, jobId, heading: null, chunkKey: null, lineStart: 1, lineEnd }];
  });
}

const MOST_NAMED = 5;

function nothingToTell(children: readonly DigestChild[]): Refusal {
  const named = children.slice(0, MOST_NAMED).map(({ path, state, errorCode, words }) => {
    if (words !== null) return `${path} found nothing`;
    return `${path} ${state}${errorCode === null ? "" : ` (${errorCode})`}`;
  });
  const more = children.length - named.length;
  return refuse(
    "EVIDENCE_NOT_ACQUIRED",
    children.length === 0
      ? "There is no job that it could be a digest of."
      : `None of its jobs has an answer: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
  );
}

/** A line of the finished digest, with the numbers of the children that it cites. */
type CitedLine = { readonly text: string; readonly children: readonly number[] };

type WrittenDigest = {
  readonly kind: "told";
  readonly lines: readonly CitedLine[];
  /** How many statements were removed from the lines of all levels. */
  readonly dropped: number;
  readonly levels: number;
};

/** The smallest room that is used, even if the estimate is lower: the host reports an overflow anyway. */
const FEWEST_ROOM = 1_200;

/**
 * Makes the digest of all items at once if they fit the model's window; else of groups of neighbours, and then of the lines
 * about those groups, in as many levels as it takes. A line of an upper level cites lines, and represents the children that
 * those cite, so every line of the digest leads to children.
 *
 * Refusals: those of `askWithRepair`; CONTEXT_OVERFLOW when a level does not reduce the number of items.
 */
async function digestInLevels(
  run: DigestRun,
  items: readonly DigestItem[],
  room: number,
  footer: string,
): Promise<WrittenDigest | Refusal> {
  let layer = items;
  let [levels, droppedBelow] = [0, 0];
  let groupRoom = Math.max(room, FEWEST_ROOM);
  for (;;) {
    const length = promptLength(layer);
    const whole =
      length <= groupRoom
        ? await askDigest(run, layer, { pass: "second", footer, lines: run.lines })
        : null;
    if (whole?.kind === "kept") {
      const lines = toCitedLines(whole.value.lines, layer, levels);
      return { kind: "told", lines, dropped: droppedBelow + whole.value.dropped, levels };
    }
    const next = whole ?? (await nextLayer(run, layer, groupRoom, footer));
    if ("kind" in next) {
      if (!isOverflow(next) || groupRoom < FEWEST_ROOM) return next;
      // The items should have fitted: the text has more tokens per character than estimated.
      groupRoom = Math.floor(Math.min(groupRoom, length) / 2);
      continue;
    }
    if (next.items.length >= layer.length) return tooSmall(run);
    layer = next.items;
    levels += 1;
    droppedBelow += next.dropped;
  }
}

async function nextLayer(
  run: DigestRun,
  layer: readonly DigestItem[],
  room: number,
  footer: string,
): Promise<{ readonly items: readonly DigestItem[]; readonly dropped: number } | Refusal> {
  const items: DigestItem[] = [];
  let dropped = 0;
  for (const group of groupItems(layer, room)) {
    const lines = Math.min(run.lines, Math.max(1, Math.floor(group.length / 2)));
    const asked = await askDigest(run, group, { pass: "part", footer, lines });
    if (asked.kind === "refused") {
      if (asked.code === "EVIDENCE_NOT_ACQUIRED") continue;
      return asked;
    }
    for (const line of asked.value.lines) items.push(itemOf(line, group));
    dropped += asked.value.dropped;
  }
  return items.length === 0 ? emptyDigest() : { items, dropped };
}

function itemOf({ words, numbers }: DigestLine, group: readonly DigestItem[]): DigestItem {
  const cited = numbers.flatMap((number) => group[number - 1] ?? []);
  const paths = [...new Set(cited.map(({ path }) => path))];
  const level = 1 + Math.max(0, ...cited.map((item) => item.level));
  const [first = "", ...others] = paths;
  const path = others.length === 0 ? first : `${first} and ${String(others.length)} more`;
  return { text: words, path, children: childrenOf(cited), level };
}

const childrenOf = (items: readonly DigestItem[]): number[] =>
  [...new Set(items.flatMap(({ children }) => children))].sort((one, other) => one - other);

/** Without levels the numbers are the children's own, and the line stays as the model wrote it. */
const toCitedLines = (
  lines: readonly DigestLine[],
  layer: readonly DigestItem[],
  levels: number,
): CitedLine[] =>
  lines.map(({ text, words, numbers }) => {
    const children = childrenOf(numbers.flatMap((number) => layer[number - 1] ?? []));
    return { children, text: levels === 0 ? text : `- ${words} [${children.join(", ")}]` };
  });

const tooSmall = ({ model }: DigestRun): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The window of "${model.name}" is too small to put the lines about the jobs together. Raise model.num_ctx.`,
  );
