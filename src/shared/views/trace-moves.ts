import type { TraceLineOf } from "./trace-lines.ts";

type ToolLine = TraceLineOf<"tool">;

/** A call of a tool, and where it stands. */
type Call = {
  /** Of the line of trace.jsonl. */
  readonly seq: number;
  readonly run_id: string;
  readonly scope: string;
  /** Of the step of an investigation. */
  readonly step: number | null;
  readonly tool: string;
};

export type Move = Call & {
  /** What kind of step of a search it was. */
  readonly type: string;
  /** Pieces of evidence that it gave. */
  readonly evidence: number;
  readonly error_code: string | null;
};

export type Query = Call & {
  /** As the model wrote it. */
  readonly query: string;
  /** The same for queries of the same words; null where it has no words. */
  readonly family: string | null;
  /** Whether no earlier query of the same scope was of this family. */
  readonly novel: boolean;
  /** Null where it gave an error. */
  readonly hits: number | null;
};

/** The move that a call was, as the view `moves` has it; outside of an investigation a file is opened. */
export const moveOf = (line: ToolLine): Move => ({
  ...callOf(line),
  type: line.investigation === null ? "open" : (textAt(line, "move") ?? "other"),
  evidence: evidenceOf(line),
  error_code: line.error_code,
});

/** The search that a call was, as the view `queries` has it; undefined where it was none. */
export function queryOf(line: ToolLine): Query | undefined {
  const named = textAt(line, "query_argument");
  if (named === undefined) return undefined;
  const asked = line.args[named];
  const { novel, hits } = line.investigation?.detail ?? {};
  return {
    ...callOf(line),
    query: typeof asked === "string" ? asked : "",
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
