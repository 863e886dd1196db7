import type { JobResult } from "../../shared/views/results.ts";
import { EXPORT_MARK } from "../../shared/files/skipped-files.ts";
import { openAiLine } from "../../shared/views/openai-lines.ts";
import type { JobVectors, Written } from "../../shared/views/openai-lines.ts";
import { csvRecord } from "../../shared/text/csv.ts";
import { cleanLines, jsonForTerminal } from "../../shared/terminal/styled-text.ts";
import { exportJson } from "../print/result.ts";
import { unreadLines } from "../../shared/views/citations.ts";
import { answerSection } from "../../shared/views/answer-sections.ts";
import { stepText } from "../../shared/views/steps.ts";
import { markdownSection } from "../report/markdown.ts";
import { markdownText } from "./markdown.ts";

const TEXT_FORMATS = ["native", "openai", "csv", "markdown"] as const;
/** Binary formats, which need an output file. */
export const TABLE_FORMATS = ["xlsx", "parquet"] as const;
export const EXPORT_FORMATS = [...TEXT_FORMATS, ...TABLE_FORMATS] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];
export type TableFormat = (typeof TABLE_FORMATS)[number];
export type ExportFormat = TextFormat | TableFormat;

/** A text format of an export. */
export type ExportForm = {
  /** The text before the first job. */
  readonly head: string | null;
  /** undefined for an unfinished job, if the format has no place for it. */
  write(result: JobResult, vectors: JobVectors): Written | undefined;
};

/** @param hrefBase the base of links to evidence: the path from the output file to the work root; "" or ending in `/` */
export function exportFormOf(format: TextFormat, batch: string, hrefBase: string): ExportForm {
  switch (format) {
    case "native":
      return { head: null, write: (result, vectors) => output(nativeLine(result, vectors)) };
    case "openai":
      return { head: null, write: openAiLine };
    case "csv":
      return { head: csvHead(), write: (result) => output(csvRow(result)) };
    case "markdown":
      return {
        head: `${EXPORT_MARK}\n\n# ${markdownText(batch)}\n`,
        write: (result) => output(`${markdownSection(answerSection(result, "full"), hrefBase)}\n`),
      };
  }
}

const output = (text: string): Written => ({ to: "output", text });

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
  ["evidence", ({ evidence }) => evidence.map(formatPiece).join("; ")],
  ["model", ({ model_first, model_second }) => model_second ?? model_first],
  ["prompt_tokens", ({ prompt_tokens }) => countCell(prompt_tokens)],
  ["completion_tokens", ({ completion_tokens }) => countCell(completion_tokens)],
  ["queued_ms", ({ queued_ms }) => countCell(queued_ms)],
  ["model_ms", ({ model_ms }) => countCell(model_ms)],
  ["total_ms", ({ total_ms }) => countCell(total_ms)],
  ["created_at", ({ created_at }) => created_at.toISOString()],
  ["finished_at", ({ finished_at }) => finished_at?.toISOString() ?? null],
  ["steps", ({ steps }) => (steps.length === 0 ? null : steps.map(stepText).join("; "))],
  ["outputs", ({ steps }) => outputsCell(steps)],
  ["duplicate_of", ({ duplicate_of }) => duplicate_of],
  ["not_read", ({ evidence }) => unreadLines(evidence).join(" ") || null],
];

/** The texts of steps' outputs, if they were requested. */
function outputsCell(steps: JobResult["steps"]): string | null {
  const texts = steps.flatMap(({ ordinal, outputs }) =>
    outputs.flatMap(({ stream, text }) =>
      text === undefined ? [] : [{ step: ordinal, stream, text }],
    ),
  );
  return texts.length === 0 ? null : JSON.stringify(texts);
}

/** The titles, without the CRLF's line feed. */
const csvHead = (): string => `${csvRecord(COLUMNS.map(([title]) => title))}\r`;

/** One row per job, whatever its state, by RFC 4180 and safe to open in a spreadsheet. */
const csvRow = (result: JobResult): string =>
  `${cleanLines(csvRecord(COLUMNS.map(([, value]) => value(result))))}\r`;

/** `notes/brakes.md:3-9 <sha256>`. */
const formatPiece = (piece: JobResult["evidence"][number]): string =>
  `${piece.path}:${piece.line_start}-${piece.line_end} ${piece.sha256}`;

const countCell = (value: number | null): string | null =>
  value === null ? null : String(Math.round(value));

/** A job in Nightdesk's own format, whatever its state. */
const nativeLine = (result: JobResult, { model, vectors }: JobVectors): string =>
  jsonForTerminal({
    ...exportJson(result),
    ...(vectors.length === 0 ? {} : { vectors, vector_model: model }),
  });
