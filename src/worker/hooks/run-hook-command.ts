import type { CommandContext } from "../../shared/command-context.ts";
import { foreignEnvironment } from "../runtime/child-environment.ts";
import { runChild } from "../runtime/run-child.ts";
import { ranOutOfTime } from "./ran-out-of-time.ts";
import type { TryResult } from "./try-result.ts";

/** What a program is told: the event's id, the same as often as it is told, and the event as one line of JSON. */
export type HookEvent = { readonly id: string; readonly body: string };

/**
 * Runs the program of the hook with one line of JSON on stdin and the event's id in NIGHTDESK_EVENT_ID. It has been told as
 * soon as it runs: what it makes of it is not repeated, and its exit code is kept. It is told at least once: a worker that
 * dies before it has written so leaves the call to another.
 */
export async function runHookCommand(
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
    const how = ranOutOfTime(signal)
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
