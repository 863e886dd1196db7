import { hash } from "node:crypto";
import { cleanText, firstCodePoints } from "../text/clean-text.ts";
import { READ_TOOL } from "../../shared/config/tool-presets.ts";
import type { AdmittedEvidence, Reading, ToolPrint } from "./types.ts";

/**
 * The last line of an answer: names the evidence exactly.
 * - A file: `…(R/F), sha256=H`, where R and F count code points and H is the hash of the file's bytes.
 * - A web page: the same with its URL.
 * - Several files or pages, which are always read whole: their number and the hash of their hashes.
 * - Passages: their number, the number of their files, and the snapshot's hash.
 * - Output of tools: the call and its hash, or the number of calls and the hash of their hashes.
 */
export function scopeFooter({
  files,
  passages,
  outputs = [],
  snapshotHash,
}: AdmittedEvidence): string {
  const parts: string[] = [];
  const [file, ...others] = files;
  if (file !== undefined) parts.push(others.length === 0 ? ofFile(file) : ofFiles(files));
  if (passages.length > 0) {
    const sources = new Set(passages.map(({ path }) => path)).size;
    parts.push(
      `${plural(passages.length, "passage")} from ${plural(sources, "file")}, snapshot=${snapshotHash}`,
    );
  }
  const [output, ...furtherOutputs] = outputs;
  if (output !== undefined) {
    parts.push(
      furtherOutputs.length === 0
        ? `${output.label}, sha256=${output.sha256}`
        : `output of ${plural(outputs.length, "call")}, snapshot=${outputsHash(outputs)}`,
    );
  }
  return `Scope: ${parts.join("; ")}`;
}

/** SHA-256 of the lines `label sha256` in the order of the steps, joined by LF; 64 hex. */
export const outputsHash = (outputs: readonly Pick<ToolPrint, "label" | "sha256">[]): string =>
  hash("sha256", outputs.map(({ label, sha256 }) => `${label} ${sha256}`).join("\n"));

function ofFile({ truncated, charsReturned, charsFull, sha256, page, path }: Reading): string {
  const extent = truncated ? "partial" : "full";
  const from = page === undefined ? READ_TOOL : `web page ${footerUrl(path)}`;
  return `${extent} evidence from ${from} (${charsReturned}/${charsFull}), sha256=${sha256}`;
}

/** Cut, because a long URL would hide the rest of the footer. The evidence row holds the whole URL. */
const footerUrl = (url: string): string => cleanText(firstCodePoints(url, MOST_URL_CHARS));
const MOST_URL_CHARS = 200;

function ofFiles(readings: readonly Reading[]): string {
  const pages = readings.filter(({ page }) => page !== undefined).length;
  const kinds = [
    ...(pages === readings.length ? [] : [plural(readings.length - pages, "file")]),
    ...(pages === 0 ? [] : [plural(pages, "web page")]),
  ];
  return `full evidence from ${kinds.join(" and ")}, snapshot=${filesHash(readings)}`;
}

/** SHA-256 of the lines `path sha256` in reading order, joined by LF; 64 hex. The paths are those of the evidence rows. */
export function filesHash(files: readonly Pick<Reading, "path" | "sha256">[]): string {
  const lines = files.map(({ path, sha256 }) => `${cleanText(path)} ${sha256}`);
  return hash("sha256", lines.join("\n"));
}

/** The footer of a summary made from parts that together cover the whole file. */
export const partsFooter = (fullFooter: string, parts: number): string =>
  `${fullFooter}, parts=${parts}`;

/** A count with its noun, for footers and results: "1 file", "2 files". */
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;
