import type { CommandTable, OptionTable } from "../command.ts";

const scope: OptionTable = {
  "--scope <scope>": {
    description:
      "once (all that wait for the same, the default), job, batch, or rule (what asks the same from now on)",
    choices: ["once", "job", "batch", "rule"],
  },
};
const expires: OptionTable = {
  "--expires <age>": "how long a rule holds, like 12h or 7d; 7d by default",
};
const APPROVAL_ID = "id of an approval, or 8 characters or more that it begins with";
/** Options in place of an id. */
const many: OptionTable = {
  "--all": "all calls that wait, in place of an id",
  "--batch <batch>": "those of one batch, by its name or id",
  "--where <key=value>": "those of one tool, as tool=shell; with --batch those of the batch",
};

/** Commands for the approvals that investigations wait for. */
export const APPROVALS: CommandTable = {
  "approvals list": {
    summary: "List what waits for somebody to approve it, equal calls together",
    examples: [
      "nightdesk approvals list",
      "nightdesk approvals list --batch tonight --json",
      "nightdesk approvals list --uncertain",
    ],
    options: {
      "--batch <batch>": "of one batch, by its name or id",
      "--uncertain": "calls that may have had their effect, because a worker was lost during them",
      "--all": "also what was answered, expired or was withdrawn",
      "--limit <n>": { description: "how many rows; 50 by default", kind: "count" },
    },
  },
  "approvals show": {
    summary: "Show a call that waits: its arguments, what it would do, who waits, what was decided",
    examples: ["nightdesk approvals show 3f9a61c2", "nightdesk approvals show 3f9a61c2 --json"],
    arguments: { "<id>": APPROVAL_ID },
    options: { "--all": "long lists in full" },
  },
  "approvals review": {
    summary: "Decide about what waits, one call after the other, on a terminal",
    examples: ["nightdesk approvals review", "nightdesk approvals review --batch tonight"],
    options: { "--batch <batch>": "of one batch, by its name or id" },
  },
  "approvals approve": {
    summary: "Allow a call: all runs that wait for the same go on",
    examples: [
      "nightdesk approvals approve 3f9a61c2",
      "nightdesk approvals approve 3f9a61c2 --scope batch",
      "nightdesk approvals approve 3f9a61c2 --scope rule --expires 7d",
      "nightdesk approvals approve --batch tonight --where tool=shell",
    ],
    arguments: { "[id]": APPROVAL_ID },
    options: {
      ...many,
      ...scope,
      ...expires,
    },
  },
  "approvals deny": {
    summary: "Deny a call: all runs that wait for the same go on without it",
    examples: [
      `nightdesk approvals deny 3f9a61c2 --reason "The log is in notes/log.md, read that."`,
      "nightdesk approvals deny 3f9a61c2 --scope batch",
    ],
    arguments: { "[id]": APPROVAL_ID },
    options: {
      ...many,
      "--reason <text>": "what the model is told",
      ...scope,
      ...expires,
    },
  },
  "approvals rules": {
    summary: "List decisions that answer what is asked from now on",
    examples: ["nightdesk approvals rules", "nightdesk approvals rules --all --json"],
    options: { "--all": "also those that expired, were revoked, or whose batch ended" },
  },
  "approvals revoke": {
    summary: "End a decision of approvals rules: the same is asked again",
    examples: ["nightdesk approvals revoke 8c41d07e"],
    arguments: { "<decision>": "id of a decision, or 8 characters or more that it begins with" },
  },
  "approvals resolve": {
    summary: "Say what became of a call during which a worker was lost",
    examples: [
      "nightdesk approvals resolve 5d20be91 4 --happened",
      "nightdesk approvals resolve 5d20be91 4 --did-not-happen",
    ],
    arguments: {
      "<job>": "id of a job or run, or 8 characters or more of it",
      "<step>": "number of the step, as approvals list --uncertain shows it",
    },
    options: {
      "--happened": "it was carried out: it is not made again",
      "--did-not-happen": "it was not: the model may ask for it again",
    },
  },
};

