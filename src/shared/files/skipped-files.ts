import { posix } from "node:path";
import type { Config } from "../config/schema.ts";
import { FILE_NAME } from "../config/select-config-file.ts";

/** How many files of each extension are left out; `none` has no extension, and `other` holds what is no usual one. */
export type SkippedFiles = Readonly<Record<string, number>>;

/** A file or folder that no list names: it begins with a dot, is the mark of Office that a file is open, or our configuration. */
export const isHiddenName = (name: string): boolean =>
  name.startsWith(".") || isLockFile(name) || name === FILE_NAME;

/** `~$letter.docx` lies beside letter.docx as long as somebody has it open, and holds his name. */
export const isLockFile = (name: string): boolean => name.startsWith("~$");

const USUAL_EXTENSION = /^\.[\p{L}\p{N}_-]{1,15}$/u;
const MOST_NAMED = 20;

/** Counts one file. Names on a disk may hold anything, so that only usual extensions are told by name. */
export function countSkipped(counts: Map<string, number>, name: string): void {
  const extension = posix.extname(name).toLowerCase();
  const key = extension === "" ? "none" : USUAL_EXTENSION.test(extension) ? extension : "other";
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The most frequent first, and in the order of their names where they are as many; `other` holds those beyond 20. */
export function skippedFilesOf(counts: ReadonlyMap<string, number>): SkippedFiles {
  const named = [...counts]
    .filter(([key]) => key !== "other")
    .sort(([a, one], [b, two]) => two - one || (a < b ? -1 : 1));
  const others = named.slice(MOST_NAMED).reduce((sum, [, count]) => sum + count, 0);
  const other = others + (counts.get("other") ?? 0);
  return Object.fromEntries([
    ...named.slice(0, MOST_NAMED),
    ...(other > 0 ? [["other", other] as const] : []),
  ]);
}

export const totalSkipped = (skipped: SkippedFiles): number =>
  Object.values(skipped).reduce((sum, count) => sum + count, 0);

/** `12 skipped: 7 .pdf, 5 .csv`. */
export function formatSkipped(skipped: SkippedFiles): string {
  const words: Readonly<Record<string, string>> = {
    none: "without an extension",
    other: "of other extensions",
  };
  // A column of JSON keeps no order.
  const listed = Object.entries(skippedFilesOf(new Map(Object.entries(skipped)))).map(
    ([key, count]) => `${count} ${words[key] ?? key}`,
  );
  return `${totalSkipped(skipped)} skipped: ${listed.join(", ")}`;
}

/** `Files are read that end with .md, .txt, .json (security.allowed_exts)`. */
export const takenExtensions = ({ security }: Pick<Config, "security">): string =>
  `Files are read that end with ${security.allowed_exts.join(", ")} (security.allowed_exts)`;

/** What a report begins with, in both forms: by it a newer report knows the one that it may replace. */
export const reportMark = (batchId: string): string =>
  `<!-- nightdesk report of batch ${batchId} -->`;

/** What an export in Markdown begins with. */
export const EXPORT_MARK = "<!-- nightdesk export -->";

/** What the text of a file does not hold where the file is an output of Nightdesk. */
export const OWN_RESULTS = "results of Nightdesk";

const HEAD_BYTES = 2_048;
const ID = String.raw`"custom_id":"(?:[^"\\]|\\.)*"`;
/** The marks above, the first columns of an export as CSV, or the first keys of one as JSONL, ours or OpenAI's. */
const HEAD = new RegExp(
  [
    String.raw`^(?:<!doctype html>\n)?<!-- nightdesk (?:report of batch|export) `,
    "^custom_id,job_id,kind,state,",
    String.raw`^\{${ID},"job_id":"[\da-f-]{36}","kind":"`,
    String.raw`^\{"id":"batch_req_\w+",${ID},"response":`,
  ].join("|"),
);

/** Whether a file is a report or an export of a batch, of whichever database. */
export const isOwnOutput = (bytes: Buffer): boolean =>
  HEAD.test(bytes.toString("latin1", 0, HEAD_BYTES));

/** The same of an export as a workbook, by the text of its first sheet. */
export const isOwnWorkbook = (text: string): boolean =>
  text.startsWith("## Results\ncustom_id; kind; task; state; grade; answer; ");
