import { canonicalJson } from "../schema/json-value.ts";
import { commandRuleSchema } from "../store/investigations/command-rules.ts";
import type {
  ApprovalDetail,
  ApprovalGroup,
  BatchWaiting,
  ReviewRow,
  StandingRow,
  UncertainStep,
} from "./inbox.ts";
import { formatTask } from "../job/kinds.ts";
import { showHidden } from "../terminal/styled-text.ts";
import { oneLine } from "./run-evidence.ts";
import { countOf, formatCount } from "./quantity.ts";
import {
  RIGHT,
  WORDS,
  code,
  fact,
  ids,
  joinTexts,
  listSection,
  section,
  sectionOf,
  state,
  tableOf,
  time,
} from "./section.ts";
import type { Block, ColumnOf, Extent, Fact, Item, Page, Section, Table, Text } from "./section.ts";

/** Risk labels in words. An unknown label is shown as it is. */
const RISK_WORDS: Readonly<Record<string, string>> = {
  out_of_root: "leaves the root",
  network: "uses the network",
  writes: "writes",
  deletes: "deletes",
  credentials: "touches credentials",
  privilege: "wants more rights",
  project_code: "runs code of the files",
};

/** `leaves the root, deletes`; null without a risk. */
export const riskWords = (risks: readonly string[]): string | null =>
  risks.length === 0 ? null : risks.map((risk) => RISK_WORDS[risk] ?? risk).join(", ");

/** The first line of the preview, or the arguments if there is no preview. */
export function headOf({ preview, args }: Pick<ApprovalGroup, "preview" | "args">): string {
  const [head = "", ...others] = preview.trim().split(/\r?\n/);
  if (head === "") return argsText(args);
  return others.length === 0 ? head : `${head} …`;
}

const argsText = (args: ApprovalGroup["args"]): string => showHidden(canonicalJson(args));

