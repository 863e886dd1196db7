import { contradicts } from "../claims.ts";
import { formatTask } from "../kinds.ts";
import { claimTable } from "./claims.ts";
import { formatCount } from "./quantity.ts";
import { oneLine } from "./run-evidence.ts";
import { fact, section } from "./section.ts";
import type { Block, Fact, Item, Page, Section, Table } from "./section.ts";
import type { TraceLine, TraceLineOf } from "./trace-lines.ts";

/** What the page of a trace is made of: bounded, however many steps there were. */
type Gathered = {
  /** Of those that sections tell of, those of the job itself; of a run the last one's. */
  kept: TraceLine[];
  readonly done: Item[];
  left: number;
  readonly cost: Map<string, Cost>;
};

const KEPT: ReadonlySet<TraceLine["type"]> = new Set([
  ...(["job", "answer", "claim", "field"] as const),
  ...(["check", "judgement", "coverage", "constraint"] as const),
]);
const OF_LAST_RUN: ReadonlySet<TraceLine["type"]> = new Set(["answer", "claim", "field"]);

const keptOf = <Type extends TraceLine["type"]>(
  { kept }: Pick<Gathered, "kept">,
  type: Type,
): readonly TraceLineOf<Type>[] =>
  kept.filter((line): line is TraceLineOf<Type> => line.type === type);

type Cost = { calls: number; prompt: number; reply: number; ms: number };

/** Steps that the page lists. */
const MOST_STEPS = 500;

/** The page of a trace for people, made of its lines as they come. */
export function openTracePage(): {
  readonly take: (line: TraceLine) => void;
  readonly page: () => Page;
} {
  const gathered: Gathered = { kept: [], done: [], left: 0, cost: new Map() };
  return {
    take(line) {
      gather(line, gathered);
      const item = stepItem(line);
      if (item === undefined) return;
      if (gathered.done.length < MOST_STEPS) gathered.done.push(item);
      else gathered.left += 1;
    },
    page: () => pageOf(gathered),
  };
}

function gather(line: TraceLine, to: Gathered): void {
  if (line.type === "call") addCost(line, to.cost);
  if (line.scope !== "job") return;
  if (line.type === "run") to.kept = to.kept.filter(({ type }) => !OF_LAST_RUN.has(type));
  if (KEPT.has(line.type)) to.kept.push(line);
}

