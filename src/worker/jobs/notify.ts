import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { HookTarget, NotifyInput } from "../../shared/job/job.ts";
import { networksOf, allowedAddresses } from "../../shared/http/network-address.ts";
import { summaryAlone } from "../../shared/job/run-result.ts";
import type { Answer } from "../../shared/job/run-result.ts";
import { REST_MS } from "../run-trace.ts";
import type { RunTrace } from "../run-trace.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { readBatchEvent } from "../../shared/views/batch-end.ts";
import type { BatchEvent } from "../../shared/views/batch-end.ts";
import { foreignEnvironment, runChild } from "../child-process.ts";
import { withDeadline } from "../models/deadline.ts";
import { callWebhook, isTimeout } from "./webhook.ts";
import type { TryResult } from "./webhook.ts";

/**
 * Reports to a target of `on_batch_end` that a batch has ended or waits for a person, or writes the batch back. If the
 * worker dies or stops meanwhile, the job runs again and the event has the same id.
 * @throws Failure HOOK_FAILED when the target was called and must not be called again, HOOK_UNAVAILABLE when it may be
 */
export async function notifyHook(
  input: NotifyInput,
  { context, database }: { readonly context: CommandContext; readonly database: Queryable },
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Answer> {
  const { event: name, batch_id, target } = input;
  if (target === "write_back") {
    const { runWriteBack } = await import("./write-back.ts");
    return runWriteBack(input, { context, database }, trace, signal);
  }
  const log = context.logger.child({ event: name, batch_id, target });
  const event = await readBatchEvent(database, input, context.config.dashboard.public_url);
  if (event === undefined) return summaryAlone({ end: "superseded" });
  trace.mayTake(context.config.on_batch_end.timeout_s * 1_000 + REST_MS);
  const { kind, status, error } = await trace.step("notify", async () => {
    const result = await callTarget(target, event, context, signal);
    trace.detail("notify", { status: result.status });
    return result;
  });
  if (kind === "told") {
    log.info({ status }, "event of a batch told");
    return summaryAlone({ end: "told" });
  }
  // The result after an abort says nothing about the target: the part that aborted it decides how the job ends.
  signal.throwIfAborted();
  log.warn({ status, error }, "event of a batch not told");
  throw new Failure(kind === "refused" ? "HOOK_FAILED" : "HOOK_UNAVAILABLE", error);
}

function callTarget(
  target: HookTarget,
  event: BatchEvent,
  context: CommandContext,
  signal: AbortSignal,
): Promise<TryResult> {
  const {
    command,
    webhook,
    timeout_s: timeoutS,
    allowed_networks: networks,
  } = context.config.on_batch_end;
  const limits = { signal, timeoutMs: timeoutS * 1_000, late: outOfTime };
  const body = JSON.stringify(event);
  if (target === "command" && command !== null) {
    return withDeadline(limits, (limited) =>
      runProgram(command, { id: event.event_id, body }, context, limited),
    );
  }
  if (target === "webhook" && webhook !== null) {
    const post = {
      key: event.event_id,
      body,
      timeoutS,
      isAllowed: allowedAddresses(networksOf(networks)),
    };
    return withDeadline(limits, async (limited) => {
      const signature = await signatureOf(event, body, context);
      return callWebhook(webhook, { ...post, signature }, limited);
    });
  }
  throw new TypeError(`a job for ${target} was taken, and none is configured`);
}

/** Empty if the configuration has no secret. */
async function signatureOf(
  { event_id: id }: BatchEvent,
  body: string,
  { config }: CommandContext,
): Promise<Readonly<Record<string, string>>> {
  const { secret } = config.on_batch_end;
  if (secret === null) return {};
  const { signatureHeaders } = await import("./sign-webhook.ts");
  return signatureHeaders({ id, body, secret, now: new Date() });
}

/** The error that isTimeout recognizes. */
const outOfTime = (): Error => new DOMException("time is up", "TimeoutError");

/** The input of the program: the event's id, equal in each repetition, and the event as one line of JSON. */
type HookEvent = { readonly id: string; readonly body: string };

/**
 * Runs the program of the hook with one line of JSON on stdin and the event's id in NIGHTDESK_EVENT_ID. The event counts as
 * delivered as soon as the program runs: a failed program is not run again, and its exit code is stored.
 */
async function runProgram(
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
    if (code === 0) return { kind: "told", status: 0 };
    const last = messages.at(-1);
    const said = last === undefined ? "" : `; its last line: ${last}`;
    const how = isTimeout(signal)
      ? `did not end within ${config.on_batch_end.timeout_s} s (on_batch_end.timeout_s)`
      : `ended with exit code ${code ?? "none"}`;
    return { kind: "refused", status: code, error: `${file} ${how}${said}` };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: "refused", status: null, error: `${file} could not be started: ${why}` };
  }
}
