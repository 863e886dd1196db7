import type { DocumentFilter } from "../../shared/files/document-filter.ts";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Passage, PipelineDependencies } from "../evidence/types.ts";
import type { ToolReach } from "./tool.ts";

/** Hits that are looked at to tell how many lie outside of the grant. */
const MOST_LOOKED_AT = 50;

/** All that the sandbox and the index give. */
export type FileParts = Pick<
  PipelineDependencies,
  "locate" | "readTextFile" | "search" | "settings"
> & {
  /** Paths of all files that may be read, relative to the work root. */
  readonly listPaths: () => Promise<readonly string[]>;
};

type Located = { readonly kind: "located"; readonly path: string };

/** What of the files and the index a grant holds. */
export type GrantedFiles = Pick<ToolReach, "readFile" | "listFiles" | "search"> & {
  /** Null for a path that the grant holds. */
  readonly check: (path: string) => Refusal | null;
  /** Where a file lies that a name means, if the grant holds it. */
  readonly locate: (path: string) => Promise<Located | Refusal>;
};

/** Days that documents of a search are of, as YYYY-MM-DD: the narrower of two. */
type Days = Pick<DocumentFilter, "since" | "until">;

function narrowed(asked: DocumentFilter, { since, until }: Days): DocumentFilter {
  const least = [asked.since, since].flatMap((day) => day ?? []).sort();
  const most = [asked.until, until].flatMap((day) => day ?? []).sort();
  return { ...asked, since: least.at(-1), until: most[0] };
}

/**
 * What lies in the folders of a grant; all, where it names none. Days bound what searches give, as those of a question do; a
 * file that is named is read whatever its day. The check is on the path of what was found, as it lies on
 * disk, and never on what was asked for.
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
      const bounds = { source: null, documents: narrowed(documents, days) };
      const searchBelow = (prefix: string | null, most: number): Promise<readonly Passage[]> =>
        parts.search({ text, limit: most, pathPrefix: prefix, ...bounds }, signal);
      if (roots.length === 0) return { passages: await searchBelow(pathPrefix, limit), hidden: 0 };
      const below = prefixesWithin(roots, pathPrefix);
      const found = await Promise.all(below.map((prefix) => searchBelow(prefix, MOST_LOOKED_AT)));
      const all = await searchBelow(pathPrefix, MOST_LOOKED_AT);
      return {
        passages: bestFirst(found)
          .filter(({ path }) => isWithin(path))
          .slice(0, limit),
        hidden: all.filter(({ path }) => !isWithin(path)).length,
      };
    },
  };
}

/** Where a search looks that is asked for paths with a beginning: in the index, so that no better hit outside takes a place. */
const prefixesWithin = (roots: readonly string[], pathPrefix: string | null): readonly string[] => [
  ...new Set(
    roots.flatMap((root) => {
      if (pathPrefix === null || root.startsWith(pathPrefix)) return [root];
      return pathPrefix.startsWith(root) ? [pathPrefix] : [];
    }),
  ),
];

/** Hits of several searches, each once. */
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
