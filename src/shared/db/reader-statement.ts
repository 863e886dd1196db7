const SPACE_OR_COMMENT = /^(?:\s+|--[^\n]*(?:\n|$))/;
const READS = ["select", "with", "values", "table", "explain", "show"];

/**
 * Functions that change the role, or run a text as another statement, where the role could be changed, and those that take
 * locks which others wait for, or fill the table of locks. An identifier
 * can't be put together in SQL; only a Unicode escape could hide one.
 */
const ESCAPES =
  /\b(?:set_config|pg_(?:try_)?advisory_\w+|ts_stat|ts_rewrite|(?:query|table|schema|database|cursor)_to_xml\w*)\b|\bu&"/i;

/**
 * What is wrong with a statement that is to read the views, before the server judges it as the reader's role in a
 * read-only transaction. The first word decides what PostgreSQL takes a statement for.
 * @returns a sentence, or undefined
 */
export function findRefusal(statement: string): string | undefined {
  const first = /^[a-z]+/i.exec(skipToFirstWord(statement))?.[0].toLowerCase();
  if (first === undefined) return "The statement is empty.";
  if (!READS.includes(first)) {
    return `The statement begins with ${first}, and only reading is possible: ${READS.join(", ")}.`;
  }
  const escape = ESCAPES.exec(statement)?.[0];
  return escape === undefined
    ? undefined
    : `${escape} can't be used here, also not inside of a text.`;
}

function skipToFirstWord(statement: string): string {
  let rest = statement;
  for (;;) {
    const space =
      SPACE_OR_COMMENT.exec(rest)?.[0].length ??
      blockCommentLength(rest) ??
      Number(rest.startsWith("("));
    if (space === 0) return rest;
    rest = rest.slice(space);
  }
}

/** Length of a block comment at the start; they nest. */
function blockCommentLength(text: string): number | undefined {
  if (!text.startsWith("/*")) return undefined;
  let depth = 0;
  for (const { 0: mark, index } of text.matchAll(/\/\*|\*\//g)) {
    depth += mark === "/*" ? 1 : -1;
    if (depth === 0) return index + 2;
  }
  return text.length;
}
