import { posix } from "node:path";
import type { Config } from "../config/schema.ts";
import { FILE_NAME } from "../config/select-config-file.ts";

/** Counts of skipped files by extension. `none` are those without an extension, `other` those with an unusual one. */
export type SkippedFiles = Readonly<Record<string, number>>;

/** A file or folder that no list shows: its name begins with a dot, or it is a lock file of Office or our configuration. */
export const isHiddenName = (name: string): boolean =>
  name.startsWith(".") || isLockFile(name) || name === FILE_NAME;

/** `~$letter.docx` exists while a user has letter.docx open, and contains the user's name. */
export const isLockFile = (name: string): boolean => name.startsWith("~$");

const USUAL_EXTENSION = /^\.[\p{L}\p{N}_-]{1,15}$/u;
const MOST_NAMED = 20;

/** Counts one file. File names may contain anything, so only usual extensions are reported by name. */
export function countSkipped(counts: Map<string, number>, name: string): void {
  const extension = posix.extname(name).toLowerCase();
  const key = extension === "" ? "none" : USUAL_EXTENSION.test(extension) ? extension : "other";
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The most frequent first, equal ones by name; `other` includes those beyond 20. */
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
  // A JSON column does not keep the order.
  const listed = Object.entries(skippedFilesOf(new Map(Object.entries(skipped)))).map(
    ([key, count]) => `${count} ${words[key] ?? key}`,
  );
  return `${totalSkipped(skipped)} skipped: ${listed.join(", ")}`;
}

/** `Files are read that end with .md, .txt, .json (security.allowed_exts)`. */
export const allowedExtensionsText = ({ security }: Pick<Config, "security">): string =>
  `Files are read that end with ${security.allowed_exts.join(", ")} (security.allowed_exts)`;

/** The first line of a report, in both formats: a new report recognises by it the file that it may replace. */
export const reportMark = (batchId: string): string =>
  `<!-- nightdesk report of batch ${batchId} -->`;

/** The first line of an export in Markdown. */
export const EXPORT_MARK = "<!-- nightdesk export -->";

/** The name under which extraction reports the parts of Nightdesk's own outputs that it leaves out. */
export const OWN_RESULTS = "results of Nightdesk";

const HEAD_BYTES = 2_048;
const ID = String.raw`"custom_id":"(?:[^"\\]|\\.)*"`;
/** The marks above, the first columns of a CSV export, or the first keys of a JSONL export, ours or OpenAI's. */
const HEAD = new RegExp(
  [
    String.raw`^(?:<!doctype html>\n)?<!-- nightdesk (?:report of batch|export) `,
    "^custom_id,job_id,kind,state,",
    String.raw`^\{${ID},"job_id":"[\da-f-]{36}","kind":"`,
    String.raw`^\{"id":"batch_req_\w+",${ID},"response":`,
  ].join("|"),
);

/** Whether a file is a report or an export of a batch, from any database. */
export const isOwnOutput = (bytes: Buffer): boolean =>
  HEAD.test(bytes.toString("latin1", 0, HEAD_BYTES));

/** The same for an export as a workbook, by the text of its first sheet. */
export const isOwnWorkbook = (text: string): boolean =>
  text.startsWith("## Results\ncustom_id; kind; task; state; grade; answer; ");
