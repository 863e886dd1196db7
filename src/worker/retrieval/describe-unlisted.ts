import type { DocumentFailure } from "../../shared/store/index/documents.ts";
import { quotePath } from "../sandbox/names.ts";
import { storablePath } from "./long-path.ts";
import { hasLostBytes } from "./lost-bytes.ts";

/** Codes of a folder that was removed or replaced since its parent was listed: the next scan sees that. */
const GONE = new Set(["ENOENT", "ENOTDIR"]);

/**
 * The failure of a folder that can't be listed: none of what lies in it is known.
 * @param path relative to the work root
 * @param why code of the operating system
 */
export function describeUnlisted(path: string, why: string): readonly DocumentFailure[] {
  const isLost = hasLostBytes(path);
  if (GONE.has(why) && !isLost) return [];
  const remedy = isLost
    ? "has a name that is not UTF-8: rename it"
    : `can't be listed (${why}): give the worker's user the right to, or name it in a .nightdeskignore`;
  const message = `The folder ${quotePath(path)} ${remedy}. What was indexed of it stays until then.`;
  return [{ path: storablePath(path), code: "FILE_READ_ERROR", message }];
}
