// One word, mark, text, name or comment. 'it''s' counts as two texts, so that no alternative has a choice and
// nothing backtracks.
const TOKEN = /\s+|--[^\n]*|'[^']*'?|"[^"]*"?|[\p{L}_\x80-\uffff][\p{L}\p{N}_$\x80-\uffff]*|[^]/uy;
const DOLLAR_TAG = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;

/**
 * Whether a statement among these is COPY from or to the client. COPY FROM STDIN ends the engine, which waits for
 * data that can't reach it, so it must not run.
 */
export function copiesToClient(sql: string): boolean {
  if (!/copy/i.test(sql)) return false;
  let isCopy = false;
  let isFirst = true;
  for (const token of tokens(sql)) {
    if (token === ";") isFirst = true;
    else {
      if (isFirst) isCopy = token === "copy";
      if (isCopy && (token === "stdin" || token === "stdout")) return true;
      isFirst = false;
    }
  }
  return false;
}

/** The words of SQL in lower case, and its marks, without comments and space. */
function* tokens(sql: string): Generator<string> {
  let at = 0;
  while (at < sql.length) {
    const end = skipNested(sql, at) ?? at;
    if (end > at) {
      at = end;
      continue;
    }
    const token = match(TOKEN, sql, at) ?? sql.slice(at, at + 1);
    at += token.length;
    // e'…' knows backslashes, which would end a plain text too early.
    if (/^e$/i.test(token) && sql[at] === "'") at = endOfEscapedText(sql, at);
    else if (/\S/.test(token) && !token.startsWith("--")) yield token.toLowerCase();
  }
}

/** The end of the block comment or the dollar-quoted text that begins here, if one does. */
function skipNested(sql: string, at: number): number | undefined {
  if (sql.startsWith("/*", at)) return endOfComment(sql, at);
  if (sql[at] !== "$") return undefined;
  const tag = match(DOLLAR_TAG, sql, at);
  if (tag === undefined) return undefined;
  const end = sql.indexOf(tag, at + tag.length);
  return end === -1 ? sql.length : end + tag.length;
}

function endOfComment(sql: string, start: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === "/*" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return sql.length;
}

function endOfEscapedText(sql: string, start: number): number {
  for (let at = start + 1; at < sql.length; at += sql[at] === "\\" ? 2 : 1) {
    if (sql[at] !== "'") continue;
    if (sql[at + 1] !== "'") return at + 1;
    at += 1;
  }
  return sql.length;
}

function match(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0];
}
