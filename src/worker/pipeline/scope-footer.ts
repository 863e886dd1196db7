import type { AdmittedEvidence } from "./gate-evidence.ts";
import { normaliseText } from "../../shared/normalise-text.ts";

/**
 * The last line of an answer: what it rests on, exactly. For the file `…(R/F), sha256=H` with characters as
 * code points and H of the file's bytes; for passages their number, their files and the snapshot's hash.
 */
export function scopeFooter({ file, passages, snapshotHash }: AdmittedEvidence): string {
  const parts: string[] = [];
  if (file !== null) {
    const extent = file.truncated ? "partial" : "full";
    const counts = `(${file.charsReturned}/${file.charsFull})`;
    parts.push(`${extent} evidence from read_text_file ${counts}, sha256=${file.sha256}`);
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

/** Where a text states a scope as our footer does, wherever it stands; "Scope: the whole project" is none. */
const FOOTER =
  /\bScope[*_\s]{0,8}:[*_`\s]{0,8}(?:(?:full|partial)\s{1,4}evidence\s{1,4}from|\d{1,9}\s{1,4}(?:passages?\s{1,4}from|answers?\s{1,4}of))/iu;

export const holdsFooter = (text: string): boolean => FOOTER.test(normaliseText(text));
