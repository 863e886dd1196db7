import { dirname, relative, sep } from "node:path";

/**
 * How links of a document lead to the work root.
 * @param file where the document is written, absolute; undefined for stdout
 * @returns "" or a path like `../`; "" also for a file outside of the work root, whose links then say where a file
 * lies in it, and nothing of this machine
 */
export function hrefBaseFor(file: string | undefined, workroot: string): string {
  if (file === undefined) return "";
  const place = relative(workroot, dirname(file));
  const depth = place === "" ? 0 : place.split(sep).length;
  return place.startsWith("..") || place.startsWith(sep) ? "" : "../".repeat(depth);
}
