import { hash } from "node:crypto";
import { posix } from "node:path";
import { z } from "zod";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { plural } from "../evidence/footer.ts";
import type { CommandDecision } from "../sandbox/shell/command.ts";
import type { Ending, ShellOutcome } from "../sandbox/shell/executor.ts";
import { KEPT_SHELL_LIMITS } from "../sandbox/shell/limits.ts";
import { listCommands } from "../sandbox/shell/read-command.ts";
import type { CapturedStream } from "../sandbox/shell/output.ts";
import type { CommandRule } from "../sandbox/shell/rules.ts";
import { formatState } from "../sandbox/shell/state.ts";
import type { ShellCommand } from "../sandbox/shell/state.ts";
import { cleanText, countCodePoints, firstCodePoints } from "../text/clean-text.ts";
import { LIST_FILES } from "./list-files.ts";
import { READ_ARTIFACT } from "./read-artifact.ts";
import { defineTool, filledText } from "./tool.ts";
import type {
  ApprovalNeed,
  WholeStream,
  Permit,
  ShellDoor,
  ShellRun,
  ToolEvidence,
  ToolOutput,
  ToolAccess,
} from "./tool.ts";

/** A command of this length with the most inputs makes a preview that is too long to show for approval, and is refused then. */
const MOST_COMMAND_CHARS = 3_000;
const MOST_PATTERNS = 50;

const SHELL_ARGS = z.strictObject({
  command: filledText("a command", MOST_COMMAND_CHARS).describe(
    "The command, for bash. The files that you name lie at /input/<path>; /scratch is kept from call to call.",
  ),
  inputs: z
    .array(filledText("a path", 500), "a list of paths")
    .max(MOST_PATTERNS, `at most ${MOST_PATTERNS} paths`)
    .optional()
    .describe(
      `Files to put at /input: paths, folders or globs, spelled as ${LIST_FILES.name} spells them. No file without it.`,
    ),
});
type ShellArgs = z.infer<typeof SHELL_ARGS>;

/**
 * Runs commands in a sandbox with copies of granted files and nothing else of the machine. `tools.shell.ask` says which
 * commands run at once and which need approval.
 */
export const SHELL = defineTool({
  name: "shell",
  description:
    "Runs a command over copies of files, in a sandbox without network, such as grep -rc FAILED /input or " +
    "sort /input/a.log | uniq -c. It changes nothing but the copies, and what it makes in /scratch.",
  args: SHELL_ARGS,
  effect: "exec",
  move: "other",
  isEvidence: true,
  limits: { callsPerRun: 50 },
  disabled: ({ shell }) => (shell.kind === "disabled" ? shell.why : null),
  async approval({ command, inputs = [] }, { shell }) {
    if (shell.kind === "disabled") return null;
    const decision = await shell.decide(command);
    return decision.kind === "asks" ? needFor({ command, inputs }, decision, shell.executor) : null;
  },
  run,
});

type Asking = Extract<CommandDecision, { readonly kind: "asks" }>;

function needFor(
  { command, inputs }: { readonly command: string; readonly inputs: readonly string[] },
  { reason, what, labels }: Asking,
  executor: string,
): ApprovalNeed {
  const cause = `${WHY_ASKED[reason]}${what === null ? "" : ` (${firstCodePoints(what, 100)})`}`;
  const files =
    inputs.length === 0
      ? "no files"
      : `files: ${inputs.map((path) => JSON.stringify(path)).join(", ")}`;
  return {
    executor,
    risks: labels,
    preview: `${command}\n\n${cause}; ${files}`,
    why: WHY_ASKED[reason],
    ...(reason === "always" ? {} : { instead: RUNS_UNASKED }),
  };
}

const RUNS_UNASKED = "one plain command of a program that only reads, such as cat, grep or head";

const WHY_ASKED: Readonly<Record<Asking["reason"], string>> = {
  characters: "it holds characters that are not plain text",
  length: "it is long",
  syntax: "it can't be read as one command",
  several_commands: "it is more than one command",
  background: "it goes on in the background",
  assignment: "it sets variables",
  redirection: "it redirects",
  expansion: "it holds wildcards, variables or substitutions",
  command_word: "its program is not named plainly",
  no_rule: "no rule allows it on these paths",
  always: "each command is asked about",
};

