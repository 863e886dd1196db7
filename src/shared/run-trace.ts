import type {
  EvidencePiece,
  ReplyRecord,
  RunEvent,
  RunResult,
  ToolCallRecord,
} from "./run-result.ts";

/** What a run has done so far. It outlives a step that throws, so that a fault leaves its record too. */
export type RunTrace = {
  /** Runs one step and records how long it took, also when it throws. */
  step<T>(name: string, body: () => T | Promise<T>): Promise<T>;
  /** Adds facts to the last event of that step; never document text or prompts. */
  detail(name: string, facts: Readonly<Record<string, unknown>>): void;
  evidence(pieces: readonly EvidencePiece[]): void;
  toolCall(call: ToolCallRecord): void;
  reply(reply: ReplyRecord): void;
  models(models: RunResult["models"]): void;
  /** All that was recorded so far. */
  record(): Omit<RunResult, "outcome">;
};

/** @param now monotonic clock, milliseconds */
export function startTrace(now: () => number = performance.now.bind(performance)): RunTrace {
  const events: { step: string; durationMs: number; detail: Record<string, unknown> }[] = [];
  const evidence: EvidencePiece[] = [];
  const toolCalls: ToolCallRecord[] = [];
  const replies: ReplyRecord[] = [];
  let models: RunResult["models"] = { first: null, second: null };

  return {
    async step(step, body) {
      const startedAt = now();
      const event = { step, durationMs: 0, detail: {} };
      events.push(event);
      try {
        return await body();
      } finally {
        event.durationMs = now() - startedAt;
      }
    },
    detail(step, facts) {
      const event = events.findLast((candidate) => candidate.step === step);
      if (event !== undefined) Object.assign(event.detail, facts);
    },
    evidence: (pieces) => void evidence.push(...pieces),
    toolCall: (call) => void toolCalls.push(call),
    reply: (reply) => void replies.push(reply),
    models(chosen) {
      models = chosen;
    },
    record: () => ({
      evidence,
      toolCalls,
      events: events satisfies RunEvent[],
      replies,
      models,
      usage: {
        promptTokens: sum(replies.map(({ promptTokens }) => promptTokens)),
        completionTokens: sum(replies.map(({ completionTokens }) => completionTokens)),
      },
      modelMs: sum(replies.map(({ durationMs }) => durationMs)),
    }),
  };
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, next) => total + next, 0);
