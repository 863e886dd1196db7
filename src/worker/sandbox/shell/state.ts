import { z } from "zod";
import { parseJson } from "../../../shared/schema/json-value.ts";
import type { ErrorStream } from "./read-command.ts";

/** The command to run. */
export type ShellCommand =
  /** The checked words; the first is an absolute path. */
  | { readonly kind: "argv"; readonly argv: readonly string[]; readonly errors: ErrorStream }
  /** A script as text; `tools.shell.ask` decides whether a person approves it first. */
  | { readonly kind: "script"; readonly text: string };

/** The state that one call leaves to the next. It is never unpacked, or run as shell text, outside a sandbox. */
export type ShellState = {
  /** The working folder: an absolute path inside the sandbox. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Links in /scratch: path to target as written. */
  readonly links: Readonly<Record<string, string>>;
  /** A tar of /scratch. */
  readonly scratch: Buffer;
  readonly entries: number;
};

/** The state before the first call. */
export const EMPTY_STATE: ShellState = {
  folder: "/scratch",
  variables: {},
  links: {},
  scratch: Buffer.alloc(0),
  entries: 0,
};

// Runs the command in a separate process, which can't change this shell's variables; kills all processes that the command left,
// so that /scratch no longer changes; then reports how it ended, and packs the state. The command may have
// changed this shell through /proc/1, so its report is no more trusted than the command's output.
// Its arguments: mode, folder, where stderr goes, and for `argv` the command.
const WRAPPER = `
for file in /proc/self/fd/*; do
  number=\${file##*/}
  case $number in 0|1|2|6|7|8) ;; *) eval "exec $number>&-" ;; esac
done
mode=$1 folder=$2 errors=$3
shift 3
if [ "$mode" != fresh ]; then
  tar --extract --file=- --directory=/scratch --no-same-owner <&6 || { printf 'unpack\\0' >&7; exit 125; }
fi
exec 6<&-
if [ $# -gt 0 ]; then
  (
    case $errors in dropped) exec 2>/dev/null ;; joined) exec 2>&1 ;; esac
    cd -- "$folder" && HOME=/ exec -- "$@"
  ) 7>&- 8>&-
else
  /bin/bash -p -c "$SHELL_OF_SCRIPT" sandbox "$folder" 7>&- 8>&-
fi
status=$?
kill -KILL -1 2>/dev/null
trap '' PIPE
printf 'ended\\0%s\\0' "$status" >&7
shopt -s dotglob nullglob
set -- /scratch/*
[ ! -s /session/out/session ] || cat /session/out/session >&7
exec 7>&-
[ $# -eq 0 ] || tar --create --file=- --directory=/scratch --format=gnu --numeric-owner . >&8 || exit 125
printf saved >&8
exit "$status"
`;

// Variables are read as values, never run as shell text.
const SHELL_OF_SCRIPT = `
while IFS= read -r -d '' variable; do export -- "$variable"; done </session/variables
unset variable
cd -- "$1" || cd /scratch
shift
trap '{ builtin printf "%s\\0" "$(builtin pwd -P)"; /usr/bin/env -0; } >/session/out/session' EXIT
. /session/script
`;

/** The words that unpack the state, run a command inside, and save the new state. */
export function wrapCommand(command: ShellCommand, state: ShellState): string[] {
  const mode = state.scratch.length === 0 ? "fresh" : "restore";
  const text = `SHELL_OF_SCRIPT=${quoteForShell(SHELL_OF_SCRIPT)}\n${WRAPPER}`;
  const words = command.kind === "argv" ? [command.errors, ...command.argv] : ["kept"];
  return ["/bin/bash", "-p", "-c", text, "sandbox", mode, state.folder, ...words];
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

// Variables that the shell sets itself. Exported functions have other characters in their names.
const OWN = new Set(["PWD", "OLDPWD", "SHLVL", "_", "BASH_ENV", "SHELLOPTS", "BASHOPTS"]);

const mayCarry = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !OWN.has(name);

/** `NAME=value`, each ended by NUL. */
export const formatVariables = ({ variables }: ShellState): string =>
  Object.entries(variables)
    .filter(([name]) => mayCarry(name))
    .map(([name, value]) => `${name}=${value}\0`)
    .join("");

/** The wrapper's report on the end of a command. */
export type SessionReport =
  | { readonly kind: "silent" }
  | { readonly kind: "unpack_failed" }
  | {
      readonly kind: "ended";
      readonly code: number;
      /** Null if the script replaced its shell or its trap: then the values of the last state stay. */
      readonly session: Pick<ShellState, "folder" | "variables"> | null;
    };

/** Parses the wrapper's report. */
export function readSession(bytes: Buffer): SessionReport {
  const [word, code, ...rest] = bytes.toString().split("\0");
  if (word === "unpack") return { kind: "unpack_failed" };
  if (word !== "ended" || code === undefined || rest.length === 0) return { kind: "silent" };
  return { kind: "ended", code: Number(code), session: readSessionState(rest) };
}

function readSessionState([folder, ...variables]: readonly string[]): Pick<
  ShellState,
  "folder" | "variables"
> | null {
  if (folder?.startsWith("/") !== true) return null;
  return { folder, variables: readVariables(variables.slice(0, -1)) };
}

function readVariables(entries: readonly string[]): Readonly<Record<string, string>> {
  const pairs = entries.map((entry) => {
    const end = entry.indexOf("=");
    return [entry.slice(0, Math.max(0, end)), entry.slice(end + 1)] as const;
  });
  return Object.fromEntries(pairs.filter(([name]) => mayCarry(name)));
}

const texts = z.record(z.string(), z.string());
const headSchema = z.strictObject({
  folder: z.string().startsWith("/"),
  variables: texts,
  links: texts,
  entries: z.int().min(0),
});

const LINE_FEED = 0x0a;

/** Formats a state for storage: a line of JSON, and the archive behind it. */
export function formatState({ scratch, folder, variables, links, entries }: ShellState): Buffer {
  const head = JSON.stringify({ folder, variables, links, entries });
  return Buffer.concat([Buffer.from(`${head}\n`, "utf8"), scratch]);
}

/** Parses the output of `formatState`; null for anything else. It does not check the archive. */
export function parseState(content: Buffer): ShellState | null {
  const end = content.indexOf(LINE_FEED);
  const head = headSchema.safeParse(parseJson(content.toString("utf8", 0, Math.max(0, end))));
  return head.success ? { ...head.data, scratch: content.subarray(end + 1) } : null;
}
