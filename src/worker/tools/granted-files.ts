import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { PipelineDependencies } from "../evidence/types.ts";
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

/**
 * What lies in the folders of a grant; all, where it names none. The check is on the path of what was found, as it lies on
 * disk, and never on what was asked for.
 */
export function filesWithin(
  roots: readonly string[],
  parts: FileParts,
  signal: AbortSignal,
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
    async search({ text, limit, pathPrefix }) {
      const hits = await parts.search(
        {
          text,
          limit: roots.length === 0 ? limit : MOST_LOOKED_AT,
          pathPrefix,
          source: null,
          documents: {},
        },
        signal,
      );
      const granted = hits.filter(({ path }) => isWithin(path));
      return { passages: granted.slice(0, limit), hidden: hits.length - granted.length };
    },
  };
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
