import { formatLocator } from "../../shared/job/locator.ts";
import { formatTask } from "../../shared/job/kinds.ts";
import { cleanLines } from "../../shared/terminal/styled-text.ts";
import type { StoredClaim } from "../../shared/views/claims.ts";
import { reasonText } from "../../shared/views/claims.ts";
import { decisionText, unboundText } from "../../shared/views/field-blocks.ts";
import type { JobResult, StoredBinding } from "../../shared/views/results.ts";

/** A typed cell of a table; its text holds no control sequence for terminals and no character that XML forbids. */
export type CellValue = string | number | Date | null;

export type TypedColumn<Row> = {
  readonly title: string;
  readonly type: "text" | "count" | "number" | "time";
  readonly value: (row: Row) => CellValue;
};

const text = <Row>(title: string, value: (row: Row) => string | null): TypedColumn<Row> => ({
  title,
  type: "text",
  value: (row) => cleanText(value(row)),
});
const count = <Row>(title: string, value: (row: Row) => number | null): TypedColumn<Row> => ({
  title,
  type: "count",
  value: (row) => rounded(value(row)),
});

const rounded = (value: number | null): number | null =>
  value === null ? null : Math.round(value);

const cleanText = (value: string | null): string | null =>
  value === null ? null : cleanLines(value).replace(/\r(?=\n|$)|[\ufffe\uffff]/g, "");

/** One row per job. Titles and their order are a contract: a new column goes to the end. */
export const RESULT_COLUMNS: readonly TypedColumn<JobResult>[] = [
  text("custom_id", ({ custom_id }) => custom_id),
  text("kind", ({ kind }) => kind),
  text("task", ({ kind, input }) => formatTask(kind, input)),
  text("state", ({ state }) => state),
  text("grade", ({ grade }) => grade),
  text("answer", ({ answer, summary }) => answer ?? (summary && JSON.stringify(summary))),
  text("error_code", ({ error_code }) => error_code),
  text("error_message", ({ error_message }) => error_message),
  text(
    "evidence",
    ({ evidence }) => [...new Set(evidence.map(({ path }) => path))].join("; ") || null,
  ),
  text("model", ({ model_first, model_second }) => model_second ?? model_first),
  count("prompt_tokens", ({ prompt_tokens }) => prompt_tokens),
  count("completion_tokens", ({ completion_tokens }) => completion_tokens),
  count("total_ms", ({ total_ms }) => total_ms),
  { title: "created_at", type: "time", value: ({ created_at }) => created_at },
  { title: "finished_at", type: "time", value: ({ finished_at }) => finished_at },
  text("job_id", ({ job_id }) => job_id),
];

type ClaimRow = { readonly result: JobResult; readonly claim: StoredClaim };

/** One row per statement of an answer, with the place of the words that support it. */
export const CLAIM_COLUMNS: readonly TypedColumn<ClaimRow>[] = [
  text("custom_id", ({ result }) => result.custom_id),
  text("statement", ({ claim }) => claim.text),
  text("grade", ({ claim }) => claim.grade),
  text("reason", ({ claim }) => reasonText(claim)),
  text("path", ({ claim }) => claim.path),
  count("line_start", ({ claim }) => claim.line_start),
  count("line_end", ({ claim }) => claim.line_end),
  text("place", ({ claim: { locator } }) => locator && formatLocator(locator)),
  text("quote", ({ claim }) => claim.quote),
  text("job_id", ({ result }) => result.job_id),
];

type FieldRow = { readonly result: JobResult; readonly field: StoredBinding };

/** One row per value of an extraction. Numbers have a column of their own, so that a spreadsheet can add them up. */
export const FIELD_COLUMNS: readonly TypedColumn<FieldRow>[] = [
  text("custom_id", ({ result }) => result.custom_id),
  text("field", ({ field }) => field.pointer),
  text("value", ({ field: { value } }) => (value === null ? null : String(value))),
  {
    title: "number",
    type: "number",
    value: ({ field: { value } }) => (typeof value === "number" ? value : null),
  },
  text("grade", ({ field }) => field.grade),
  text("in_doubt", ({ field: { reason, doubt } }) =>
    reason === null ? null : unboundText(reason, doubt),
  ),
  text("path", ({ field }) => field.path),
  count("line_start", ({ field }) => field.line_start),
  count("line_end", ({ field }) => field.line_end),
  text("quote", ({ field }) => field.quote),
  text("job_id", ({ result }) => result.job_id),
  text("decided", ({ field }) => decisionText(field)),
  text("correction", ({ field: { correction } }) =>
    correction === null ? null : String(correction),
  ),
  {
    title: "decided_at",
    type: "time",
    value: ({ field: { decided_at: at } }) => (at === null ? null : new Date(at)),
  },
];
