import { NEGATIVE_MODES, VERIFY_MODES } from "../../job/verify-modes.ts";
import type { CommandArgument, CommandOption } from "../command.ts";

export const wait: CommandOption = {
  flags: "--wait",
  description: "wait for the answer and print it; otherwise the job id is printed at once",
};
export const raw: CommandOption = {
  flags: "--raw",
  description: "print text as it is, also characters that drive a terminal or hide in a text",
};
export const noWait: CommandOption = {
  flags: "--no-wait",
  description: "print the job id at once instead of waiting",
};
export const changed: CommandOption = {
  flags: "--changed",
  description: "only files that changed since their newest result",
};
export const files: CommandArgument = {
  usage: "[path...]",
  description: "files, folders, or quoted globs below the allowed roots; - for a text on stdin",
};
/** Files beside those of the arguments, and a text that becomes one. */
export const fileList: readonly CommandOption[] = [
  {
    flags: "--files-from <list>",
    description: "also the paths in this file, one a line; - for stdin",
  },
  { flags: "--null", description: "with --files-from: paths end in NUL, as of find -print0" },
  {
    flags: "--save-as <path>",
    description: "with -: the new file below an allowed root that keeps the text on stdin",
  },
];
export const attachments: CommandOption = {
  flags: "--attachments",
  description: "also what the index knows to be in the mails among them",
};
export const dedupe: CommandOption = {
  flags: "--dedupe",
  description: "work one of each group of copies; the rows of the others point to it",
};
export const dryRun: CommandOption = {
  flags: "--dry-run",
  description: "print which files would be queued, and queue nothing",
};
export const large: CommandOption = {
  flags: "--yes",
  description: "take a folder without a configuration whatever its size",
};
export const limit: CommandOption = {
  flags: "--limit <n>",
  description: "at most this many",
  kind: "count",
};
export const source: CommandOption = { flags: "--source <name>", description: "only this source" };
export const route: readonly CommandOption[] = [
  { flags: "--fast", description: "the fast model for both passes" },
  { flags: "--big", description: "the big model for the answer" },
  { flags: "--model <name>", description: "this model for both passes" },
];

export const verification: readonly CommandOption[] = [
  {
    flags: "--verify <mode>",
    description: "check the answer before it counts (verify.mode without it)",
    choices: VERIFY_MODES,
  },
  {
    flags: "--negative <mode>",
    description:
      "with --verify: hold what denies something to all files that it is about (verify.negative without it)",
    choices: NEGATIVE_MODES,
  },
];

export const windows: CommandOption = {
  flags: "--windows <window>",
  description: 'when jobs may start, like "22:00-06:00 Europe/Berlin"; repeat for more',
  kind: "list",
};
export const deadline: CommandOption = {
  flags: "--deadline <time>",
  description: "jobs that have not finished by then expire: 8h, 06:00 or an ISO time",
};
export const priority: CommandOption = {
  flags: "--priority <n>",
  description: "-100 to 100, higher first; added to each job's own",
};
export const now: CommandOption = {
  flags: "--now",
  description: "run at any time, whatever windows are configured",
};
/** When the jobs of a new batch run. */
export const night: readonly CommandOption[] = [windows, now, deadline, priority];

/** Which documents, by the date that they say; `index show` tells what it is. */
export const days: readonly CommandOption[] = [
  { flags: "--since <day>", description: "only documents of this day (YYYY-MM-DD) or later" },
  { flags: "--until <day>", description: "only documents of this day or earlier" },
];

export const documentFilter: readonly CommandOption[] = [
  {
    flags: "--where <key=value...>",
    description: "only documents with this in their frontmatter, as in tag=ops",
  },
  ...days,
];
