import { CLAIM_GRADES, JUDGE_RULE } from "../shared/job/run-result.ts";
import { inSpan } from "../shared/metrics/traces.ts";
import { NOT_VERIFIED } from "../shared/job/verification.ts";
import type {
  AnswerChecks,
  ClaimRecord,
  EvidencePiece,
  FieldBinding,
  ModelUse,
  PartRecord,
  ReplyRecord,
  RunEvent,
  RunResult,
  StepName,
  ToolCallRecord,
} from "../shared/job/run-result.ts";
import type { VerificationRecord } from "../shared/job/verification.ts";

/** The record of a run so far. It outlives a step that throws, so that a failed run has a record too. */
export type RunTrace = {
  /** Announces how long the next activity may take before further progress; Infinity if it has limits of its own. */
  mayTake(milliseconds: number): void;
  /** Runs one step and records its duration, also when it throws. */
  step<T>(name: StepName, body: () => T | Promise<T>): Promise<T>;
  /** Adds facts to the last event of that step; never document text or prompts. */
  detail(name: StepName, facts: Readonly<Record<string, unknown>>): void;
  /** Adds time spent waiting for a model host to the newest step. */
  waited(milliseconds: number): void;
  evidence(pieces: readonly EvidencePiece[]): void;
  toolCall(call: ToolCallRecord): void;
  reply(reply: ReplyRecord): void;
  models(models: readonly ModelUse[]): void;
  /** Quotes and figures of the last draft with their results, bounded by boundChecks; replaces those of an earlier draft. */
  checks(checks: AnswerChecks): void;
  /** The claims of all drafts of an answer, bounded by boundClaims; replaces those of an earlier try. */
  claims(claims: readonly ClaimRecord[]): void;
  /** The bindings of the values of an extraction, bounded by boundBindings. */
  bindings(bindings: readonly FieldBinding[]): void;
  part(part: PartRecord): void;
  /** The state of the answer's verification; replaces the earlier one. */
  verification(record: VerificationRecord): void;
  /** Ids of the durable notes that the prompts show. */
  memory(ids: readonly string[]): void;
  /** Everything that was recorded so far. */
  record(): Omit<RunResult, "outcome">;
};

/** How long a run may take between two signs of progress, unless a step announces more. */
export const REST_MS = 10 * 60_000;

/** @param onMove called at each progress of the run, with the time allowed until the next */
export function startTrace(onMove: (mayTakeMs: number) => void = () => undefined): RunTrace {
  const now = performance.now.bind(performance);
  const moves = () => {
    onMove(REST_MS);
  };
  const events: {
    step: StepName;
    atMs: number;
    durationMs: number;
    detail: Record<string, unknown>;
  }[] = [];
  const runStartedAt = now();
  const evidence: EvidencePiece[] = [];
  const toolCalls: ToolCallRecord[] = [];
  const replies: ReplyRecord[] = [];
  const parts: PartRecord[] = [];
  let models: readonly ModelUse[] = [];
  let checks: AnswerChecks = { quotes: [], figures: [] };
  let claims: readonly ClaimRecord[] = [];
  let bindings: readonly FieldBinding[] = [];
  let memoryIds: readonly string[] = [];
  let verification: VerificationRecord = NOT_VERIFIED;
  // Replies taken over from an earlier attempt or another job were counted there.
  const asked = () => replies.filter(({ origin }) => origin === "asked");

  return {
    mayTake: onMove,
    async step(step, body) {
      moves();
      const startedAt = now();
      const event = { step, atMs: startedAt - runStartedAt, durationMs: 0, detail: {} };
      events.push(event);
      try {
        return await inSpan(`step ${step}`, { facts: { "nightdesk.step": step } }, () => body());
      } finally {
        event.durationMs = now() - startedAt;
        moves();
      }
    },
    detail(step, facts) {
      moves();
      const event = events.findLast((candidate) => candidate.step === step);
      if (event !== undefined) Object.assign(event.detail, facts);
    },
    waited(milliseconds) {
      moves();
      const detail = events.at(-1)?.detail;
      if (detail === undefined || milliseconds < 1) return;
      const before = typeof detail["waited_ms"] === "number" ? detail["waited_ms"] : 0;
      detail["waited_ms"] = Math.round(before + milliseconds);
    },
    evidence: (pieces) => void evidence.push(...pieces),
    toolCall: (call) => void toolCalls.push(call),
    reply(reply) {
      moves();
      replies.push(reply);
    },
    models(chosen) {
      models = chosen;
    },
    checks(found) {
      checks = boundChecks(found);
    },
    claims(found) {
      claims = boundClaims(found);
    },
    bindings(found) {
      bindings = boundBindings(found);
    },
    part(part) {
      moves();
      parts.push(part);
    },
    verification(record) {
      moves();
      verification = record;
    },
    memory(ids) {
      memoryIds = ids;
    },
    record: () => ({
      evidence,
      toolCalls,
      events: events satisfies RunEvent[],
      replies,
      models,
      checks,
      claims,
      bindings,
      parts,
      verification,
      memoryIds,
      usage: {
        promptTokens: sum(asked().map(({ promptTokens }) => promptTokens)),
        completionTokens: sum(asked().map(({ completionTokens }) => completionTokens)),
      },
      modelMs: sum(asked().map(({ durationMs }) => durationMs)),
    }),
  };
}

