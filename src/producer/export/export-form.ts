import type { JobResult } from "../../shared/db/jobs/read-results.ts";
import { csvHead, csvRow } from "./csv-rows.ts";
import { markdownHead, markdownSection } from "./markdown-sections.ts";
import { nativeLine } from "./native-lines.ts";
import { openAiLine } from "./openai-lines.ts";

export const EXPORT_FORMATS = ["native", "openai", "csv", "markdown"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Vectors of a job of free text; none for any other. */
export type JobVectors = {
  readonly model: string | null;
  readonly vectors: readonly (readonly number[])[];
};

/** One job as a form writes it, without the line feed at its end. */
export type Written = { readonly to: "output" | "errors"; readonly text: string };

/** How a batch is written. */
export type ExportForm = {
  /** What stands before the first job. */
  readonly head: string | null;
  /** undefined for a job that the form has no place for, because it has not ended. */
  write(result: JobResult, vectors: JobVectors): Written | undefined;
};

/** @param hrefBase of links to evidence: the path from the file that is written to the work root, with `/`; "" or ending in `/` */
export function exportFormOf(format: ExportFormat, batch: string, hrefBase: string): ExportForm {
  switch (format) {
    case "native":
      return { head: null, write: (result, vectors) => output(nativeLine(result, vectors)) };
    case "openai":
      return { head: null, write: openAiLine };
    case "csv":
      return { head: csvHead(), write: (result) => output(csvRow(result)) };
    case "markdown":
      return {
        head: markdownHead(batch),
        write: (result) => output(markdownSection(result, hrefBase)),
      };
  }
}

const output = (text: string): Written => ({ to: "output", text });
