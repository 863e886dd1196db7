const MAX_NAME_CHARS = 255;
const QUOTED = /"([^"\n]{1,255})"|`([^`\n]{1,255})`|“([^”\n]{1,255})”|\[\[([^\]\n]{1,255})\]\]/g;
/** Words after which a token with a slash is meant as a file, whatever its extension. */
const READING = new Set("read open show print cat load file summarize summarise quote".split(" "));

/**
 * The files that a question names, as it spells them, each once, in order: a name with an allowed extension, a
 * quoted one even with blanks, and any path that climbs (`../`) or that a reading verb points at. "node.js",
 * "section 4.2", ".md files", "*.md" and web addresses are none.
 *
 * @param allowedExts with the leading dot, lower case
 */
export function findNamedFiles(question: string, allowedExts: readonly string[]): string[] {
  const isFile = (name: string): boolean => hasAllowedName(name, allowedExts);
  const names: string[] = [];
  const unquoted = question.replace(QUOTED, (whole, ...groups: (string | undefined)[]) => {
    const name = cutTail(groups.slice(0, 4).find((group) => group !== undefined) ?? "");
    if (!/[ \t]/.test(name) || !isFile(name)) return whole.replace(/["`“”[\]]/g, " ");
    names.push(name);
    return " ";
  });
  const tokens = unquoted.split(/[\s,;()[\]{}<>"“”`|]+/).map(cutTail);
  tokens.forEach((token, index) => {
    const before = tokens[index - 1]?.toLowerCase() ?? "";
    if (isFile(token) || isPath(token, before)) names.push(token);
  });
  return [...new Set(names)];
}

/** Without a possessive, an anchor, a line number, emphasis, and the punctuation of the sentence. */
const cutTail = (token: string): string =>
  withoutEnd(token.trim(), ".,;:!?*_'’")
    .replace(/^['‘*_:]+/, "")
    .replace(/['’]s$/, "")
    .replace(/(\.[A-Za-z0-9]{1,8})(?:#[^#]*|:\d{1,9})$/, "$1");

function withoutEnd(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function hasAllowedName(name: string, allowedExts: readonly string[]): boolean {
  if (name.length > MAX_NAME_CHARS * 16 || name.includes("://") || /[*?\n]/.test(name))
    return false;
  const base = name
    .slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1)
    .toLowerCase();
  return allowedExts.some(
    (ext) => base.endsWith(ext) && /[\p{L}\p{N}]/u.test(base.slice(0, -ext.length)),
  );
}

function isPath(token: string, before: string): boolean {
  if (token.includes("://") || !/[\p{L}\p{N}]/u.test(token)) return false;
  if (/(?:^|[/\\])\.\.[/\\]/.test(token) || /^(?:~|\.)[/\\]/.test(token)) return true;
  return READING.has(before) && /^(?:[A-Za-z]:\\|\/)[^/\\]+[/\\]/.test(token);
}