export const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, next) => total + next, 0);

/** The most rows of each kind that a run stores about an answer. The longest answers that people read have a few hundred. */
export const MOST_ROWS = 2_000;
/** The most UTF-16 units of text in each row. */
export const MOST_ROW_CHARS = 1_000;

/**
 * Limits the checks of an answer for storage: of more than 2,000 quotes or figures the wrong ones first, in the order of the
 * answer; of each at most 1,000 characters. So even an answer with very many numbers is stored quickly.
 */
export const boundChecks = ({ quotes, figures }: AnswerChecks): AnswerChecks => ({
  quotes: firstByWeight(quotes, ({ class: found }) =>
    found === "verbatim" || found === "normalised" ? 1 : 0,
  ).map((row) => ({ ...row, quote: cut(row.quote) })),
  figures: firstByWeight(figures, ({ flagged }) => (flagged ? 0 : 1)).map((row) => ({
    ...row,
    text: cut(row.text),
  })),
});

/** The most rules stored per claim for the first 200 claims; further claims keep only failed rules and the judge's. */
const MOST_RULES = 40;
const MOST_WITH_RULES = 200;

/** Limits claims for storage: of more than 2,000 the unsupported ones first; of each text at most 1,000 characters. */
export const boundClaims = (claims: readonly ClaimRecord[]): readonly ClaimRecord[] =>
  firstByWeight(claims, ({ grade }) => -CLAIM_GRADES.indexOf(grade)).map((claim, at) => ({
    ...claim,
    text: cut(claim.text),
    cites: claim.cites.slice(0, MOST_RULES),
    quote: claim.quote === null ? null : cut(claim.quote),
    carrier: claim.carrier === null ? null : cut(claim.carrier),
    checks: claim.checks
      .filter(
        ({ rule, verdict }) => at < MOST_WITH_RULES || verdict === "fail" || rule === JUDGE_RULE,
      )
      .slice(0, MOST_RULES)
      .map((check) => ({ ...check, detail: cut(check.detail) })),
  }));

/** Limits bindings for storage: of more than 2,000 the unbound ones first; of each text at most 1,000 characters. */
export const boundBindings = (bindings: readonly FieldBinding[]): readonly FieldBinding[] =>
  firstByWeight(bindings, ({ state }) => (state === "bound" ? 1 : 0)).map((binding) => ({
    ...binding,
    pointer: cut(binding.pointer),
    value: typeof binding.value === "string" ? cut(binding.value) : binding.value,
    quote: binding.quote === null ? null : cut(binding.quote),
  }));

/** The rows with the least weight, in their original order. */
function firstByWeight<Row>(rows: readonly Row[], weightOf: (row: Row) => number): readonly Row[] {
  if (rows.length <= MOST_ROWS) return rows;
  return rows
    .map((row, index) => ({ row, index, weight: weightOf(row) }))
    .sort((one, other) => one.weight - other.weight || one.index - other.index)
    .slice(0, MOST_ROWS)
    .sort((one, other) => one.index - other.index)
    .map(({ row }) => row);
}

/** Does not leave half of a surrogate pair, which Postgres can't store. */
const cut = (text: string): string =>
  text.length <= MOST_ROW_CHARS ? text : `${text.slice(0, MOST_ROW_CHARS).toWellFormed()}…`;
