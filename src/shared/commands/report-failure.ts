import { CODES, Failure } from "../failure.ts";
import { hasCode, storageFaultOf } from "../store/connection/errors.ts";
import type { CodeOutcome, ErrorCode, Refusal } from "../failure.ts";
import type { Invocation } from "./command.ts";
import { cleanLine, cleanMessage, jsonForTerminal } from "../terminal/styled-text.ts";

/** Exit codes; docs/reference/errors.md explains them. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  partial: 3,
  refused: 4,
  unavailable: 69,
  tryLater: 75,
  config: 78,
} as const;

const UNAVAILABLE = new Set<ErrorCode>([
  "MODEL_UNREACHABLE",
  "MODEL_OVERLOADED",
  "DATABASE_UNREACHABLE",
  "QUEUE_UNREACHABLE",
  "DISK_FULL",
  "DATABASE_READ_ONLY",
]);

/** Something that the configuration names is missing: another start fails in the same way. */
const OF_CONFIGURATION = [
  "CONFIG_ERROR",
  "SCHEMA_OUTDATED",
  "VERIFY_MODEL_INVALID",
  "RERANK_MODEL_INVALID",
] as const satisfies readonly ErrorCode[];

/** Whether commands with this code exit with `EXIT.config`. */
export const isConfigurationCode = (code: string): code is (typeof OF_CONFIGURATION)[number] =>
  OF_CONFIGURATION.some((one) => one === code);

/** Messages with several lines: a statement with a caret below the error, and a list of problems in a file. */
const OF_SEVERAL_LINES = new Set<ErrorCode>(["SQL_ERROR", "CONFIG_ERROR"]);

/** Translates errors of written files and missing packages. Database errors were translated where they occurred. */
const translateError = (thrown: unknown): unknown =>
  thrown instanceof Failure
    ? thrown
    : (storageFaultOf(thrown) ?? missingPackageOf(thrown) ?? thrown);

/** A package that is not installed, or whose installation is running now. */
function missingPackageOf(thrown: unknown): Failure | undefined {
  if (!hasCode(thrown, "MODULE_NOT_FOUND") && !hasCode(thrown, "ERR_MODULE_NOT_FOUND"))
    return undefined;
  const [, name = "one"] =
    /^Cannot find (?:module|package) '([^']+)'/.exec((thrown as Error).message) ?? [];
  return new Failure(
    "CONFIG_ERROR",
    `The package ${name} is not there. Wait for an installation that runs, or run: npm ci`,
    { cause: thrown },
  );
}

/** The exit code of a command that ended with this error. */
export function exitCodeOf(thrown: unknown): number {
  const error = translateError(thrown);
  return error instanceof Failure ? exitOfCommand(error.code) : EXIT.error;
}

function exitOfCommand(code: ErrorCode): number {
  if (isConfigurationCode(code)) return EXIT.config;
  if (code === "USAGE_ERROR") return EXIT.usage;
  return UNAVAILABLE.has(code) ? EXIT.unavailable : EXIT.error;
}

const EXIT_OF_JOB: Readonly<Partial<Record<CodeOutcome, number>>> = {
  refused: EXIT.refused,
  parked: EXIT.tryLater,
  held: EXIT.tryLater,
};

/** Exit codes of a command that waits for one job with this code, or gets the code itself. */
export function exitCodesOf(code: ErrorCode): readonly number[] {
  const { outcome } = CODES[code];
  const own = exitOfCommand(code);
  const ofJob = outcome === "command" ? own : (EXIT_OF_JOB[outcome] ?? EXIT.error);
  return own === EXIT.error ? [ofJob] : [...new Set([ofJob, own])];
}

/** Prints a failure: one line of JSON on stdout, or one line for people on stderr. */
export function printFailure(
  thrown: unknown,
  { json, stack }: { json: boolean; stack: boolean },
): void {
  const error = translateError(thrown);
  const code: ErrorCode = error instanceof Failure ? error.code : "INTERNAL_ERROR";
  const message = error instanceof Error ? error.message : String(error);
  printCode({ code, message }, json);
  if (stack && error instanceof Error) {
    process.stderr.write(`  ${cleanMessage(error.stack ?? "")}\n`);
  }
}

/** Prints a refusal from before anything was queued, in the same format. @returns the exit code */
export function printRefusal(refusal: Refusal, { options }: Pick<Invocation, "options">): number {
  printCode(refusal, options["json"] === true);
  return EXIT.refused;
}

type PrintedFailure = { readonly code: ErrorCode; readonly message: string };

function printCode({ code, message }: PrintedFailure, json: boolean): void {
  if (json) {
    const failure = { ok: false, error_code: code, error_message: message };
    process.stdout.write(`${jsonForTerminal(failure)}\n`);
  } else {
    const shown = OF_SEVERAL_LINES.has(code) ? cleanMessage(message) : cleanLine(message);
    process.stderr.write(`nightdesk: ${code}: ${shown}\n`);
  }
}
