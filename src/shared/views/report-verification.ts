import { z } from "zod";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";
import { countOf } from "./quantity.ts";
import { NAME, RIGHT, duration, moreBlocks, numbers, section, strong, tableOf } from "./section.ts";
import type { ColumnOf, Item, Section } from "./section.ts";

const count = z.coerce.number();

const openSchema = z.object({
  custom_id: z.string(),
  what: z.string(),
  needed: z.string(),
  reason: z.string(),
  total: count,
});

const stageSchema = z.object({
  stage: z.string(),
  model: z.string(),
  calls: count,
  prompt_tokens: count,
  completion_tokens: count,
  model_ms: count,
});

const scoreSchema = z.object({
  round: count,
  answers: count,
  unread: count,
  points: z.array(count).length(4),
  capped: count,
});

/** The cost of verifying the answers of a batch, and the questions that it leaves open. */
export type VerificationReport = {
  /** The first open questions; `openTotal` counts all. */
  readonly open: readonly z.infer<typeof openSchema>[];
  readonly openTotal: number;
  /** By stage and model; empty if no answer was verified. */
  readonly stages: readonly z.infer<typeof stageSchema>[];
  /** Scores of the auditor by round: the counts of answers with one, two, three and four points. */
  readonly scores: readonly z.infer<typeof scoreSchema>[];
};

const STAGES = ["draft", "grade", "decompose", "check", "audit", "revise"];

export async function selectVerificationReport(
  db: Queryable,
  batchId: string,
  most: number,
): Promise<VerificationReport> {
  const open = await rowsOf(db, openSchema, [batchId, most])`
     select custom_id, what, needed, reason, count(*) over () as total from nightdesk.constraints
          where batch_id = $1 and resolved_at is null order by custom_id, constraint_id limit $2`;
  const stages = await rowsOf(db, stageSchema, [batchId, STAGES])`
     select stage, model, sum(calls) as calls, sum(prompt_tokens) as prompt_tokens,
            sum(completion_tokens) as completion_tokens, sum(model_ms) as model_ms
       from nightdesk.stage_costs
      where batch_id = $1 and (exists (select from nightdesk.audits g where g.batch_id = $1)
            or exists (select from nightdesk_data.batches c where c.parent_id = $1 and c.origin = 'verify' and starts_with(c.name, 'checks ')))
      group by 1, 2 order by array_position($2::text[], stage), model`;
  const scores = await rowsOf(db, scoreSchema, [batchId])`
     select g.round, count(*) as answers, count(*) filter (where g.score is null) as unread,
            array(select count(*) filter (where h.score = p) from generate_series(1, 4) p
                    left join nightdesk.audits h on h.batch_id = $1 and h.round = g.round group by p order by p) as points,
            count(*) filter (where g.score < g.given) as capped
       from nightdesk.audits g where g.batch_id = $1 group by g.round order by g.round`;
  return { open, openTotal: open[0]?.total ?? 0, stages, scores };
}

/** The open questions, each with what it needs. */
export function openSection(
  { open, openTotal }: VerificationReport,
  batchId: string,
): readonly Section[] {
  if (openTotal === 0) return [];
  const more = openTotal - open.length;
  const statement = `select custom_id, what, needed from constraints where batch_id = '${batchId}' and resolved_at is null`;
  return [
    section("open", `What is open, and what it takes: ${countOf(openTotal, "question")}`, [
      { kind: "line", text: ["When what is missing is there, what was left open is run again:"] },
      {
        kind: "commands",
        language: "sh",
        lines: ["nightdesk index", `nightdesk batch rerun ${batchId} --unresolved`],
      },
      { kind: "list", items: open.map(openItem) },
      ...moreBlocks(more, `${countOf(more, "question")} more`, statement),
    ]),
  ];
}

const openItem = ({
  custom_id: id,
  what,
  needed,
  reason,
}: VerificationReport["open"][number]): Item => ({
  text: [strong(id), ` ${what} (${reason.replaceAll("_", " ")})`],
  lines: [needed],
});

type ScoreRow = VerificationReport["scores"][number];

const pointColumn = (title: string, at: number): ColumnOf<ScoreRow> =>
  numbers(title, ({ points }) => points[at] ?? 0);

/** The auditor's points by round. An answer passes with three points. */
export const scoreTables = ({ scores }: VerificationReport): readonly Section[] =>
  scores.length === 0
    ? []
    : [
        section("points-by-round", "Points of the auditor, by round", [
          tableOf(scores, [
            numbers("Round", ({ round }) => round),
            numbers("Answers", ({ answers }) => answers),
            ...["1 point", "2 points", "3 points", "4 points"].map(pointColumn),
            numbers("Not read", ({ unread }) => unread),
            numbers("Lowered by a rule", ({ capped }) => capped),
          ]),
        ]),
      ];

/** Calls by stage: drafts and verification. */
export const stageTables = ({ stages }: VerificationReport): readonly Section[] =>
  stages.length === 0
    ? []
    : [
        section("costs-by-stage", "By stage of verification", [
          tableOf(stages, [
            ["Stage", ({ stage }) => stage, NAME],
            ["Model", ({ model }) => model],
            numbers("Calls", ({ calls }) => calls),
            numbers("Tokens read", (row) => row.prompt_tokens),
            numbers("Tokens written", (row) => row.completion_tokens),
            ["In the model", (row) => duration(row.model_ms), RIGHT],
          ]),
        ]),
      ];
