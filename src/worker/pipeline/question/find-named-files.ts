import { findQuotedNames } from "./find-quoted-names.ts";
import type { FileMention } from "./find-quoted-names.ts";
import { compileExtensions, locateName } from "./locate-name.ts";
import type { Extensions } from "./locate-name.ts";
import { isReadingWord } from "./reading-words.ts";
import { normaliseText } from "../../../shared/normalise-text.ts";

/**
 * The files that a question names, as it spells them, each once, in order: a name with an allowed extension, one
 * in quotes or a wiki link even with blanks, and any path that climbs (`../`) or that a reading verb points at.
 * `[[note]]` names note.md. "node.js", "section 4.2", "README", "*.md", addresses and e-mail are none; a name that
 * holds a blank, a comma or `|` needs quotes. Pure, and linear in the question.
 *
 * @param allowedExts with the leading dot, lower case
 * @returns the names, and `rest`: the question with blanks for them, so that "summary.md" asks for no summary
 */
export function findNamedFiles(
  question: string,
  allowedExts: readonly string[],
): { readonly names: readonly string[]; readonly rest: string } {
  const extensions = compileExtensions(allowedExts);
  const quoted = findQuotedNames(question, extensions);
  const unquoted = blankOut(question, quoted);
  const bare = findBareNames(unquoted, extensions);
  const mentions = [...quoted, ...bare].sort((one, other) => one.start - other.start);
  return { names: spelledOnce(mentions), rest: blankOut(unquoted, bare) };
}

function spelledOnce(mentions: readonly FileMention[]): string[] {
  const spellings = new Map<string, string>();
  for (const { name } of mentions) {
    const composed = normaliseText(name, "NFC");
    if (!spellings.has(composed)) spellings.set(composed, name);
  }
  return [...spellings.values()];
}

/** What a name without quotes may hold; the rest ends it. */
const TOKEN = /[^\s,;|<>="`“”„«»‹›「」『』…—，。、；：？！（）]+/gu;

function findBareNames(question: string, extensions: Extensions): FileMention[] {
  let before = "";
  return [...question.matchAll(TOKEN)].flatMap(({ 0: token, index }) => {
    const found = locateName(token, extensions) ?? locatePath(token, before);
    before = token;
    if (found === null) return [];
    const { start, end } = found;
    return [{ name: token.slice(start, end), start: index + start, end: index + end }];
  });
}

/** A path that leads up, home or to a place of its own, or from the root behind a word that asks for a read. */
function locatePath(token: string, before: string): { start: number; end: number } | null {
  if (token.includes("://") || !/[\p{L}\p{N}]/u.test(token)) return null;
  const start = /^['‘(*[{]*/.exec(token)?.[0].length ?? 0;
  let end = token.length;
  while (end > start && ".,:!?*'’)]}".includes(token.charAt(end - 1))) end -= 1;
  const path = token.slice(start, end);
  const leads =
    /(?:^|[/\\])\.\.[/\\]/.test(path) ||
    /^(?:~|\.)[/\\]/.test(path) ||
    (isReadingWord(before) && /^(?:[A-Za-z]:\\|\/)[^/\\]+[/\\]/.test(path));
  return leads ? { start, end } : null;
}

/** Blanks in the place of spans that stand in order; positions stay. */
function blankOut(text: string, spans: readonly FileMention[]): string {
  let kept = "";
  let position = 0;
  for (const { start, end } of spans) {
    kept += text.slice(position, start) + " ".repeat(end - start);
    position = end;
  }
  return kept + text.slice(position);
}
