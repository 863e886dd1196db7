import { join, relative, resolve, sep } from "node:path";
import type { Config } from "../shared/config/schema.ts";
import { isHiddenName } from "../shared/files/skipped-files.ts";

/**
 * The default folder for the files of a command: the wanted folder, or one beside the database if the next index job would
 * take the files for documents.
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
