import type { CommandContext } from "../../shared/command-context.ts";
import { runChild } from "../runtime/run-child.ts";
import { ranOutOfTime } from "./ran-out-of-time.ts";
import type { TryResult } from "./try-result.ts";

/**
 * Runs the program of the hook with one line of JSON on stdin. It has been told as soon as it runs: what it makes of it
 * is not repeated, and its exit code is kept.
 */
export async function runHookCommand(
  words: readonly string[],
  body: string,
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
        env: invocation.env,
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
