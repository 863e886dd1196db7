import { NEGATIVE_MODES, VERIFY_MODES } from "../../job/verify-modes.ts";
import type { OptionTable } from "../command.ts";

export const wait: OptionTable = {
  "--wait": "wait for the answer and print it; otherwise the job id is printed at once",
};
export const raw: OptionTable = {
  "--raw": "print text as it is, also characters that drive a terminal or hide in a text",
};
export const noWait: OptionTable = { "--no-wait": "print the job id at once instead of waiting" };
export const changed: OptionTable = {
  "--changed": "only files that changed since their newest result",
};
export const files = {
  "[path...]": "files, folders, or quoted globs below the allowed roots; - for a text on stdin",
};
/** Files beside the arguments, and a text from stdin that becomes a file. */
export const fileList: OptionTable = {
  "--files-from <list>": "also the paths in this file, one a line; - for stdin",
  "--null": "with --files-from: paths end in NUL, as of find -print0",
  "--save-as <path>": "with -: the new file below an allowed root that keeps the text on stdin",
};
export const attachments: OptionTable = {
  "--attachments": "also what the index knows to be in the mails among them",
};
export const dedupe: OptionTable = {
  "--dedupe": "work one of each group of copies; the rows of the others point to it",
};
export const dryRun: OptionTable = {
  "--dry-run": "print which files would be queued, and queue nothing",
};
export const large: OptionTable = {
  "--yes": "take a folder without a configuration whatever its size",
};
export const limit: OptionTable = {
  "--limit <n>": { description: "at most this many", kind: "count" },
};
export const source: OptionTable = { "--source <name>": "only this source" };
export const route: OptionTable = {
  "--fast": "the fast model for both passes",
  "--big": "the big model for the answer",
  "--model <name>": "this model for both passes",
};

export const verification: OptionTable = {
  "--verify <mode>": {
    description: "check the answer before it counts (verify.mode without it)",
    choices: VERIFY_MODES,
  },
  "--negative <mode>": {
    description:
      "with --verify: hold what denies something to all files that it is about (verify.negative without it)",
    choices: NEGATIVE_MODES,
  },
};

export const WINDOWS = 'when jobs may start, like "22:00-06:00 Europe/Berlin"; repeat for more';
export const DEADLINE = "jobs that have not finished by then expire: 8h, 06:00 or an ISO time";
export const PRIORITY = "-100 to 100, higher first; added to each job's own";
export const priority: OptionTable = { "--priority <n>": PRIORITY };
export const now: OptionTable = { "--now": "run at any time, whatever windows are configured" };
/** When the jobs of a new batch run. */
export const night: OptionTable = {
  "--windows <window>": { description: WINDOWS, kind: "list" },
  ...now,
  "--deadline <time>": DEADLINE,
  ...priority,
};

/** Selects documents by their date, which `index show` prints. */
export const days: OptionTable = {
  "--since <day>": "only documents of this day (YYYY-MM-DD) or later",
  "--until <day>": "only documents of this day or earlier",
};

export const documentFilter: OptionTable = {
  "--where <key=value...>": "only documents with this in their frontmatter, as in tag=ops",
  ...days,
};
