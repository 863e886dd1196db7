import type { DocumentFilter } from "../../shared/files/document-filter.ts";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { MOST_PHRASES } from "../../shared/store/index/search-filter.ts";
import type { Passage, PipelineDependencies } from "../evidence/types.ts";
import { parseOperators } from "../search/parse-operators.ts";
import type { Operators } from "../search/parse-operators.ts";
import type { ToolAccess } from "./tool.ts";

/** Hits that are checked to count those outside of the grant. */
const MOST_CHECKED = 50;

/** Access to the sandbox and the index, without the bounds of a grant. */
export type FileParts = Pick<
  PipelineDependencies,
  "locate" | "readTextFile" | "search" | "settings"
> & {
  /** Paths of all readable files, relative to the work root. */
  readonly listPaths: () => Promise<readonly string[]>;
};

type Located = { readonly kind: "located"; readonly path: string };

/** The files and the index within a grant. */
export type GrantedFiles = Pick<ToolAccess, "readFile" | "listFiles" | "search"> & {
  /** Null for a path within the grant. */
  readonly check: (path: string) => Refusal | null;
  /** The path of the file that a name means, if it is within the grant. */
  readonly locate: (path: string) => Promise<Located | Refusal>;
};

/** The days, as YYYY-MM-DD, that the documents of a search must be of. */
type Days = Pick<DocumentFilter, "since" | "until">;

function narrowDays(requested: DocumentFilter, { since, until }: Days): DocumentFilter {
  const least = [requested.since, since].flatMap((day) => day ?? []).sort();
  const most = [requested.until, until].flatMap((day) => day ?? []).sort();
  return { ...requested, since: least.at(-1), until: most[0] };
}

/**
 * Restricts access to the folders of a grant; a grant without folders restricts nothing. `days` restrict only searches; a
 * named file is read whatever its day. The check uses the path of the file that was found on disk, never the requested path.
 */
export function filesWithin(
  roots: readonly string[],
  parts: FileParts,
  signal: AbortSignal,
  days: Days = {},
): GrantedFiles {
  const isWithin = (path: string): boolean =>
    roots.length === 0 || roots.some((root) => liesIn(path, root));
  const check = (path: string): Refusal | null => (isWithin(path) ? null : outside(path, roots));
  const locate: GrantedFiles["locate"] = async (path) => {
    const located = await parts.locate(path);
    return located.kind === "refused" ? located : (check(located.path) ?? located);
  };
  return {
    check,
    locate,
    async readFile(path) {
      const located = await locate(path);
      if (located.kind === "refused") return located;
      const reading = await parts.readTextFile({
        path: located.path,
        lookup: "exact",
        maxChars: parts.settings.ask.max_chars_full_read,
      });
      return reading.kind === "refused" ? reading : (check(reading.path) ?? reading);
    },
    listFiles: async () => (await parts.listPaths()).filter(isWithin),
    async search({ text, limit, pathPrefix, documents = {} }) {
      const asked = { ...queryOf(text), source: null, documents: narrowDays(documents, days) };
      const searchBelow = (prefix: string | null, most: number): Promise<readonly Passage[]> =>
        parts.search({ ...asked, limit: most, pathPrefix: prefix }, signal);
      if (roots.length === 0) return { passages: await searchBelow(pathPrefix, limit), hidden: 0 };
      const below = prefixesWithin(roots, pathPrefix);
      const found = await Promise.all(below.map((prefix) => searchBelow(prefix, MOST_CHECKED)));
      const all = await searchBelow(pathPrefix, MOST_CHECKED);
      return {
        passages: bestFirst(found)
          .filter(({ path }) => isWithin(path))
          .slice(0, limit),
        hidden: all.filter(({ path }) => !isWithin(path)).length,
      };
    },
  };
}

/** The words of a query and its operators, as many as a search takes; a query that only leaves out is searched as it stands. */
function queryOf(query: string): Partial<Operators> & { readonly text: string } {
  const { text, phrases, excluded, prefixes } = parseOperators(query);
  if (text.trim() === "") return { text: query };
  const first = (list: readonly string[]) => list.slice(0, MOST_PHRASES);
  return { text, prefixes, phrases: first(phrases), excluded: first(excluded) };
}

/** The prefixes for a search in the index, so that hits outside of the grant take no places among the results. */
const prefixesWithin = (roots: readonly string[], pathPrefix: string | null): readonly string[] => [
  ...new Set(
    roots.flatMap((root) => {
      if (pathPrefix === null || root.startsWith(pathPrefix)) return [root];
      return pathPrefix.startsWith(root) ? [pathPrefix] : [];
    }),
  ),
];

/** Merges the hits of several searches without duplicates. */
function bestFirst(found: readonly (readonly Passage[])[]): readonly Passage[] {
  if (found.length <= 1) return found[0] ?? [];
  const byKey = new Map(found.flat().map((passage) => [passage.chunkKey, passage]));
  return [...byKey.values()].sort((one, other) => other.score - one.score);
}

/** Whether a path is a folder or lies in it; `notes` holds no `notes-old/a.md`. */
export function liesIn(path: string, root: string): boolean {
  const folder = root.replace(/\/+$/, "");
  return path === folder || path.startsWith(`${folder}/`);
}

const outside = (path: string, roots: readonly string[]): Refusal =>
  refuse(
    "PATH_DENIED",
    `${JSON.stringify(path)} lies outside of what this job may read: ${roots.join(", ")}.`,
  );