async function run(
  { command, inputs = [] }: ShellArgs,
  { shell }: Pick<ToolAccess, "shell">,
  permit?: Permit,
): Promise<ToolOutput | Refusal> {
  if (shell.kind === "disabled") {
    return refuse("TOOL_UNAVAILABLE", `There is no shell on this machine: ${shell.why}`);
  }
  const decision = await shell.decide(command);
  const checked = await checkDecision(decision, command, { shell, permit });
  if (checked.kind === "refused") return checked;
  const ran = await shell.run(checked, inputs);
  if (ran.kind === "refused") return ran;
  const { outcome } = ran;
  if (outcome.kind === "not_started") return notStarted(outcome);
  const printsOwnWords = onlyPrints(command) || holdsAllLines(command, outcome.stdout.head);
  return outputOf({ command, ran, outcome, printsOwnWords });
}

/** Programs that print their own arguments. */
const PRINTERS: ReadonlySet<string> = new Set(["echo", "printf"]);

/** A script that can't be parsed counts as one that only prints: bash runs its first lines. */
const onlyPrints = (command: string): boolean =>
  listCommands(command)?.every(([name = ""]) => PRINTERS.has(posix.basename(name))) !== false;

/** Whether the command itself contains every printed line: then the output is no evidence of what was read. */
const holdsAllLines = (command: string, text: string): boolean =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .every((line) => line.includes(" ") && command.includes(line));

/** The command to run: the checked words, or the approved text. The rules may have changed since the approval was requested. */
async function checkDecision(
  decision: CommandDecision,
  command: string,
  { shell, permit }: { shell: Extract<ShellDoor, { kind: "open" }>; permit: Permit | undefined },
): Promise<ShellCommand | Refusal> {
  switch (decision.kind) {
    case "runs":
      for (const rule of new Set(decision.rules)) await shell.countRule(rule);
      return decision.command;
    case "forbidden":
      await shell.countRule(decision.rule);
      return refuse(
        "TOOL_DENIED",
        `A rule forbids ${nameOf(decision.rule)}. Do without it, and do not try it in other words.`,
      );
    case "asks":
      if (permit === "approved") return { kind: "script", text: command };
      return refuse("TOOL_DENIED", "The rule that allowed this command is no longer valid.");
  }
}

const nameOf = ({ binary, words: first }: CommandRule): string => [binary, ...first].join(" ");

/** The refusal of a command that did not start. */
const notStarted = ({ reason, message }: Extract<ShellOutcome, { kind: "not_started" }>): Refusal =>
  refuse(reason === "sandbox_failed" ? "TOOL_UNAVAILABLE" : "INVALID_ARGS", message);

type Ended = {
  readonly command: string;
  readonly ran: ShellRun;
  readonly outcome: Extract<ShellOutcome, { kind: "ended" }>;
  readonly printsOwnWords: boolean;
};

/** The most characters of stdout that become evidence; a longer stdout is cut there. */
const MOST_PRINT_CHARS = 8_000;

function outputOf(ended: Ended): ToolOutput {
  const { ran, outcome, printsOwnWords } = ended;
  const { ending, stdout, stderr, state } = outcome;
  // A count in output that was cut short would be too low.
  const isCitable = ending.kind === "exited" && !printsOwnWords && stdout.head.trim() !== "";
  const evidence = isCitable ? [stdoutEvidence(ended)] : [];
  const saved = state.kind === "saved" ? formatState(state.state) : null;
  const text = [
    `${formatEnding(ending)}${formatKept(state)}${ran.files.length === 0 ? NO_FILES : ""}`,
    isCitable ? formatShown(stdout) : formatStream("stdout", stdout),
    formatStream("stderr", stderr),
  ];
  return {
    kind: "output",
    text: cleanText(text.filter((line) => line !== "").join("\n")),
    facts: {
      ended: ending.kind,
      ...(ending.kind === "exited" ? { exit_code: ending.code, signal: ending.signal } : {}),
      wall_ms: Math.round(outcome.wallMs),
      input_files: ran.files.length,
      // A result that cites the output depends on the versions of these files.
      input_paths: ran.files,
      input_bytes: ran.fileBytes,
      stdout_bytes: stdout.bytes,
      stdout_sha256: stdout.sha256,
      stderr_bytes: stderr.bytes,
      stderr_sha256: stderr.sha256,
      state: state.kind,
      ...(state.kind === "kept" ? { state_why: state.why } : {}),
      // The next call finds the state by this hash, and detects a missing one.
      ...(saved === null ? {} : { state_sha256: hash("sha256", saved, "hex") }),
    },
    evidence,
    kept: [
      ...keptStream("stdout", ran.stdout),
      ...keptStream("stderr", ran.stderr),
      ...(saved === null ? [] : [{ stream: "state" as const, content: saved }]),
    ],
  };
}

