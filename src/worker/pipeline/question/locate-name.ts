/** The allowed extensions, ready to be looked for. */
export type Extensions = {
  /** An extension where a name ends. */
  readonly ending: RegExp;
  readonly hasMarkdown: boolean;
};

const MAX_NAME_CHARS = 4096;

/**
 * What may follow a name: nothing, a mark of the sentence, an anchor (`#`, `:12`), a possessive, emphasis, the
 * tail of a compound ("rail.md-Datei"), or a script that writes particles without a blank.
 */
const AFTER = [
  String.raw`$|[\s#:'’?!()[\]{}*,;|]|\.+(?:$|[^\p{L}\p{N}._])|_+(?:$|[^\p{L}\p{N}_])|[/\\]$`,
  String.raw`-(?:\p{Lu}\p{Ll}|files?(?!\p{L}))|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]`,
].join("|");

/** @param allowedExts with the leading dot, lower case */
export function compileExtensions(allowedExts: readonly string[]): Extensions {
  const sources = allowedExts.map((ext) =>
    ext
      .replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
      // Not by the flag for it, under which \p{Lu} takes small letters too.
      .replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`),
  );
  const any = sources.length === 0 ? NOTHING : sources.join("|");
  return {
    ending: new RegExp(`(?:${any})(?=${AFTER})`, "u"),
    hasMarkdown: allowedExts.includes(".md"),
  };
}

const NOTHING = "(?!)";

/** Where in a token without blanks a file name stands, or null. Of a markdown link, its target counts. */
export function locateName(
  token: string,
  extensions: Extensions,
): { readonly start: number; readonly end: number } | null {
  const link = token.lastIndexOf("](");
  const from = link === -1 ? 0 : link + 2;
  const text = token.slice(from, from + MAX_NAME_CHARS);
  const ending = extensions.ending.exec(text);
  if (ending === null || isAddress(text)) return null;
  const end = ending.index + ending[0].length;
  const start = startOfName(text.slice(0, end), text.charAt(end) === "_" ? "emphasis" : "name");
  return isFileName(text.slice(start, end), ending[0])
    ? { start: from + start, end: from + end }
    : null;
}

/** Where the name ends that a text opens with, blanks and all, or null. */
export function endOfName(text: string, { ending }: Extensions): number | null {
  const found = ending.exec(text);
  if (found === null) return null;
  const end = found.index + found[0].length;
  return isFileName(text.slice(0, end), found[0]) ? end : null;
}

/** Behind a bracket that the name does not close, emphasis, a quote, the `@` of a mention, a label as in "file:". */
function startOfName(name: string, underscore: "emphasis" | "name"): number {
  const open = afterUnmatchedBracket(name);
  const lead = /^(?:['‘’*:!¿¡@]|~~|\p{L}{2,20}:)*/u.exec(name.slice(open))?.[0].length ?? 0;
  const marks = underscore === "name" ? 0 : (/^_*/.exec(name.slice(open + lead))?.[0].length ?? 0);
  return open + lead + marks;
}

function afterUnmatchedBracket(name: string): number {
  const opened: number[] = [];
  let after = 0;
  for (let index = 0; index < name.length; index += 1) {
    const char = name.charAt(index);
    if ("([{".includes(char)) opened.push(index);
    else if (")]}".includes(char) && opened.pop() === undefined) after = index + 1;
  }
  return Math.max(after, (opened.at(-1) ?? -1) + 1);
}

function isFileName(name: string, ext: string): boolean {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  return /[\p{L}\p{N}]/u.test(base.slice(0, -ext.length)) && !/[*?\n]/.test(name);
}

const HOST = /^(?:www\.|[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}\.(?:com|org|net|io|dev)\/)/i;
const EMAIL = /^[^@/\\]+@[^@/\\]+$/;

/** An address of the web or of a mailbox; neither is a file, whatever it ends with. */
export const isAddress = (text: string): boolean =>
  text.includes("://") || HOST.test(text) || EMAIL.test(text);
