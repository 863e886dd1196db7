import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { Invocation } from "../../shared/commands/command.ts";
import type { Config } from "../../shared/config/schema.ts";
import { documentFilterOf, facetsOf } from "../../shared/files/document-filter.ts";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { parseJson } from "../../shared/schema/json-value.ts";
import { pathPrefixOf } from "../../shared/files/path-prefix.ts";
import { cleanForDatabase } from "../../shared/terminal/styled-text.ts";
import type { SearchRequest } from "../search/search.ts";

const DEFAULT_LIMIT = 10;

/** A search without its text. */
export type SearchOptions = Omit<SearchRequest, "text">;

/**
 * Reads the options of `query` that apply to every search.
 * @returns AMBIGUOUS_PATH for a path that exists below several allowed roots
 * @throws Failure NOT_FOUND for a source that is not configured, USAGE_ERROR for an invalid filter
 */
export function parseSearchOptions(
  { options, cwd }: Pick<Invocation, "options" | "cwd">,
  config: Config,
): { readonly kind: "options"; readonly options: SearchOptions } | Refusal {
  const { limit, mode, path, source } = options;
  const { where, since, until } = documentFilterOf(options);
  checkSource(config, source);
  const prefix = typeof path === "string" ? pathPrefixOf(path, cwd, config) : undefined;
  if (prefix?.kind === "refused") return prefix;
  const search: SearchOptions = {
    limit: typeof limit === "number" ? limit : DEFAULT_LIMIT,
    mode: mode === "lexical" || mode === "vector" ? mode : "hybrid",
    pathPrefix: prefix?.prefix,
    source: typeof source === "string" ? source : undefined,
    where: facetsOf(where),
    since,
    until,
  };
  return { kind: "options", options: search };
}

/** Without this check, a misspelt source would look like a search without hits. */
function checkSource({ index }: Config, source: Invocation["options"][string]): void {
  const names = index.sources.map(({ name }) => name);
  if (typeof source !== "string" || names.includes(source)) return;
  throw new Failure(
    "NOT_FOUND",
    `There is no source ${JSON.stringify(source)}. Configured under index.sources: ${names.join(", ")}.`,
  );
}

const querySchema = z.strictObject({
  id: z.union([z.string().min(1), z.number()]),
  text: z
    .string()
    .transform(cleanForDatabase)
    .refine((text) => text.trim() !== ""),
});
type NamedQuery = z.infer<typeof querySchema>;

/**
 * Reads JSONL of `{"id","text"}`.
 * @throws Failure INPUT_INVALID naming the first bad line
 */
export async function readQueries(file: string): Promise<readonly NamedQuery[]> {
  const content = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Failure(
      "INPUT_INVALID",
      `${file} can't be read. Give a JSONL file of {"id","text"}.`,
      { cause },
    );
  });
  return content
    .replace(/^\uFEFF/, "")
    .split("\n")
    .flatMap((line, index) =>
      line.trim() === "" ? [] : [parseQuery(line, `${file}:${index + 1}`)],
    );
}

function parseQuery(line: string, place: string): NamedQuery {
  const parsed = querySchema.safeParse(parseJson(line));
  if (parsed.success) return parsed.data;
  throw new Failure(
    "INPUT_INVALID",
    `${place} is not {"id": string or number, "text": string that is not blank}.`,
  );
}