/** `tonight 40, tomorrow 2`, at most three batches. */
function batchesText(batches: ApprovalGroup["batches"]): string {
  const [first] = batches;
  if (first !== undefined && batches.length === 1) return first.batch;
  const named = batches.slice(0, 3).map(({ batch, requests }) => `${batch} ${requests}`);
  const more = batches.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** Calls that need approval, one a row. */
export const approvalTable = (groups: readonly ApprovalGroup[]): Table =>
  tableOf(groups, [
    ids("approval", (group) => group.approval_id),
    ["state", (group) => state(group.state), { leftOut: 2 }],
    ["runs", (group) => formatCount(group.requests), RIGHT],
    ["tool", (group) => group.tool, { least: 6 }],
    ["what", headOf, { least: 20 }],
    ["risks", (group) => risksText(group.risks), { least: 12 }],
    ["batches", (group) => batchesText(group.batches), { cut: "middle", least: 12, leftOut: 3 }],
    ["asked since", (group) => time(group.oldest_at, "minutes"), { leftOut: 1 }],
    ["expires", (group) => time(group.expires_at, "minutes"), { leftOut: 4 }],
  ]);

/** Risks in the colour of a failed state. */
const risksText = (risks: readonly string[]): Text | null => {
  const words = riskWords(risks);
  return words === null ? null : state("failed", words);
};

/** `412 runs want shell: git log`, with the command that shows them. */
const groupItem = (group: ApprovalGroup): Item => ({
  text: joinTexts(
    `${countOf(group.requests, "run")} ${group.requests === 1 ? "wants" : "want"} ${group.tool}: `,
    code(headOf(group)),
  ),
  lines: [
    ...(group.risks.length === 0 ? [] : [state("failed", `it ${riskWords(group.risks) ?? ""}`)]),
    joinTexts("the first expires at ", time(group.expires_at, "minutes")),
    code(`nightdesk approvals show ${group.approval_id}`),
  ],
});

/** Codes of jobs that wait for a person. They are no failures, and lists report them by their cause. */
export const WAITS_FOR_PEOPLE: readonly string[] = [
  "APPROVAL_PENDING",
  "REVIEW_PENDING",
  "ANSWER_REVIEW_PENDING",
];

/** What waits for a person in a batch, with the commands that resolve it; empty if nothing waits. */
export function waitingSections(
  { groups, calls, answers, uncertain, values, write_error: writeError }: BatchWaiting,
  batchId: string,
  title: string = WAITING_TITLE,
): readonly Section[] {
  const more = calls - groups.length;
  const approvals: readonly Block[] =
    groups.length === 0
      ? []
      : [
          { kind: "list", items: groups.map(groupItem) },
          ...(more > 0
            ? [{ kind: "note", text: `… and ${countOf(more, "call")} more` } as const]
            : []),
          commands(`nightdesk approvals review --batch ${batchId}`),
        ];
  return sectionOf("waiting", title, [
    ...approvals,
    ...askedBlocks(
      answers,
      `${countOf(answers, "answer")} ${answers === 1 ? "waits" : "wait"} for somebody to look at ${answers === 1 ? "it" : "them"}.`,
      `nightdesk reviews list --batch ${batchId}`,
    ),
    ...askedBlocks(
      uncertain,
      `Of ${countOf(uncertain, "run")} somebody has to say whether a call had its effect: a worker was lost during it.`,
      `nightdesk approvals list --uncertain --batch ${batchId}`,
    ),
    ...askedBlocks(values, valuesText(values), `nightdesk reviews list --batch ${batchId}`),
    ...askedBlocks(
      writeError === null ? 0 : 1,
      `The write-back that its end started has failed: ${writeError ?? ""}`,
      `nightdesk write-back ${batchId}`,
    ),
  ]);
}

/** The sentence on values that were withheld from paperless-ngx. */
export const valuesText = (values: number): string =>
  `${countOf(values, "value")} ${values === 1 ? "was" : "were"} not written to paperless-ngx, and ${values === 1 ? "waits" : "wait"} for somebody to look at ${values === 1 ? "it" : "them"}.`;

const askedBlocks = (jobs: number, text: string, command: string): readonly Block[] =>
  jobs === 0 ? [] : [{ kind: "line", text }, commands(command)];

const WAITING_TITLE = "What waits for a person";

const commands = (...lines: readonly string[]): Block => ({
  kind: "commands",
  language: "sh",
  lines,
});

/** An approval request with all that a person needs to decide. */
export const approvalPage = (approval: ApprovalDetail, extent: Extent): Page => ({
  title: `Approval ${approval.approval_id}`,
  facts: headFacts(approval),
  sections: [
    ...sectionOf("call", "What would be called", [
      {
        kind: "facts",
        facts: [
          fact("tool", `${approval.tool}, by ${approval.executor}`),
          fact("arguments", code(argsText(approval.args))),
          fact("fingerprint", code(approval.fingerprint)),
        ],
      },
    ]),
    ...sectionOf(
      "preview",
      "What it would do",
      approval.preview.trim() === "" ? [] : [{ kind: "quote", text: approval.preview }],
    ),
    ...waitingSection(approval, extent),
    ...listSection(
      "history",
      "What was decided about it before",
      approval.history.map(decisionItem),
      { extent, noun: "decision" },
    ),
  ],
});

function headFacts(approval: ApprovalDetail): readonly Fact[] {
  const { risks, decided_at: decidedAt } = approval;
  return [
    fact("approval", approval.approval_id),
    fact("state", [
      state(approval.state),
      ...(decidedAt === null
        ? [", expires at ", time(approval.expires_at)]
        : [" at ", time(decidedAt)]),
    ]),
    fact("asked", time(approval.requested_at)),
    fact("job", `${approval.job_id}  ${JSON.stringify(approval.custom_id)}, step ${approval.step}`),
    fact("batch", `${approval.batch_id}  ${approval.batch}`),
    ...(approval.preset === null ? [] : [fact("preset", approval.preset)]),
    ...(risks.length === 0 ? [] : [fact(state("failed", "risks"), risksText(risks) ?? "")]),
  ];
}

function waitingSection({ waiting }: ApprovalDetail, extent: Extent): readonly Section[] {
  const items = waiting.map((one): Item => ({
    text: [
      `${one.batch}, ${JSON.stringify(one.custom_id)}, step ${one.step}, since `,
      time(one.requested_at),
    ],
  }));
  const title = `Waiting with it: ${countOf(waiting.length, "run")}`;
  return listSection("waiting", title, items, { extent, noun: "run" });
}

type Decision = Omit<ApprovalDetail["history"][number], "custom_id" | "batch"> &
  Pick<StandingRow, "custom_id" | "batch">;

/** `approved for the batch tonight by ada, 40 runs`, with its reason and end. */
const decisionItem = (decision: Decision): Item => ({
  text: [
    time(decision.decided_at),
    ` ${VERDICTS[decision.verdict]} ${scopeWords(decision)} by ${decision.decided_by}, ${countOf(decision.hits, "run")}`,
  ],
  lines: [
    ...(decision.reason === null ? [] : [`reason: ${decision.reason}`]),
    ...(decision.expires_at === null ? [] : [["until ", time(decision.expires_at)]]),
    ...(decision.revoked_at === null ? [] : [["revoked at ", time(decision.revoked_at)]]),
  ],
});

export const VERDICTS = { approve: "approved", deny: "denied" } as const;

/** The scope of a decision: `once`, `for the batch tonight`. */
function scopeWords({
  scope,
  batch,
  custom_id: customId,
}: Pick<Decision, "scope" | "batch" | "custom_id">): string {
  switch (scope) {
    case "once":
      return "once";
    case "job":
      return `for the job ${JSON.stringify(customId ?? "")}`;
    case "batch":
      return `for the batch ${JSON.stringify(batch ?? "")}`;
    case "rule":
      return "as a rule";
  }
}

/** Decisions that answer future calls, one a row. */
export const ruleTable = (decisions: readonly StandingRow[]): Table =>
  tableOf(decisions, [
    ids("decision", (row) => row.decision_id),
    ["is", (row) => (row.revoked_at === null ? VERDICTS[row.verdict] : "revoked")],
    ["goes", scopeWords, { cut: "middle", least: 12, leftOut: 4 }],
    ["what", aboutWords, { least: 20 }],
    ["hits", (row) => formatCount(row.hits), RIGHT],
    ["expires", ({ expires_at: at }) => (at === null ? null : time(at, "minutes"))],
    ["by", (row) => row.decided_by, { leftOut: 3 }],
    ["at", (row) => time(row.decided_at, "minutes"), { leftOut: 2 }],
    ["reason", (row) => row.reason, { ...WORDS, least: 12, leftOut: 1 }],
  ]);

/** The subject of a decision: one call, or a rule for several. */
const aboutWords = ({ rule, tool, preview }: StandingRow): string | null => {
  if (rule !== null) return ruleWords(rule);
  return tool === null ? null : `${tool}: ${headOf({ preview: preview ?? "", args: {} })}`;
};

/** `git blame, in /input/repo`; a forbid rule has words only. */
function ruleWords(rule: Exclude<StandingRow["rule"], null>): string {
  const read = commandRuleSchema.safeParse(rule);
  if (!read.success) return canonicalJson(rule);
  const { binary, words, folder } = read.data;
  return [
    ["shell:", binary, ...words].join(" "),
    ...(folder === null || folder === "/" ? [] : [`in ${folder}`]),
  ].join(", ");
}

/** The column of the batch of a row. */
const batchColumn = (leftOut: number): ColumnOf<{ readonly batch: string }> => [
  "batch",
  ({ batch }) => batch,
  { cut: "middle", least: 12, leftOut },
];

/** Calls with an unknown outcome, one a row. */
export const uncertainTable = (steps: readonly UncertainStep[]): Table =>
  tableOf(steps, [
    ids("job", (step) => step.job_id),
    ["step", ({ step }) => String(step), RIGHT],
    batchColumn(2),
    ["custom_id", (step) => step.custom_id, { cut: "middle", least: 12, leftOut: 1 }],
    ["tool", ({ tool }) => tool],
    ["arguments", ({ args }) => argsText(args), { least: 20 }],
    ["began", (step) => time(step.started_at, "minutes"), { leftOut: 3 }],
  ]);

/** Answers that need a review, one a row. */
export const reviewTable = (rows: readonly ReviewRow[]): Table =>
  tableOf(rows, [
    ids("job", (row) => row.job_id),
    ["state", (row) => state(row.state), { leftOut: 2 }],
    batchColumn(3),
    ["asked", ({ kind, input }) => oneLine(formatTask(kind, input), "brief"), { least: 20 }],
    ["answer", ({ draft }) => oneLine(draft, "brief"), { least: 20 }],
    ["since", (row) => time(row.requested_at, "minutes"), { leftOut: 1 }],
  ]);

/** An answer with all that a reviewer needs to decide. */
export const reviewPage = (row: ReviewRow): Page => ({
  title: `Answer of job ${row.job_id}`,
  facts: [
    fact("Batch", `${row.batch}, ${row.custom_id}`),
    fact("Asked", oneLine(formatTask(row.kind, row.input), "full")),
    fact("State", row.decided_by === null ? row.state : `${row.state} by ${row.decided_by}`),
    fact("Why", row.why),
    fact("Checks and evidence", `nightdesk runs show ${row.run_id}`),
  ],
  sections: [
    section("draft", "Answer", [{ kind: "quote", text: row.draft }]),
    ...sectionOf(
      "correction",
      "Corrected",
      row.correction === null ? [] : [{ kind: "quote", text: row.correction }],
    ),
  ],
});
