const MOST_LABEL_CHARS = 999;
/** What a title may not hold behind each mark that opens one; the last closes it. */
const CLOSERS = new Map([
  ['"', '"'],
  ["'", "'"],
  ["(", "()"],
]);

/**
 * A link reference definition by CommonMark 0.31, section 4.7: `[label]: target "title"`, where each part may begin on
 * the next line, and label and title may go on there.
 * @param text of which no line is blank
 * @returns the offset of the line behind the definition; undefined where there is none
 */
export function linkDefinitionEnd(text: string, from: number): number | undefined {
  const target = afterLabel(text, from);
  const targetEnd = target === undefined ? undefined : afterTarget(text, skipBlank(text, target));
  if (targetEnd === undefined) return undefined;
  const titleEnd = afterTitle(text, targetEnd);
  return (
    (titleEnd === undefined ? undefined : afterLine(text, titleEnd)) ?? afterLine(text, targetEnd)
  );
}

function afterLabel(text: string, from: number): number | undefined {
  const first = skipBlank(text, from);
  if (text.charAt(first) !== "[") return undefined;
  const end = findMark(text, first + 1, "[]");
  const isLabel =
    text.startsWith("]:", end) &&
    end - first <= MOST_LABEL_CHARS + 1 &&
    skipBlank(text, first + 1) < end;
  return isLabel ? end + 2 : undefined;
}

function afterTarget(text: string, from: number): number | undefined {
  if (text.charAt(from) === "<") {
    const end = findMark(text, from + 1, "<>\r\n");
    return text.charAt(end) === ">" ? end + 1 : undefined;
  }
  let depth = 0;
  let at = from;
  for (; at < text.length && !isBlankAt(text, at); at += 1) {
    const mark = text.charAt(at);
    if (mark === "\\") at += isBlankAt(text, at + 1) ? 0 : 1;
    else if (mark === "(") depth += 1;
    else if (mark === ")" && (depth -= 1) < 0) return undefined;
  }
  return at > from && depth === 0 ? Math.min(at, text.length) : undefined;
}

function afterTitle(text: string, targetEnd: number): number | undefined {
  const first = skipBlank(text, targetEnd);
  const marks = first === targetEnd ? undefined : CLOSERS.get(text.charAt(first));
  if (marks === undefined) return undefined;
  const end = findMark(text, first + 1, marks);
  return text.charAt(end) === marks.slice(-1) ? end + 1 : undefined;
}

/** The offset of the next line, when nothing but blanks is left of this one. */
function afterLine(text: string, from: number): number | undefined {
  let at = from;
  while (text.charAt(at) === " " || text.charAt(at) === "\t") at += 1;
  if (text.startsWith("\r\n", at)) return at + 2;
  return at === text.length || text.charAt(at) === "\n" || text.charAt(at) === "\r"
    ? Math.min(at + 1, text.length)
    : undefined;
}

/** The first of the marks that no backslash stands before; the end of the text when there is none. */
function findMark(text: string, from: number, marks: string): number {
  let at = from;
  while (at < text.length && !marks.includes(text.charAt(at))) {
    at += text.charAt(at) === "\\" ? 2 : 1;
  }
  return Math.min(at, text.length);
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (isBlankAt(text, at)) at += 1;
  return at;
}

/** Blanks, line ends and control characters, none of which a bare target holds. */
const isBlankAt = (text: string, at: number): boolean => text.charCodeAt(at) <= 32;
