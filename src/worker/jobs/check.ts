import { z } from "zod";
import type { CheckInput, InvestigateInput } from "../../shared/job/job.ts";
import { JUDGE_RULE } from "../../shared/job/run-result.ts";
import type { Outcome } from "../../shared/job/run-result.ts";
import type { Objection, UnresolvedReason, Verdict } from "../../shared/job/verification.ts";
import type { RunTrace } from "../run-trace.ts";
import { callParts } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { roomForEvidence } from "../answer/map-reduce.ts";
import { leavesOf } from "../answer/parts.ts";
import { fencePieces } from "../answer/prompt.ts";
import { FENCE_CHARS, quoteName } from "../evidence/fence.ts";
import { numberEvidence } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import type { AdmittedEvidence, Auditor } from "../evidence/types.ts";
import { charsIn } from "../models/model.ts";
import { cleanText, firstCodePoints } from "../text/clean-text.ts";
import { contentStems } from "../text/content-words.ts";
import { READ_QUOTED } from "../verify/checks/quoted-words.ts";
import { gate } from "./investigate/investigate.ts";
import { lookAround, openExploration } from "./investigate/look-around.ts";
import type { InvestigateDependencies, InvestigateRun } from "./investigate/look-around.ts";
import { openGrant } from "./investigate/open-grant.ts";
import { ENDED_UNREADABLE } from "./investigate/policies.ts";
import type { Answerers } from "./ask-run.ts";
import { askForObject } from "./verification/auditor.ts";
import { VERDICT_PROMPT, VERDICT_SCHEMA } from "./verification/prompts.ts";

/** The preset of every check, whatever preset the checked job has: no tool that changes anything or reaches the network. */
const PRESET = "readonly_safe";

/**
 * Checks one statement: a loop of tools with a grant of its own, and then yes, no or unknown from what the loop found. The
 * check knows the question, the statement, the task of the job and the files that the statement rests on, and nothing else
 * of the run that it checks. A yes or a no quotes words of the evidence, or it becomes an unknown. Whether a quote in favour
 * of the statement supports it is graded like an answer.
 *
 * Refusals: those of an investigation before its answer.
 * @param steps the most tool calls beside the reads of the files that the statement rests on
 */
