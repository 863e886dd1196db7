import type { CommandContext } from "../../shared/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import { networksOf } from "../../shared/network-address.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { claimHookCall, settleHookCall } from "../../shared/store/schedules/hook-calls.ts";
import type { CallResult, HookCall, HookTarget } from "../../shared/store/schedules/hook-calls.ts";
import { readBatchEnd } from "../../shared/views/batch-end.ts";
import type { BatchEnd } from "../../shared/views/batch-end.ts";
import { foreignEnvironment, runChild } from "../child-process.ts";
import { repeat } from "../loop.ts";
import type { FaultLog } from "../loop.ts";
import { withDeadline } from "../models/deadline.ts";
import { callWebhook, isTimeout } from "./webhook.ts";
import type { TryResult } from "./webhook.ts";

type HookParts = {
  readonly context: CommandContext;
  readonly database: Database;
  readonly faults: FaultLog;
  /** Whether what this worker's configuration says of ends of batches is in force. */
  readonly agrees: () => boolean;
};

export type Hooks = {
  wake(): void;
  /** Lets the call in hand end, but not longer than this. */
  stop(graceMs: number): Promise<void>;
};

const IDLE_MS = 5_000;
const AFTER_ERROR_MS = 2_000;
/** What a call takes beside its own limit: reading the batch, and writing the result. */
const SPARE_S = 30;
const UNTOLD = "the end of a batch could not be told";

/** Tells of batches that end, one after another, beside the jobs. Without a hook it says so to the database, and rests. */
export function startHooks({ context, database, faults, agrees }: HookParts): Hooks {
  const { timeout_s: timeoutS } = context.config.on_batch_end;
  const targets = hookTargetsOf(context.config);
  const stopping = new AbortController();
  const loop = repeat(
    async () => {
      if (targets.length === 0) return NEVER_MS;
      if (!agrees()) return IDLE_MS;
      const call = await claimHookCall(database, targets, timeoutS + SPARE_S);
      faults.works(UNTOLD);
      if (call === undefined) return IDLE_MS;
      await tell(call, { context, database }, stopping.signal);
      return 0;
    },
    (error) => {
      faults.broke(UNTOLD, error);
      return AFTER_ERROR_MS;
    },
  );
  return {
    wake() {
      if (targets.length > 0) loop.wake();
    },
    async stop(graceMs) {
      const timer = setTimeout(() => {
        stopping.abort();
      }, graceMs);
      await loop.stop();
      clearTimeout(timer);
    },
  };
}

/** What is to be called when a batch ends. */
export const hookTargetsOf = ({ on_batch_end }: Pick<Config, "on_batch_end">): HookTarget[] => [
  ...(on_batch_end.command === null ? [] : (["command"] as const)),
  ...(on_batch_end.webhook === null ? [] : (["webhook"] as const)),
];

/** As long as a timer goes. */
const NEVER_MS = 2 ** 31 - 1;

async function tell(
  call: HookCall,
  { context, database }: Pick<HookParts, "context" | "database">,
  signal: AbortSignal,
): Promise<void> {
  const { logger } = context;
  const result = await resultOf(call, { context, database }, signal);
  await settleHookCall(database, call, result);
  const facts = { batch_id: call.batchId, target: call.target, tries: call.tries };
  const { state, status, error } = result;
  if (state === "done") logger.info({ ...facts, status }, "end of a batch told");
  else if (state !== "superseded")
    logger.warn({ ...facts, status, state, error }, "end of a batch not told");
}

const SUPERSEDED: CallResult = { state: "superseded", status: null, error: null, delaySeconds: 0 };

async function resultOf(
  call: HookCall,
  { context, database }: Pick<HookParts, "context" | "database">,
  signal: AbortSignal,
): Promise<CallResult> {
  const end = call.isCurrent ? await readBatchEnd(database, call.batchId) : undefined;
  return end === undefined ? SUPERSEDED : callHook(call, end, context, signal);
}

const MOST_TRIES = 3;
/** Before the second try, and before the third. */
const PAUSES_S = [5, 30];

const ABANDONED: CallResult = {
  state: "failed",
  status: null,
  error: `the workers that called it died, ${MOST_TRIES} times`,
  delaySeconds: 0,
};

/** Tells of the end of a batch, and says what becomes of the call. */
async function callHook(
  call: HookCall,
  end: BatchEnd,
  context: CommandContext,
  signal: AbortSignal,
): Promise<CallResult> {
  if (call.tries > MOST_TRIES) return { ...ABANDONED };
  const result = await tryOnce(call, end, context, signal);
  const { kind, status, error } = result;
  if (kind === "told") return { state: "done", status, error: null, delaySeconds: 0 };
  if (kind === "refused" || call.tries >= MOST_TRIES) {
    return { state: "failed", status, error, delaySeconds: 0 };
  }
  return { state: "again", status, error, delaySeconds: PAUSES_S[call.tries - 1] ?? 0 };
}

function tryOnce(
  call: HookCall,
  end: BatchEnd,
  context: CommandContext,
  signal: AbortSignal,
): Promise<TryResult> {
  const { command, webhook, timeout_s: timeoutS } = context.config.on_batch_end;
  const limits = { signal, timeoutMs: timeoutS * 1_000, late: outOfTime };
  const id = `${call.batchId}-${call.finishedAt.toISOString()}`;
  const body = JSON.stringify({ ...end, event_id: id });
  if (call.target === "command" && command !== null) {
    return withDeadline(limits, (limited) =>
      runHookCommand(command, { id, body }, context, limited),
    );
  }
  if (call.target === "webhook" && webhook !== null) {
    const allowed = networksOf(context.config.on_batch_end.allowed_networks);
    return withDeadline(limits, (limited) =>
      callWebhook(webhook, { key: id, body, timeoutS, allowed }, limited),
    );
  }
  throw new TypeError(`a call of ${call.target} was taken, and none is configured`);
}

/** As ranOutOfTime knows it. */
const outOfTime = (): Error => new DOMException("time is up", "TimeoutError");

/** What a program is told: the event's id, the same as often as it is told, and the event as one line of JSON. */
type HookEvent = { readonly id: string; readonly body: string };

/**
 * Runs the program of the hook with one line of JSON on stdin and the event's id in NIGHTDESK_EVENT_ID. It has been told as
 * soon as it runs: what it makes of it is not repeated, and its exit code is kept. It is told at least once: a worker that
 * dies before it has written so leaves the call to another.
 */
async function runHookCommand(
  words: readonly string[],
  { id, body }: HookEvent,
  { config, invocation, logger }: CommandContext,
  signal: AbortSignal,
): Promise<TryResult> {
  const [file = "", ...args] = words;
  try {
    const { code, messages } = await runChild(
      {
        file,
        args,
        cwd: config.roots.workroot,
        env: { ...foreignEnvironment(invocation.env), NIGHTDESK_EVENT_ID: id },
        input: `${body}\n`,
        onMessage: (line) => {
          logger.debug({ line }, "on_batch_end.command says");
        },
      },
      signal,
    );
    if (code === 0) return { kind: "told", status: 0, error: null };
    const last = messages.at(-1);
    const said = last === undefined ? "" : `; its last line: ${last}`;
    const how = isTimeout(signal)
      ? `did not end within ${config.on_batch_end.timeout_s} s (on_batch_end.timeout_s)`
      : signal.aborted
        ? "was ended because the worker stopped"
        : `ended with exit code ${code ?? "none"}`;
    return { kind: "refused", status: code, error: `${file} ${how}${said}` };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: "refused", status: null, error: `${file} could not be started: ${why}` };
  }
}
