import type { JobResult } from "../../shared/db/jobs/read-results.ts";
import { cleanLines } from "../../shared/terminal-text.ts";
import { csvRecord } from "../print/csv.ts";

type Column = readonly [title: string, value: (result: JobResult) => string | null];

/** Titles and their order are a contract: a new column goes to the end. */
const COLUMNS: readonly Column[] = [
  ["custom_id", ({ custom_id }) => custom_id],
  ["job_id", ({ job_id }) => job_id],
  ["kind", ({ kind }) => kind],
  ["state", ({ state }) => state],
  ["error_code", ({ error_code }) => error_code],
  ["error_message", ({ error_message }) => error_message],
  ["input", ({ input }) => JSON.stringify(input)],
  ["answer", ({ answer }) => answer],
  ["scope", ({ scope }) => scope],
  ["output", ({ summary }) => (summary === null ? null : JSON.stringify(summary))],
  ["evidence", ({ evidence }) => evidence.map(describePiece).join("; ")],
  ["model", ({ model_first, model_second }) => model_second ?? model_first],
  ["prompt_tokens", ({ prompt_tokens }) => countCell(prompt_tokens)],
  ["completion_tokens", ({ completion_tokens }) => countCell(completion_tokens)],
  ["queued_ms", ({ queued_ms }) => countCell(queued_ms)],
  ["model_ms", ({ model_ms }) => countCell(model_ms)],
  ["total_ms", ({ total_ms }) => countCell(total_ms)],
  ["created_at", ({ created_at }) => created_at.toISOString()],
  ["finished_at", ({ finished_at }) => finished_at?.toISOString() ?? null],
];

/** The titles, without the CRLF's line feed. */
export const csvHead = (): string => `${csvRecord(COLUMNS.map(([title]) => title))}\r`;

/** One row a job, whatever its state, by RFC 4180 and safe to open in a spreadsheet. */
export const csvRow = (result: JobResult): string =>
  `${cleanLines(csvRecord(COLUMNS.map(([, value]) => value(result))))}\r`;

/** `notes/brakes.md:3-9 <sha256>`. */
const describePiece = (piece: JobResult["evidence"][number]): string =>
  `${piece.path}:${piece.line_start}-${piece.line_end} ${piece.sha256}`;

const countCell = (value: number | null): string | null =>
  value === null ? null : String(Math.round(value));