export async function checkClaim(
  input: CheckInput,
  deps: InvestigateDependencies & { readonly steps: number },
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Outcome> {
  const audit = auditOf(input, deps.steps);
  const run = { input: audit, deps, trace, signal, checked: input.paths };
  const grant = await trace.step("grant", () => openGrant(audit, deps));
  if ("kind" in grant) return grant;
  const looking = await openExploration(run, grant);
  const ended = await lookAround(run, looking);
  const admitted = await gate(run, looking, ended);
  if (admitted.kind === "refused") return admitted;
  const why = ended.kind === "ended" ? ended.why : "";
  const verdict = await trace.step("verdict", () =>
    giveVerdict(input, { admitted, answerers: looking.answerers, ended: why }, run),
  );
  trace.detail("verdict", { answer: verdict.answer, reason: verdict.reason });
  return {
    kind: "succeeded",
    answer: `${verdict.answer}: ${verdict.detail}`,
    scope: null,
    citations: verdict.evidence.map(({ path, line_start, line_end, quote }) => ({
      path,
      heading: null,
      chunkKey: null,
      lineStart: line_start,
      lineEnd: line_end,
      ...(quote === null ? {} : { quote }),
    })),
    summary: { ...verdict },
  };
}

/** The check as an investigation with its own question. */
function auditOf(input: CheckInput, steps: number): InvestigateInput {
  const { path_prefix, model } = input.options ?? {};
  const calls = steps + input.paths.length;
  return {
    kind: "investigate",
    task: auditTask(input),
    preset: PRESET,
    limits: { steps: 2 * calls + 1, calls },
    options: {
      ...(path_prefix === undefined ? {} : { path_prefix }),
      ...(model === undefined ? {} : { model }),
    },
  };
}

/** A model wrote the statement and the question, from documents: both stand in quotes, on one line each. */
const auditTask = ({ task, claim, question }: CheckInput): string =>
  [
    `Is the answer to this question yes, no, or can nobody say? ${quoteName(question)}`,
    `It is asked about this statement, which may be wrong: ${quoteName(claim)}`,
    `The statement answers: ${quoteName(task)}`,
    "Look for what speaks against it as well as for what carries it.",
  ].join("\n");

const verdictReply = z.object({
  answer: z.enum(["yes", "no", "unknown"]),
  cites: z.array(z.int()).default([]),
  quote: z.string().nullish(),
});

type CheckSearch = {
  readonly admitted: AdmittedEvidence;
  readonly answerers: Answerers;
  /** Why the search ended. */
  readonly ended: string;
};

async function giveVerdict(
  input: CheckInput,
  { admitted, answerers, ended }: CheckSearch,
  { deps, trace, signal }: InvestigateRun,
): Promise<Verdict> {
  const { second: model, route, notes } = answerers;
  const choice = route.second;
  const task = auditTask(input);
  const room = roomForEvidence(model, choice, [task, notes.text]);
  const sources = numberEvidence(admitted);
  const blocks = fitBlocks(sources, room, `${input.question} ${input.claim}`);
  const parts = callParts(deps, { trace, signal });
  const mark = { version: VERDICT_PROMPT.version, hashes: hashesOf(admitted) };
  const { boundary, promptOf } = await fencePieces(blocks, mark, { ...deps, signal });
  const prompt = promptOf(VERDICT_PROMPT, { task, notes: notes.text });
  const asked = {
    pass: "verdict",
    model,
    choice,
    boundary,
    prompt,
    format: VERDICT_SCHEMA,
  } as const;
  const reply = await askForObject(asked, parts);
  if (reply.kind === "refused") {
    const reason = reply.code === "CONTEXT_OVERFLOW" ? "out_of_budget" : "auditor_failed";
    return unknownVerdict(`The model could not be asked: ${reply.code}.`, reason);
  }
  const read = verdictReply.safeParse(reply.fields);
  if (!read.success) return unknownVerdict("The verdict can't be read.", "auditor_failed");
  return validateVerdict(read.data, { input, sources, ended, auditor: { model, choice } }, parts);
}

const hashesOf = ({ files, passages, outputs = [] }: AdmittedEvidence): readonly string[] => [
  ...files.map(({ sha256 }) => sha256),
  ...passages.map(
    ({ sha256, startChar, endChar }) => `${sha256} ${String(startChar)} ${String(endChar)}`,
  ),
  ...outputs.map(({ sha256 }) => sha256),
];

const unknownVerdict = (detail: string, reason: UnresolvedReason): Verdict => ({
  answer: "unknown",
  detail,
  reason,
  evidence: [],
  against: [],
});

/** Reasons of a loop that a limit ended before the model did. */
const BY_LIMIT = /^\d+(?:\.\d+)? (?:steps|calls|tokens|s)$/;

const MOST_QUOTE_CHARS = 600;

function reasonAfter(ended: string): UnresolvedReason {
  if (ended === ENDED_UNREADABLE) return "auditor_failed";
  return BY_LIMIT.test(ended) ? "out_of_budget" : "source_missing";
}

type VerdictContext = {
  readonly input: CheckInput;
  readonly sources: readonly CitableBlock[];
  readonly ended: string;
  readonly auditor: Auditor;
};

/** Turns a yes or a no into unknown unless its quote stands in a piece that it cites. */
async function validateVerdict(
  { answer, cites, quote }: z.infer<typeof verdictReply>,
  { input, sources, ended, auditor }: VerdictContext,
  parts: CallParts,
): Promise<Verdict> {
  if (answer === "unknown") {
    return unknownVerdict(
      `Nothing that was found decides it; the search ended: ${ended}.`,
      reasonAfter(ended),
    );
  }
  const { task, claim } = input;
  const words = cleanText(quote ?? "").trim();
  const quoted = await parts.offload(
    READ_QUOTED,
    { claim, task, quote: words, cites, sources },
    { chars: charsIn(sources), signal: parts.signal },
  );
  if (quoted === null) {
    return unknownVerdict(
      `It says ${answer}, with words that do not stand in what it cites.`,
      "auditor_failed",
    );
  }
  const { path, lineStart, lineEnd, number } = quoted.span;
  const around = sources.filter((block) => block.number === number);
  const isHeld = answer !== input.carries || quoted.against.length > 0;
  const judged = isHeld ? [] : await judgeObjections({ claim, words, around }, auditor, parts);
  return {
    answer,
    detail: "",
    reason: null,
    evidence: [
      {
        path,
        line_start: lineStart,
        line_end: lineEnd,
        quote: firstCodePoints(words, MOST_QUOTE_CHARS),
      },
    ],
    against: answer === input.carries ? [...quoted.against, ...judged] : [],
  };
}

type QuotedClaim = {
  readonly claim: string;
  readonly words: string;
  readonly around: readonly CitableBlock[];
};

/** The objection of an approved judge that does not find the statement in the quoted words and the text around them. */
async function judgeObjections(
  { claim, words, around }: QuotedClaim,
  auditor: Auditor,
  parts: CallParts,
): Promise<readonly Objection[]> {
  if (parts.judge === undefined) return [];
  const { BESIDE_LINES } = await import("../verify/judge/judged-lines.ts");
  const cites = around.map(({ number }) => number);
  const [lines] = await parts.offload(
    BESIDE_LINES,
    { claims: [{ text: words, cites, span: null }], evidence: around },
    { chars: charsIn(around), signal: parts.signal },
  );
  const asked = { lines: lines?.lines ?? [], text: claim };
  const [verdict] = await parts.judge([asked], auditor, parts);
  return verdict?.says === "no" ? [{ rule: JUDGE_RULE, detail: verdict.detail }] : [];
}

/** Cuts pieces to a room in UTF-16 units: a piece beyond its share is replaced by its part with most of the searched words. */
function fitBlocks(
  blocks: readonly CitableBlock[],
  room: number,
  words: string,
): readonly CitableBlock[] {
  const share = Math.max(FENCE_CHARS, Math.floor(room / Math.max(1, blocks.length)) - FENCE_CHARS);
  const wanted = new Set(contentStems(words));
  return blocks.map((block) => {
    if (block.text.length <= share) return block;
    const [best] = leavesOf(block, share)
      .map((leaf) => ({
        leaf,
        score: contentStems(leaf.source).filter((stem) => wanted.has(stem)).length,
      }))
      .sort((one, other) => other.score - one.score);
    return best === undefined ? block : { ...block, text: best.leaf.source };
  });
}
