import type { TextSpan } from "./split-spans.ts";

/** A slice of a text, and what takes its place. */
export type Edit = TextSpan & { readonly text: string };

/** The text with all edits made; of those that overlap, the first. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const edit of [...edits].sort((one, other) => one.start - other.start)) {
    if (edit.start < at) continue;
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return [...pieces, text.slice(at)].join("");
}
