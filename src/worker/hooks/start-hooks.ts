import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import {
  claimHookCall,
  readBatchEnd,
  registerHook,
  settleHookCall,
} from "../../shared/store/schedules/hook-calls.ts";
import type { CallResult, HookCall, HookTarget } from "../../shared/store/schedules/hook-calls.ts";
import type { FaultLog } from "../runtime/fault-log.ts";
import { repeat } from "../runtime/repeat.ts";
import { callHook } from "./call-hook.ts";

export type HookParts = {
  readonly context: CommandContext;
  readonly database: Database;
  readonly faults: FaultLog;
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
export function startHooks({ context, database, faults }: HookParts): Hooks {
  const { command, webhook, origins, timeout_s: timeoutS } = context.config.on_batch_end;
  const targets: HookTarget[] = [
    ...(command === null ? [] : (["command"] as const)),
    ...(webhook === null ? [] : (["webhook"] as const)),
  ];
  const stopping = new AbortController();
  let isRegistered = false;
  const loop = repeat(
    async () => {
      if (!isRegistered) await registerHook(database, targets, origins);
      isRegistered = true;
      if (targets.length === 0) return NEVER_MS;
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
