import type { Database } from "../../../src/shared/store/connection/database.ts";
import { rowsOf } from "../night/accounts.ts";
import { isWrong } from "./play-cases.ts";
import type { Ended } from "./play-cases.ts";

type Cells = readonly (string | number)[];

/** Lines of a table, each column as wide as its widest cell. */
function table(head: Cells, rows: readonly Cells[]): string {
  const all = [head, ...rows].map((cells) => cells.map(String));
  const widths = head.map((_, at) => Math.max(...all.map((cells) => (cells[at] ?? "").length)));
  return all
    .map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** By the kind of what was planted: how cases ended, and how many right and wrong answers were taken for the other. */
export function tableOfEnds(ended: readonly Ended[]): string {
  const kinds = [...new Set(ended.map(({ one }) => one.kind))].sort();
  const rows = kinds.map((kind) => [
    kind,
    ...countsOf(ended.filter(({ one }) => one.kind === kind)),
  ]);
  return table(
    [
      ...["kind", "cases", "verified", "supported", "unconfirmed", "unresolved", "refused"],
      ...["wrong, verified", "right drafts, not verified"],
    ],
    [...rows, ["all", ...countsOf(ended)]],
  );
}

function countsOf(ended: readonly Ended[]): readonly number[] {
  const ending = (begin: string): number => ended.filter(({ end }) => end.startsWith(begin)).length;
  const wrong = ended.filter((one) => one.end === "verified" && isWrong(one)).length;
  const right = ended.filter(({ one, end }) => one.truth === "right" && end !== "verified").length;
  return [
    ended.length,
    ...["verified", "supported", "unconfirmed", "unresolved", "refused"].map(ending),
    ...[wrong, right],
  ];
}

type CostRow = {
  readonly kind: string;
  readonly stage: string;
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly model_ms: number;
};

/** What each stage of a batch asked of its models. */
export async function tableOfCosts(db: Database, batchId: string): Promise<string> {
  const rows = await rowsOf<CostRow>(
    db,
    `select kind, stage, sum(calls)::int as calls, sum(prompt_tokens)::int as prompt_tokens,
            sum(completion_tokens)::int as completion_tokens, round(sum(model_ms))::int as model_ms
       from nightdesk.stage_costs where batch_id = $1 group by kind, stage order by kind, stage`,
    [batchId],
  );
  return table(
    ["jobs", "stage", "calls", "prompt tokens", "reply tokens", "ms in the model"],
    rows.map((row) => [
      ...[row.kind, row.stage, row.calls],
      ...[row.prompt_tokens, row.completion_tokens, row.model_ms],
    ]),
  );
}
