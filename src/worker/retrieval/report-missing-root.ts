import { keepFailures, recordFailures } from "../../shared/store/index/documents.ts";
import type { IndexedDocument } from "../../shared/store/index/documents.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import type { IndexSource } from "./bind-sources.ts";
import type { Listing } from "./list-files.ts";

type Root = {
  readonly kind: Listing["kind"];
  readonly known: ReadonlyMap<string, IndexedDocument>;
};

/**
 * A root without files: its documents stay, because it may only not be mounted, and a failure says so. An empty
 * root that nothing was indexed from is none.
 * @returns how many failures were recorded
 */
export async function reportMissingRoot(
  db: Queryable,
  source: IndexSource,
  root: Root,
): Promise<number> {
  const path = source.label === "" ? "." : source.label;
  if (root.kind === "listed" && root.known.size === 0) {
    await keepFailures(db, source.name, () => false);
    return 0;
  }
  const message = describeRoot(source.name, path, root);
  await recordFailures(db, source.name, [{ path, code: "FILE_NOT_FOUND", message }]);
  await keepFailures(db, source.name, (known) => known === path);
  return 1;
}

function describeRoot(source: string, path: string, { kind, known }: Root): string {
  const root = `The root "${path}" of source "${source}"`;
  if (known.size === 0) return `${root} is not there. Create or mount it.`;
  const state = kind === "missing" ? "can't be listed" : "holds no file to index";
  const documents = known.size === 1 ? "1 document" : `${known.size} documents`;
  return (
    `${root} ${state}; ${documents} of it stay in the index. Create or mount it, or run ` +
    `nightdesk index --source ${source} --prune-missing to remove them.`
  );
}
