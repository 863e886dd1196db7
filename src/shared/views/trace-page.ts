import { formatTask } from "../job/kinds.ts";
import { formatCount } from "./quantity.ts";
import { checkSections } from "./run-checks.ts";
import type { RunChecks } from "./run-checks.ts";
import { oneLine } from "./run-evidence.ts";
import { endSections } from "./run-page.ts";
import { NAME, RIGHT, duration, fact, numbers, sectionOf, tableOf } from "./section.ts";
import type { Fact, Item, Page, Table } from "./section.ts";
import type { TraceLine, TraceLineOf } from "./trace-lines.ts";

/** The state behind a trace page. Its size is bounded, whatever the number of steps. */
type PageData = {
  /** Lines for the other sections: those of the job itself, and of its last run. */
  lines: TraceLine[];
  readonly done: Item[];
  left: number;
  readonly cost: Map<string, Cost>;
};

const OF_LAST_RUN: ReadonlySet<TraceLine["type"]> = new Set([
  ...(["answer", "quote", "figure", "field", "claim"] as const),
]);
const KEPT: ReadonlySet<TraceLine["type"]> = new Set([
  ...OF_LAST_RUN,
  ...(["job", "check", "audit", "coverage", "constraint"] as const),
]);

const linesOfType = <Type extends TraceLine["type"]>(
  { lines }: Pick<PageData, "lines">,
  type: Type,
): TraceLineOf<Type>[] => lines.filter((line): line is TraceLineOf<Type> => line.type === type);

type Cost = { calls: number; prompt: number; reply: number; ms: number };

/** Steps that the page lists. */
const MOST_STEPS = 500;

/** Builds the page of a trace for people, line by line. */
export function openTracePage(): {
  readonly take: (line: TraceLine) => void;
  readonly page: () => Page;
} {
  const gathered: PageData = { lines: [], done: [], left: 0, cost: new Map() };
  return {
    take(line) {
      collect(line, gathered);
      const item = stepItem(line);
      if (item === undefined) return;
      if (gathered.done.length < MOST_STEPS) gathered.done.push(item);
      else gathered.left += 1;
    },
    page: () => pageOf(gathered),
  };
}

function collect(line: TraceLine, to: PageData): void {
  if (line.type === "call" && line.cached_from === null) addCost(line, to.cost);
  if (line.scope !== "job") return;
  if (line.type === "run") to.lines = to.lines.filter(({ type }) => !OF_LAST_RUN.has(type));
  if (KEPT.has(line.type)) to.lines.push(line);
}

const REVISING = new Set(["CHECK_CONTRADICTS", "CHECK_UNKNOWN", "AUDITOR_CORRECTS"]);

/** The stage of a call, as in the view `stage_costs`. A draft that only broke the format is no revision. */
function stageOf({ pass, scope, prompt }: TraceLineOf<"call">): string {
  if (scope !== "job") return "check";
  if (pass === "decompose" || pass === "audit" || pass === "grade") return pass;
  return prompt.violations.some((code) => REVISING.has(code)) ? "revise" : "draft";
}

function addCost(call: TraceLineOf<"call">, costs: Map<string, Cost>): void {
  const stage = stageOf(call);
  const cost = costs.get(stage) ?? { calls: 0, prompt: 0, reply: 0, ms: 0 };
  cost.calls += 1;
  cost.prompt += call.prompt_tokens;
  cost.reply += call.completion_tokens;
  cost.ms += call.duration_ms;
  costs.set(stage, cost);
}

/** The item of a line in the list of steps; undefined if another section shows it. */
function stepItem(line: TraceLine): Item | undefined {
  const texts = stepTexts(line);
  if (texts === undefined) return undefined;
  const where = line.scope === "job" ? "" : `${line.scope}: `;
  const [text, result] = texts;
  return {
    mark: `${String(line.seq)}.`,
    text: `${where}${text}`,
    lines: result === undefined ? [] : [oneLine(result, "brief")],
  };
}

