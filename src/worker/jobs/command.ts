import { join } from "node:path";
import { secretsOf } from "../../shared/child-process.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { CODES, Failure, isRefusalCode } from "../../shared/failure.ts";
import type { ErrorCode, FaultCode } from "../../shared/failure.ts";
import type { CommandInput } from "../../shared/job/job.ts";
import { summaryAlone } from "../../shared/job/run-result.ts";
import type { Answer } from "../../shared/job/run-result.ts";
import { ownEnvironment, runChild } from "../child-process.ts";
import type { ChildEnd } from "../child-process.ts";

/**
 * Runs the command of a schedule as a process of its own, with this worker's configuration, in the work root, and with a
 * small environment: credentials of the database and the queue are passed separately. When the worker dies, its command
 * dies too and the job runs again: the command names its batch after the planned time, so the second run finds what the
 * first one did.
 * @throws Failure with the command's own code when that is final, COMMAND_FAILED otherwise, and one that parks the job
 *   when the command says that it may be tried again
 */
export async function runCommand(
  { command, schedule }: CommandInput,
  context: CommandContext,
  signal: AbortSignal,
): Promise<Answer> {
  const { config, invocation, logger } = context;
  const log = logger.child({ schedule });
  const end = await runChild(
    {
      file: process.execPath,
      args: [...binOf(context), ...command],
      cwd: config.roots.workroot,
      env: ownEnvironment(invocation.env),
      secrets: secretsOf(invocation.env),
      ourEnd: "told",
      onMessage: (line) => {
        log.debug({ line }, "command says");
      },
    },
    signal,
  );
  // The exit code after an abort says nothing about the command: the part that aborted it decides how the job ends.
  signal.throwIfAborted();
  return answerOf(end, command.join(" "));
}

/** The options come first: after a `--` in the command they would count as its arguments. */
function binOf({ config, invocation }: CommandContext): readonly string[] {
  const { packageRoot, options } = invocation;
  const host = options["ollamaBaseUrl"];
  return [
    join(packageRoot, "bin", "nightdesk.js"),
    "--config",
    config.file,
    "--workroot",
    config.roots.workroot,
    ...(typeof host === "string" ? ["--ollama-base-url", host] : []),
  ];
}

function answerOf(end: ChildEnd, words: string): Answer {
  const { code, output, messages } = end;
  if (code !== EXIT.ok && code !== EXIT.partial) throw failureOf(end, words);
  const note = code === EXIT.partial ? { note: "some items were refused or failed" } : {};
  return summaryAlone({ exit_code: code, ...note, output, messages });
}

function failureOf(end: ChildEnd, words: string): Failure {
  const { code, signal } = end;
  const how =
    code === null ? `was ended by ${signal ?? "a signal"}` : `ended with exit code ${code}`;
  const said = findTypedMessage(end);
  const message = `nightdesk ${words} ${how}${said === undefined ? lastLineOf(end) : `: ${said.code}: ${said.message}`}`;
  if (code === EXIT.unavailable || code === EXIT.tryLater) {
    return new Failure(
      said !== undefined && isParking(said.code) ? said.code : "COMMAND_DELAYED",
      message,
    );
  }
  return new Failure(
    said !== undefined && isFinal(said.code) ? said.code : "COMMAND_FAILED",
    message,
  );
}

const lastLineOf = ({ messages, output }: ChildEnd): string => {
  const last = messages.at(-1) ?? output.at(-1);
  return last === undefined ? " and said nothing" : `; its last line: ${last}`;
};

const TYPED =
  /^(?:nightdesk|Refused|Parked|The job (?:failed|expired|was cancelled)): ([A-Z_]+): (.*)$/;

/** The same with `--json`. A long line is cut, so that it may be no JSON any more. */
const TYPED_JSON = /^\{"ok":false,"error_code":"([A-Z_]+)","error_message":"((?:[^"\\]|\\.)*)/;

/** The failure that a command ends with, as it prints it. */
function findTypedMessage({
  messages,
  output,
}: ChildEnd): { readonly code: ErrorCode; readonly message: string } | undefined {
  const printed = [...messages, ...output.slice(-1)].toReversed();
  for (const line of printed) {
    const [, code, message] = TYPED.exec(line) ?? TYPED_JSON.exec(line) ?? [];
    if (code !== undefined && message !== undefined && code in CODES) {
      return { code: code as ErrorCode, message };
    }
  }
  return undefined;
}

const isParking = (code: ErrorCode): code is FaultCode => CODES[code].outcome === "parked";

const isFinal = (code: ErrorCode): code is FaultCode =>
  !isRefusalCode(code) && (CODES[code].outcome === "failed" || CODES[code].outcome === "command");