const NO_FILES = " No files were named in inputs, so /input is empty.";

const keptStream = (stream: "stdout" | "stderr", content: Buffer): readonly WholeStream[] =>
  content.length === 0 ? [] : [{ stream, content }];

/** The beginning of stdout as evidence; a long one is cut at a line. */
function stdoutEvidence({ command, ran, outcome: { stdout } }: Ended): ToolEvidence {
  const shown = cleanText(firstCodePoints(stdout.head, MOST_PRINT_CHARS));
  const isWhole = stdout.tail === "" && shown.length === cleanText(stdout.head).length;
  const text = isWhole ? shown : shown.slice(0, shown.lastIndexOf("\n") + 1) || shown;
  const chars = countCodePoints(text);
  return {
    kind: "output",
    output: {
      call: cleanText(command),
      sha256: stdout.sha256,
      charsFull: isWhole ? chars : Math.max(chars + 1, countCharacters(ran.stdout)),
      text,
    },
  };
}

/** Counts code points in UTF-8: all bytes but continuation bytes. */
function countCharacters(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) count += 1;
  return count;
}

function formatEnding(ending: Ending): string {
  switch (ending.kind) {
    case "exited":
      return `Exit code ${ending.code}${ending.signal === null ? "" : ` (${ending.signal})`}.`;
    case "timed_out":
      return `It was ended after ${ending.afterMs / 1_000} s, unfinished: what it printed until then is no evidence. Do less at once.`;
    case "flooded":
      return `It was ended because it printed more than ${KEPT_SHELL_LIMITS.streamBytes} bytes to ${ending.stream}: what it printed is no evidence. Print less.`;
    case "cancelled":
      return "It was ended from outside.";
  }
}

function formatKept(state: Ended["outcome"]["state"]): string {
  if (state.kind === "saved") return "";
  const why = {
    killed: "",
    too_large: `, for they hold more than is kept from call to call (${KEPT_SHELL_LIMITS.stateBytes} bytes, ${KEPT_SHELL_LIMITS.stateEntries} files)`,
    not_saved: ", for they could not be saved",
  }[state.why];
  return ` /scratch and the variables are as they were before it${why}.`;
}

/** Describes stdout that is shown as evidence, with the end that the evidence lacks. */
function formatShown(stream: CapturedStream): string {
  const text = cleanText(stream.head);
  const isLong = stream.tail !== "" || text.length > MOST_PRINT_CHARS;
  if (!isLong) return `stdout: ${plural(stream.bytes, "byte")}, shown as evidence.`;
  const end = endOf(stream);
  return `stdout: ${stream.bytes} bytes, of which the first ${MOST_PRINT_CHARS} characters are evidence; ${PAGED("stdout")} It ends with:\n${end}`;
}

const PAGED = (stream: string): string =>
  `${READ_ARTIFACT.name} with this step and stream "${stream}" pages through all of it.`;

const HEAD_CHARS = 1_500;
const TAIL_CHARS = 500;

/** Formats a stream for the text of the output: whole if it is short, otherwise head and tail. */
function formatStream(name: "stdout" | "stderr", stream: CapturedStream): string {
  if (stream.bytes === 0) return name === "stdout" ? "stdout: nothing." : "";
  if (stream.tail === "" && stream.head.length <= HEAD_CHARS + TAIL_CHARS) {
    return `${name}, ${plural(stream.bytes, "byte")}:\n${stream.head.trimEnd()}`;
  }
  const head = firstCodePoints(stream.head, HEAD_CHARS);
  const end = endOf(stream);
  const left = stream.bytes - Buffer.byteLength(head) - Buffer.byteLength(end);
  return `${name}, ${stream.bytes} bytes, of which ${left} are left out here; ${PAGED(name)}\n${head}\n…\n${end}`;
}

const endOf = ({ head, tail }: CapturedStream): string =>
  (tail === "" ? head : tail).trimEnd().slice(-TAIL_CHARS);
