import { z } from "zod";
import type { Invocation } from "../commands/command.ts";
import { Failure } from "../failure.ts";

const MOST_CHARS = 500;
const value = z
  .string()
  .max(MOST_CHARS)
  .refine((text) => text.trim() !== "", "must not be blank");

/** Frontmatter keys with values that a document must have; all keys must match. */
export const whereSchema = z
  .record(
    z.string().min(1).max(200),
    z.union([
      value,
      z.number().transform(String),
      z.boolean().transform(String),
      z.array(value).min(1).max(50),
    ]),
  )
  .refine((where) => Object.keys(where).length <= 20, "has more than 20 keys");

/** An existing day as YYYY-MM-DD. */
export const daySchema = z.iso.date();

/** Selects documents by their frontmatter and their day. */
export type DocumentFilter = {
  readonly where?: Readonly<Record<string, string | string[]>> | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
};

/** Pairs of one key and one value, as the search takes them. */
export const facetsOf = (
  where: DocumentFilter["where"] = {},
): { readonly key: string; readonly value: string }[] =>
  Object.entries(where).flatMap(([key, values]) =>
    [values].flat().map((single) => ({ key, value: single })),
  );

/**
 * Reads `--where`, `--since` and `--until`.
 * @throws Failure USAGE_ERROR that names the invalid value
 */
export function documentFilterOf(options: Invocation["options"]): DocumentFilter {
  const where = whereOf(options["where"]);
  return { ...(where === undefined ? {} : { where }), ...daysOf(options) };
}

/**
 * Reads `--since` and `--until`.
 * @throws Failure USAGE_ERROR that names the invalid value, or both if there is no day between them
 */
export function daysOf(options: Invocation["options"]): Pick<DocumentFilter, "since" | "until"> {
  const [since, until] = [dayOf(options, "since"), dayOf(options, "until")];
  if (since !== undefined && until !== undefined && since > until) {
    throw new Failure(
      "USAGE_ERROR",
      `--since ${since} is after --until ${until}: no document is of both. Exchange them.`,
    );
  }
  return {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** The command line returns a list, which the type of options does not say. */
function whereOf(given: unknown): Record<string, string[]> | undefined {
  const texts = z.array(z.string()).safeParse(given);
  if (!texts.success) return undefined;
  const where = new Map<string, string[]>();
  for (const text of texts.data) {
    const { key, wanted } = conditionOf(text);
    where.set(key, [...(where.get(key) ?? []), wanted]);
  }
  return Object.fromEntries(where);
}

function conditionOf(text: string): { readonly key: string; readonly wanted: string } {
  const at = text.indexOf("=");
  const [key, wanted] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (at > 0 && key !== "" && value.safeParse(wanted).success) return { key, wanted };
  throw new Failure(
    "USAGE_ERROR",
    `--where takes key=value, and ${JSON.stringify(text)} is not that. Give it after the text, as in: --where tag=ops.`,
  );
}

function dayOf(options: Invocation["options"], name: "since" | "until"): string | undefined {
  const given = options[name];
  if (given === undefined) return undefined;
  const day = daySchema.safeParse(given);
  if (day.success) return day.data;
  throw new Failure(
    "USAGE_ERROR",
    `--${name} takes a day as YYYY-MM-DD, and not ${JSON.stringify(given)}.`,
  );
}
