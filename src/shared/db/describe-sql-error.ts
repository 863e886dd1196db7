type ServerError = Error & {
  readonly code: string;
  readonly position?: string;
  readonly detail?: string;
  readonly hint?: string;
};

const MOST_LINE_CHARS = 200;
const QUERY_CANCELED = "57014";

/** The server's words, the line of the statement that they are about with a caret below it, and the server's hint. */
export function describeSqlError(error: ServerError, statement: string): string {
  if (error.code === QUERY_CANCELED) {
    return "The statement took too long and was stopped. Give it more time with --timeout SECONDS, or narrow it.";
  }
  return [
    error.message,
    ...pointAt(statement, Number(error.position)),
    ...(error.detail === undefined ? [] : [error.detail]),
    ...(error.hint === undefined ? [] : [`Hint: ${error.hint}`]),
  ].join("\n");
}

/** @param position of a character in the statement, from 1, as the server counts: in code points */
function pointAt(statement: string, position: number): readonly string[] {
  if (!(position >= 1)) return [];
  const before = Array.from(statement)
    .slice(0, position - 1)
    .join("");
  const lineStart = before.lastIndexOf("\n") + 1;
  const [line = ""] = statement.slice(lineStart).split(/\r?\n/, 1);
  const column = before.length - lineStart;
  const from = Math.max(0, column - MOST_LINE_CHARS / 2);
  const indent = line.slice(from, column).replace(/[^\t]/g, " ");
  return [`  ${line.slice(from, from + MOST_LINE_CHARS)}`, `  ${indent}^`];
}
