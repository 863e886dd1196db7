import type { TraceLineOf } from "./trace-lines.ts";

type ToolLine = TraceLineOf<"tool">;

/** A tool call and its place in the trace. */
type Call = {
  readonly seq: number;
  readonly run_id: string;
  readonly scope: string;
  /** The ordinal of the step of an investigation. */
  readonly step: number | null;
  readonly tool: string;
};

export type Move = Call & {
  /** The kind of move in a search. */
  readonly type: string;
  /** How many pieces of evidence the call returned. */
  readonly evidence: number;
  readonly error_code: string | null;
};

export type Query = Call & {
  /** The text of the model. */
  readonly query: string;
  /** Equal for queries with the same words; null for a query without words. */
  readonly family: string | null;
  /** Whether this is the first query of its family in its scope. */
  readonly novel: boolean;
  /** Null if the search failed. */
  readonly hits: number | null;
};

/** The move of a tool call, as in the view `moves`. Outside of an investigation a call opens a file. */
export const moveOf = (line: ToolLine): Move => ({
  ...callOf(line),
  type: line.investigation === null ? "open" : (textAt(line, "move") ?? "other"),
  evidence: evidenceOf(line),
  error_code: line.error_code,
});

/** The search of a tool call, as in the view `queries`; undefined for any other call. */
export function queryOf(line: ToolLine): Query | undefined {
  const named = textAt(line, "query_argument");
  if (named === undefined) return undefined;
  const argument = line.args[named];
  const { novel, hits } = line.investigation?.detail ?? {};
  return {
    ...callOf(line),
    query: typeof argument === "string" ? argument : "",
    family: textAt(line, "family") ?? null,
    novel: novel === true,
    hits: typeof hits === "number" ? hits : null,
  };
}

const callOf = ({ seq, run_id, scope, investigation, name }: ToolLine): Call => ({
  seq,
  run_id,
  scope,
  step: investigation?.ordinal ?? null,
  tool: name,
});

function textAt({ investigation }: ToolLine, name: string): string | undefined {
  const value = investigation?.detail[name];
  return typeof value === "string" ? value : undefined;
}

function evidenceOf({ investigation, result }: ToolLine): number {
  const pieces = investigation?.detail["evidence"];
  if (Array.isArray(pieces)) return pieces.length;
  return investigation === null && typeof result?.["sha256"] === "string" ? 1 : 0;
}