/** The passes of verification are a stage each, and so are the jobs of its checks; the others make the draft. */
function stageOf({ pass, scope }: TraceLineOf<"call">): string {
  if (scope !== "job") return "check";
  return pass === "decompose" || pass === "judge" ? pass : pass === "retry" ? "revise" : "draft";
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

/** What is told of a line among the steps; nothing of what other sections tell. */
function stepItem(line: TraceLine): Item | undefined {
  const texts = stepTexts(line);
  if (texts === undefined) return undefined;
  const where = line.scope === "job" ? "" : `${line.scope}: `;
  const [text, came] = texts;
  return {
    mark: `${String(line.seq)}.`,
    text: `${where}${text}`,
    lines: came === undefined ? [] : [oneLine(came, "brief")],
  };
}

/** What was done, and what came of it. */
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

function pageOf(gathered: Gathered): Page {
  const { done, left } = gathered;
  const [job] = keptOf(gathered, "job");
  const [answer] = keptOf(gathered, "answer");
  const more = left === 0 ? {} : { gap: { at: done.length, text: `${formatCount(left)} more` } };
  return {
    title: "What is on record of a job",
    facts: [
      ...(job === undefined ? [] : jobFacts(job)),
      ...(answer === undefined ? [] : [fact("end", endText(answer))]),
    ],
    sections: [
      ...answerSection(answer),
      ...statementSections(gathered),
      ...checkSection(keptOf(gathered, "check")),
      ...judgeSection(keptOf(gathered, "judgement")),
      ...openSection(gathered),
      ...sectionOf("done", "What was done, step by step", [{ kind: "list", items: done, ...more }]),
      ...sectionOf("cost", "Cost by stage", [costTable(gathered.cost)]),
    ],
    colophon: "Numbers are those of trace.jsonl (seq), which holds all of it.",
  };
}

const sectionOf = (id: string, title: string, blocks: readonly Block[]): readonly Section[] =>
  blocks.length === 0 ? [] : [section(id, title, blocks)];

const jobFacts = (job: TraceLineOf<"job">): readonly Fact[] => [
  fact("asked", oneLine(formatTask(job.kind, job.input), "all")),
  fact("kind", job.kind),
  fact("job", { kind: "id", of: "job", id: job.job_id }),
  fact("batch", job.batch),
];

function answerSection(answer: TraceLineOf<"answer"> | undefined): readonly Section[] {
  if (answer === undefined) return [];
  const { answer: text } = answer;
  if (text !== null) return [section("answer", "Answer", [{ kind: "quote", text }])];
  if (answer.error_code === null) return [];
  const reason = `There is none. ${errorText(answer)}`;
  return [section("answer", "Answer", [{ kind: "line", text: reason }])];
}

function statementSections(gathered: Gathered): readonly Section[] {
  const tableOf = (isShown: boolean): readonly Block[] =>
    claimTable(
      keptOf(gathered, "claim")
        .filter(({ stands }) => stands === isShown)
        .map((claim) => ({ ...claim, quote: claim.carrier })),
    );
  const items = keptOf(gathered, "field").map(
    ({ pointer, value, state, quote, path, line_start: at }) => ({
      mark: state,
      text: `${pointer} ${JSON.stringify(value)}`,
      lines:
        path === null ? [] : [`${path}:${String(at)} ${oneLine(JSON.stringify(quote), "brief")}`],
    }),
  );
  return [
    ...sectionOf("statements", "Statements, and what carries them", tableOf(true)),
    ...sectionOf("earlier", "Statements of earlier drafts", tableOf(false)),
    ...listSection("fields", "Fields, and the words that carry them", items),
  ];
}

const listSection = (id: string, title: string, items: readonly Item[]): readonly Section[] =>
  sectionOf(id, title, items.length === 0 ? [] : [{ kind: "list", items }]);

const checkSection = (checks: readonly TraceLineOf<"check">[]): readonly Section[] =>
  listSection(
    "checks",
    "Checks, and what they found",
    checks.map((check) => ({
      mark: `${String(check.round)}.${String(check.ordinal)}`,
      text: `${oneLine(check.question, "all")} Expected ${check.expects}, found ${check.state}${contradicts(check) ? ", which contradicts it" : ""}.`,
      lines: [
        `about: ${oneLine(check.claim, "brief")}`,
        `by ${check.how === "rule" ? `the rule ${String(check.rule)}` : "a job of its own"}${check.reason === null ? "" : `, ${check.reason.replaceAll("_", " ")}`}`,
        ...(check.detail === "" ? [] : [oneLine(check.detail, "brief")]),
        ...check.evidence.map(
          ({ path, line_start: at, quote }) =>
            `${path}:${String(at)}${quote === null ? "" : ` ${JSON.stringify(quote)}`}`,
        ),
      ],
    })),
  );

const judgeSection = (judgements: readonly TraceLineOf<"judgement">[]): readonly Section[] =>
  listSection(
    "judge",
    "What the judge said",
    judgements.map(({ round, score, given, caps, corrections }) => ({
      mark: `round ${String(round)}`,
      text:
        score === null || given === null
          ? "could not be had, or read"
          : `${String(score)} of 4${score === given ? "" : `; ${String(given)} before what keeps it low`}`,
      lines: [
        ...(caps.length === 0 ? [] : [`kept low by ${caps.join(", ").replaceAll("_", " ")}`]),
        ...corrections.map(
          ({ claim, where, change }) => `statement ${String(claim)}, at ${where}: ${change}`,
        ),
      ],
    })),
  );

function openSection(gathered: Gathered): readonly Section[] {
  const open = keptOf(gathered, "constraint").map(
    ({ what, needed, reason, resolved_at: resolved }) => ({
      mark: resolved === null ? "open" : "resolved",
      text: `${what} (${reason.replaceAll("_", " ")})`,
      lines: [needed],
    }),
  );
  const read = keptOf(gathered, "coverage").map(
    ({ claim, members, read: count, set_query: query }) => ({
      mark: count < members ? "open" : "covered",
      text: `${claim}: ${String(count)} of ${String(members)} ${query} were read`,
    }),
  );
  return listSection("open", "What is open, and what was covered", [...open, ...read]);
}

const costTable = (costs: Gathered["cost"]): Table => ({
  kind: "table",
  columns: [
    { title: "Stage", align: "left", holds: "name" },
    { title: "Calls", align: "right" },
    { title: "Prompt tokens", align: "right" },
    { title: "Reply tokens", align: "right" },
    { title: "Time", align: "right" },
  ],
  rows: [...costs].map(([stage, { calls, prompt, reply, ms }]) => [
    stage,
    { kind: "number", value: calls },
    { kind: "number", value: prompt },
    { kind: "number", value: reply },
    { kind: "duration", ms },
  ]),
});
