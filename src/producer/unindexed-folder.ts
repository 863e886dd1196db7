import { join, relative, resolve, sep } from "node:path";
import type { Config } from "../shared/config/schema.ts";
import { isHiddenName } from "../shared/files/skipped-files.ts";

/**
 * A folder for what a command writes by itself: the wanted one, or, where the next index would take what is written there for a
 * document, one of that name beside the database.
 * @param folder absolute
 * @param name of the folder beside the database
 */
export function unindexedFolder(
  { roots: { workroot, databaseDirectory }, index }: Config,
  folder: string,
  name: string,
): string {
  const isIndexed = index.sources.some(({ root }) => {
    const parts = relative(resolve(workroot, root), folder).split(sep);
    return parts[0] !== ".." && !parts.some((part) => part !== "" && isHiddenName(part));
  });
  return isIndexed ? join(databaseDirectory, name) : folder;
}