/** Rules for commands of the tool shell. */
export const APPROVAL_RULES: CommandTable = {
  "approvals rules add": {
    summary: "Allow a command of the tool shell from now on, by what it begins with, or forbid it",
    examples: [
      "nightdesk approvals rules add cat --folder /input/corpus/logs",
      "nightdesk approvals rules add wc --batch tonight",
      "nightdesk approvals rules add --days 30 -- sed -n",
      `nightdesk approvals rules add git --forbid --reason "histories are nobody's business"`,
    ],
    arguments: {
      "<words...>":
        "the program, and the words that must follow it, as they stand; -- before those that begin with a dash",
    },
    options: {
      "--folder <folder>":
        "folder of the sandbox that all paths of the command lead into, wherever it runs; / by default",
      "--batch <batch>": "of one batch, by its name or id, as long as it lasts; not with --days",
      "--job <job>": "of one job, by its id, as long as it lasts",
      "--days <n>": {
        description: "how long it holds; 7 by default, for good where it forbids",
        kind: "count",
      },
      "--forbid": "forbid it, whatever else would allow it",
      "--reason <text>": "why; needed where it forbids",
    },
  },
};

const reviewedJob = {
  "<job>":
    "id of a job, or 8 characters or more that it begins with; of a value the id that the list shows, like w17",
};
const field = "a value of an extraction, as its table or its JSON pointer names it";
const reviewedBatch: OptionTable = { "--batch <batch>": "of one batch, by its name or id" };

/** Reviews of answers (the last tier of verify.tiers), of values that a write-back withheld, and of any extracted field. */
export const REVIEWS: CommandTable = {
  "reviews list": {
    summary:
      "List answers, and values withheld from paperless-ngx, that wait for somebody to accept, correct or reject them",
    examples: ["nightdesk reviews list", "nightdesk reviews list --batch tonight --json"],
    options: {
      ...reviewedBatch,
      "--all": "also what was decided",
      "--limit <n>": { description: "how many rows; 50 by default", kind: "count" },
    },
  },
  "reviews show": {
    summary: "Show an answer or a value that waits, why, and what its checks found",
    examples: ["nightdesk reviews show 5d20be91"],
    arguments: { ...reviewedJob },
  },
  "reviews accept": {
    summary:
      "Let an answer stand as it is: its job succeeds, and is graded verified. A value is written by the next write-back, and a field stays as the model gave it",
    examples: [
      "nightdesk reviews accept 5d20be91",
      "nightdesk reviews accept w17",
      "nightdesk reviews accept 5d20be91 --field total",
    ],
    arguments: { ...reviewedJob },
    options: {
      "--field <name>": field,
      "--reason <text>": "why",
      "--fact <text...>": "what a right answer holds, for reviews export",
    },
  },
  "reviews correct": {
    summary:
      "Put other words in the place of an answer, whose job succeeds with them, or of a value",
    examples: [
      `nightdesk reviews correct 5d20be91 --text "The crossing takes 42 minutes." --fact "42 minutes"`,
      "nightdesk reviews correct 5d20be91 --file answer.txt",
      "nightdesk reviews correct w17 --text 250.00",
      "nightdesk reviews correct 5d20be91 --field total=149.32",
    ],
    arguments: { ...reviewedJob },
    options: {
      "--field <name=value>": `${field}, and what is right`,
      "--text <text>": "the answer, or the value; of an extraction the fields as JSON",
      "--file <file>": "the same from a file",
      "--fact <text...>": "what a right answer holds, for reviews export",
      "--reason <text>": "why",
    },
  },
  "reviews reject": {
    summary:
      "Refuse an answer, whose job ends as REVIEW_REJECTED, or a value, which is never written",
    examples: [
      `nightdesk reviews reject 5d20be91 --reason "The contract is not ours."`,
      "nightdesk reviews reject 5d20be91 --field total",
    ],
    arguments: { ...reviewedJob },
    options: {
      "--field <name>": field,
      "--reason <text>": "why; has to be given of an answer",
    },
  },
  "reviews export": {
    summary: "Write questions with what people said a right answer holds, for nightdesk eval",
    examples: ["nightdesk reviews export decided.jsonl", "nightdesk eval decided.jsonl"],
    arguments: { "<file>": "a file that is not there yet" },
    options: { ...reviewedBatch },
  },
};
