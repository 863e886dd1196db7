import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { DigestInput } from "../../shared/job.ts";
import { routeModels } from "../../shared/route-models.ts";
import type { Citation, Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { modelOf, modelUse } from "./call-model.ts";
import type { CallParts } from "./call-model.ts";
import type { DigestRun } from "./digest/ask-digest.ts";
import type { DigestChild } from "./digest/digest-child.ts";
import { sha256Of } from "./digest/digest-item.ts";
import type { DigestItem } from "./digest/digest-item.ts";
import { digestInLevels } from "./digest/digest-in-levels.ts";
import type { ToldLine } from "./digest/digest-in-levels.ts";
import { leftOutOf, nameLeftOut } from "./digest/name-left-out.ts";
import { countLines } from "./evidence-piece.ts";
import { quoteName } from "./fence-evidence.ts";
import { notesFor } from "./notes-for.ts";
import { roomForEvidence } from "./parts/room-for-evidence.ts";
import type { PipelineDependencies } from "./pipeline-dependencies.ts";

type DigestJob = { readonly input: DigestInput };
type DigestDependencies = Pick<
  PipelineDependencies,
  "settings" | "models" | "notes" | "calls" | "aside" | "fenceKey"
>;

/**
 * What jobs said, told in a few lines, each of which cites the jobs that carry it. The evidence is their answers, in the
 * order given; those without one are named by us with their code, below the lines and in `summary.failed`.
 *
 * Refusals: EVIDENCE_NOT_ACQUIRED (no job has an answer, or the model finds nothing in them), and those of `askTwice`.
 */
export async function digestChildren(
  { input }: DigestJob,
  children: readonly DigestChild[],
  deps: DigestDependencies,
  { trace, signal }: { readonly trace: RunTrace; readonly signal: AbortSignal },
): Promise<Outcome> {
  const items = itemsOf(children);
  const leftOut = leftOutOf(children);
  if (items.length === 0) return nothingToTell(children);
  const footer = digestFooter(items, children.length);
  const run = await digestRun(input, items.length, deps, {
    calls: deps.calls,
    aside: deps.aside,
    trace,
    signal,
  });
  const room = roomForEvidence(run.model, run.choice, [run.notes, run.subject]);
  const told = await digestInLevels(run, items, room, footer);
  if (told.kind === "refused") return told;
  const body = told.lines.map(({ text }) => text);
  const named = nameLeftOut(leftOut);
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
  answered(children).map(({ words, path }, index) => ({
    text: words,
    path,
    children: [index + 1],
    level: 0,
  }));

type Answered = DigestChild & { readonly words: string };

const answered = (children: readonly DigestChild[]): Answered[] =>
  children.flatMap((child) =>
    child.words === null || child.words === "" ? [] : [{ ...child, words: child.words }],
  );

/** Of what the digest rests: how many of its jobs have an answer, and the SHA-256 of the lines `path sha256` of those. */
function digestFooter(items: readonly DigestItem[], children: number): string {
  const snapshot = sha256Of(items.map(({ path, text }) => `${path} ${sha256Of(text)}`).join("\n"));
  const plural = (count: number, noun: string): string =>
    `${count} ${noun}${count === 1 ? "" : "s"}`;
  return `Scope: ${plural(items.length, "answer")} of ${plural(children, "job")}, snapshot=${snapshot}`;
}

const FEWEST_LINES = 6;
const MOST_LINES = 30;

async function digestRun(
  { title, level, options }: DigestInput,
  items: number,
  { settings, models, notes, fenceKey }: DigestDependencies,
  parts: CallParts,
): Promise<DigestRun> {
  const { second: choice } = routeModels("", settings.model, options ?? {});
  const model = await modelOf(choice, models, parts.signal);
  parts.trace.models([modelUse("second", model, choice)]);
  const shownNotes = await notesFor(model, { notes }, parts.trace);
  parts.trace.memory(shownNotes.ids);
  return {
    subject: level === "folder" ? `the folder ${quoteName(title)}` : "a batch of jobs",
    lines: options?.lines ?? Math.min(MOST_LINES, Math.max(FEWEST_LINES, items)),
    settings: settings.ask,
    model,
    choice,
    notes: shownNotes.text,
    fenceKey,
    parts,
  };
}

/** Each child that is cited once, by number. Its lines are those of its answer. */
function citationsOf(lines: readonly ToldLine[], children: readonly DigestChild[]): Citation[] {
  const numbered = answered(children);
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

const MOST_TOLD = 5;

function nothingToTell(children: readonly DigestChild[]): Refusal {
  const named = leftOutOf(children)
    .slice(0, MOST_TOLD)
    .map(
      ({ path, state, error_code: code }) => `${path} ${state}${code === null ? "" : ` (${code})`}`,
    );
  const more = children.length - named.length;
  return refuse(
    "EVIDENCE_NOT_ACQUIRED",
    children.length === 0
      ? "There is no job that it could be a digest of."
      : `None of its jobs has an answer: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
  );
}
