import type { ReadWords } from "./binaries.ts";

/** A command of git that only shows what is in a repository, or what of it is not known to. */
export type ReadGit =
  | { readonly kind: "argv"; readonly argv: readonly string[]; readonly paths: readonly string[] }
  | Extract<ReadWords, { kind: "unlisted" }>;

const FLAGS: Readonly<Record<string, RegExp>> = {
  log: /^(--(oneline|stat|shortstat|numstat|name-only|name-status|graph|all|reverse|merges|no-merges|first-parent|patch|no-patch|follow|summary|abbrev-commit|(author|grep|since|until|after|before|date|max-count|skip|format|pretty|abbrev)=.+)|-p|-s|-i|-\d+|-n\d+)$/s,
  show: /^(--(oneline|stat|shortstat|numstat|name-only|name-status|patch|no-patch|summary|abbrev-commit|(date|format|pretty|abbrev|unified)=.+)|-p|-s|-U\d+)$/s,
  diff: /^(--(stat|shortstat|numstat|name-only|name-status|summary|word-diff|check|cached|staged|ignore-all-space|ignore-space-change|unified=\d+)|-w|-b|-p|-s|-U\d+)$/s,
};

// A format by name may be one of the repository, and %G asks the program that the repository names for signatures.
const FORMAT = /^--(?:format|pretty)=(.*)$/s;
const BUILT_IN = /^(oneline|short|medium|full|fuller|reference|email|raw)$/;
const isOwnFormat = (format: string): boolean =>
  BUILT_IN.test(format) || (/^t?format:/s.test(format) && !/%[+ -]?G/.test(format));

const REVISION = /^[A-Za-z0-9][A-Za-z0-9_./@^~-]*$/;
/** A file as it is stored: `HEAD:notes/a.md`. */
const STORED_FILE = /^[A-Za-z0-9][A-Za-z0-9_./@^~-]*:[A-Za-z0-9_./-]+$/;
const isRevision = (command: string, word: string): boolean =>
  REVISION.test(word) || (command === "show" && STORED_FILE.test(word));

/** The commands of git that may be read: status is none, since it runs the filters that a repository names. */
const isSubcommand = (word: string): boolean => Object.hasOwn(FLAGS, word);

/**
 * Reads the words of git: a command first, no flag before it, revisions, and paths after `--`. What a repository's own
 * configuration could run is switched off: pagers, external and text converting diffs, file system monitors, hooks,
 * signature programs, fetches of what is missing. `diff` compares what is stored alone: files of the working folder go
 * through filters that a repository names.
 */
export function readGitWords(given: readonly string[]): ReadGit {
  const [command = "", ...rest] = given;
  if (!isSubcommand(command)) return { kind: "unlisted", what: "operand", word: command };
  const end = rest.indexOf("--");
  const before = end === -1 ? rest : rest.slice(0, end);
  const paths = end === -1 ? [] : rest.slice(end + 1);
  const flags = before.filter((word) => word.startsWith("-"));
  const revisions = before.filter((word) => !word.startsWith("-"));
  const flag = flags.find((word) => !mayHave(command, word));
  if (flag !== undefined) return { kind: "unlisted", what: "flag", word: flag };
  const odd =
    revisions.find((word) => !isRevision(command, word)) ??
    paths.find((word) => word.startsWith(":"));
  if (odd !== undefined) return { kind: "unlisted", what: "operand", word: odd };
  if (command === "diff" && !isOfStored(flags, revisions)) {
    return { kind: "unlisted", what: "operand", word: revisions.at(-1) ?? command };
  }
  const argv = [...HARDENED, command, ...QUIET, ...flags, ...revisions, "--", ...paths];
  return { kind: "argv", argv, paths };
}

function mayHave(command: string, flag: string): boolean {
  const format = FORMAT.exec(flag)?.[1];
  return FLAGS[command]?.test(flag) === true && (format === undefined || isOwnFormat(format));
}

/** The `--` behind it makes git take A..B for revisions, also where a file is named so. */
const isOfStored = (flags: readonly string[], revisions: readonly string[]): boolean =>
  flags.some((flag) => flag === "--cached" || flag === "--staged")
    ? revisions.length <= 1
    : revisions.length === 1 && /^[^.].*\.\.\.?[^.]/.test(revisions[0] ?? "");

const QUIET = ["--no-ext-diff", "--no-textconv", "--no-color"];

const SETTINGS = [
  ...[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.alternateRefsCommand=",
  ],
  ...[
    "log.showSignature=false",
    "log.diffMerges=separate",
    "format.pretty=medium",
    "diff.external=",
    "diff.submodule=short",
  ],
  ...["gpg.program=/bin/false", "gpg.ssh.program=/bin/false", "gpg.x509.program=/bin/false"],
];

const HARDENED = [
  "/usr/bin/env",
  ...["GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ALLOW_PROTOCOL=none"],
  ...["GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat"],
  ...["/usr/bin/git", "--no-pager", ...SETTINGS.flatMap((setting) => ["-c", setting])],
];
