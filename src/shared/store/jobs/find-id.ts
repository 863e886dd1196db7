import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { Queryable } from "../connection/database.ts";
import { rowsOf } from "../connection/rows.ts";

const TABLES = {
  batch: { table: "nightdesk_data.batches", key: "batch_id" },
  job: { table: "nightdesk_data.jobs", key: "job_id" },
  run: { table: "nightdesk_data.runs", key: "run_id" },
  note: { table: "nightdesk_data.memory", key: "memory_id" },
  approval: { table: "nightdesk_data.approvals", key: "approval_id" },
  decision: { table: "nightdesk_data.decisions", key: "decision_id" },
} as const;

type IdKind = keyof typeof TABLES;

/** Characters of an id in lists on a terminal, and the fewest that a user may type for it. */
export const SHORT_ID_CHARS = 8;
const UUID_DIGITS = 32;
const MOST_NAMED = 5;

/**
 * The whole id, in lower case, for a text that is an id or the beginning of one: at least 8 characters, with or without hyphens.
 * Undefined for any other text, and for a beginning that no row has; a whole id is not looked up.
 * @throws Failure AMBIGUOUS_ID that names the ids with this beginning
 */
export async function findId(
  db: Queryable,
  text: string,
  kinds: readonly IdKind[],
): Promise<string | undefined> {
  const digits = digitsOf(text);
  if (digits === undefined) return undefined;
  if (digits.length === UUID_DIGITS) return addHyphens(digits);
  const found = await selectIdsFrom(db, digits, kinds);
  if (found.length > 1) throw ambiguityFailure(text, found);
  return found[0]?.id;
}

/** The hex digits of an id or its beginning, in lower case. Hyphens must be where an id has them, or missing. */
function digitsOf(text: string): string | undefined {
  const lower = text.toLowerCase();
  const digits = lower.replaceAll("-", "");
  if (!/^[0-9a-f]{8,32}$/.test(digits)) return undefined;
  const isBeginning = lower === digits || addHyphens(digits).startsWith(lower);
  return isBeginning ? digits : undefined;
}

const addHyphens = (digits: string): string =>
  digits.padEnd(UUID_DIGITS, "0").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

const foundSchema = z.object({ kind: z.string(), id: z.string() });

/** The first ids of these kinds that begin with the digits: a range of each primary key. */
async function selectIdsFrom(
  db: Queryable,
  digits: string,
  kinds: readonly IdKind[],
): Promise<z.infer<typeof foundSchema>[]> {
  const spans = kinds.map((kind) => {
    const { table, key } = TABLES[kind];
    return `(select '${kind}' as kind, ${key} as id from ${table} where ${key} between $1 and $2 order by ${key} limit $3)`;
  });
  return rowsOf(db, foundSchema, [
    addHyphens(digits),
    addHyphens(digits.padEnd(UUID_DIGITS, "f")),
    MOST_NAMED + 1,
  ])`${spans.join(" union all ")}`;
}

function ambiguityFailure(text: string, found: z.infer<typeof foundSchema>[]): Failure {
  const named = found.slice(0, MOST_NAMED).map(({ kind, id }) => `${kind} ${id}`);
  const more = found.length > MOST_NAMED ? ", …" : "";
  return new Failure(
    "AMBIGUOUS_ID",
    `${JSON.stringify(text)} begins several ids: ${named.join(", ")}${more}. Give more characters of the one that is meant.`,
  );
}