/** The step, and its outcome. */
function stepTexts(line: TraceLine): readonly [string, string?] | undefined {
  if (line.type === "run") return [`a run began, attempt ${String(line.attempt)}`];
  if (line.type === "call") {
    const tokens = `${formatCount(line.prompt_tokens)} + ${formatCount(line.completion_tokens)} tokens`;
    const reply = line.reply === "" ? JSON.stringify(line.tool_calls) : line.reply;
    return [
      `${line.model} was asked, pass ${line.pass} by ${line.prompt_template}, ${tokens}`,
      reply ?? errorText(line),
    ];
  }
  if (line.type === "tool") {
    const args = oneLine(JSON.stringify(line.args), "brief");
    return [
      `${line.name} ${args}`,
      line.error_code === null ? JSON.stringify(line.result) : errorText(line),
    ];
  }
  if (line.type === "policy") return [`${line.kind} ${JSON.stringify(line.detail)}`];
  return line.type === "answer" ? [`the run ended: ${endText(line)}`] : undefined;
}

const errorText = ({
  error_code: code,
  error_message: message,
}: Pick<TraceLineOf<"tool">, "error_code" | "error_message">): string =>
  `${code ?? ""}: ${message ?? ""}`;

const endText = ({ state, grade, verification, error_code: code }: TraceLineOf<"answer">): string =>
  [
    code === null ? state : `${state} with ${code}`,
    ...(grade === null ? [] : [`grade ${grade}`]),
    ...(verification === "off" ? [] : [`verification ${verification}`]),
  ].join(", ");

function pageOf(gathered: PageData): Page {
  const { done, left } = gathered;
  const [job] = linesOfType(gathered, "job");
  const [answer] = linesOfType(gathered, "answer");
  const more = left === 0 ? {} : { gap: { at: done.length, text: `${formatCount(left)} more` } };
  return {
    title: "What is on record of a job",
    facts: [
      ...(job === undefined ? [] : jobFacts(job)),
      ...(answer === undefined ? [] : [fact("end", endText(answer))]),
    ],
    sections: [
      ...(answer === undefined ? [] : endSections(answer)),
      ...checkSections(runChecksOf(gathered, answer), "trace"),
      ...sectionOf("done", "What was done, step by step", [{ kind: "list", items: done, ...more }]),
      ...sectionOf("cost", "Cost by stage", [costTable(gathered.cost)]),
    ],
    colophon: "Numbers are those of trace.jsonl (seq), which holds all of it.",
  };
}

const jobFacts = (job: TraceLineOf<"job">): readonly Fact[] => [
  fact("asked", oneLine(formatTask(job.kind, job.input), "full")),
  fact("kind", job.kind),
  fact("job", { kind: "id", of: "job", id: job.job_id }),
  fact("batch", job.batch),
];

const runChecksOf = (
  gathered: PageData,
  end: Pick<TraceLineOf<"answer">, "grade" | "claims_dropped" | "verification"> = {
    ...{ grade: null, claims_dropped: 0, verification: "off" },
  },
): RunChecks => ({
  ...end,
  quotes: linesOfType(gathered, "quote"),
  figures: linesOfType(gathered, "figure"),
  field_bindings: linesOfType(gathered, "field"),
  claims: linesOfType(gathered, "claim"),
  verification_checks: linesOfType(gathered, "check"),
  coverage: linesOfType(gathered, "coverage"),
  audits: linesOfType(gathered, "audit"),
  constraints: linesOfType(gathered, "constraint"),
});

const costTable = (costs: PageData["cost"]): Table =>
  tableOf(
    [...costs],
    [
      ["Stage", ([stage]) => stage, NAME],
      numbers("Calls", ([, { calls }]) => calls),
      numbers("Prompt tokens", ([, { prompt }]) => prompt),
      numbers("Reply tokens", ([, { reply }]) => reply),
      ["Time", ([, { ms }]) => duration(ms), RIGHT],
    ],
  );
