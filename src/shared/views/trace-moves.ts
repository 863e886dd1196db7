import { normaliseText } from "../normalise-text.ts";
import { isTool, TOOL_MOVES } from "../tool-presets.ts";
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
  /** The same for queries that differ in form alone. */
  readonly family: string;
  /** Whether nobody of the same scope had asked for that family before. */
  readonly novel: boolean;
  /** Null where it gave an error. */
  readonly hits: number | null;
};

export type Ledgers = {
  move(line: ToolLine): Move;
  /** Undefined where the call is no search. */
  query(line: ToolLine): Query | undefined;
};

/**
 * Moves and queries of the calls of tools of a job, told of one after the other: what the row of a call says of it, as
 * the views `moves` and `queries` have it, and for what no row says it what can be told from the call.
 */
export function openLedgers(): Ledgers {
  const families = new Set<string>();
  return {
    move: (line) => ({
      ...callOf(line),
      type: moveOf(line),
      evidence: evidenceOf(line),
      error_code: line.error_code,
    }),
    query(line) {
      if (moveOf(line) !== "search") return undefined;
      const query = queryOf(line);
      const family = textAt(line, "family") ?? familyOf(query);
      const key = `${line.scope}\n${family}`;
      const isNew = !families.has(key);
      families.add(key);
      const { novel = isNew } = line.investigation?.detail ?? {};
      return { ...callOf(line), query, family, novel: novel === true, hits: hitsOf(line) };
    },
  };
}

const callOf = ({ seq, run_id, scope, investigation, name }: ToolLine): Call => {
  return { seq, run_id, scope, step: investigation?.ordinal ?? null, tool: name };
};

function textAt({ investigation }: ToolLine, name: string): string | undefined {
  const value = investigation?.detail[name];
  return typeof value === "string" ? value : undefined;
}

const moveOf = (line: ToolLine): string =>
  textAt(line, "move") ?? (isTool(line.name) ? TOOL_MOVES[line.name] : undefined) ?? "other";

function evidenceOf({ investigation, result }: ToolLine): number {
  const pieces = investigation?.detail["evidence"];
  if (Array.isArray(pieces)) return pieces.length;
  return investigation === null && typeof result?.["sha256"] === "string" ? 1 : 0;
}

function queryOf(line: ToolLine): string {
  const named = textAt(line, "query_argument");
  const asked = named === undefined ? (line.args["query"] ?? line.args["text"]) : line.args[named];
  return typeof asked === "string" ? asked : "";
}

/** Words in one form, each once, in the order of the alphabet. */
const familyOf = (query: string): string =>
  [
    ...new Set(
      normaliseText(query)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu),
    ),
  ]
    .sort()
    .join(" ");

/** Each of the tools counts what it found under a name of its own. */
function hitsOf({ investigation, result }: ToolLine): number | null {
  const found = [investigation?.detail["hits"], ...COUNTS.map((name) => result?.[name])];
  return found.find((count) => typeof count === "number") ?? null;
}

const COUNTS = ["hits", "matches", "results"] as const;
