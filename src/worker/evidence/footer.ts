import { READ_TEXT_FILE } from "../tools/read-text-file.ts";
import type { AdmittedEvidence } from "./types.ts";

/**
 * The last line of an answer: what it rests on, exactly. For the file `…(R/F), sha256=H` with characters as
 * code points and H of the file's bytes; for passages their number, their files and the snapshot's hash.
 */
export function scopeFooter({ file, passages, snapshotHash }: AdmittedEvidence): string {
  const parts: string[] = [];
  if (file !== null) {
    const extent = file.truncated ? "partial" : "full";
    const counts = `(${file.charsReturned}/${file.charsFull})`;
    parts.push(`${extent} evidence from ${READ_TEXT_FILE.name} ${counts}, sha256=${file.sha256}`);
  }
  if (passages.length > 0) {
    const files = new Set(passages.map(({ path }) => path)).size;
    parts.push(
      `${plural(passages.length, "passage")} from ${plural(files, "file")}, snapshot=${snapshotHash}`,
    );
  }
  return `Scope: ${parts.join("; ")}`;
}

/** The footer of a summary that was made in parts, which together cover the whole file. */
export const partsFooter = (fullFooter: string, parts: number): string =>
  `${fullFooter}, parts=${parts}`;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
