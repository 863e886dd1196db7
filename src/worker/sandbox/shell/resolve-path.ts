import { posix } from "node:path";
import type { ShellState } from "./state.ts";

/** The working folder of a command, and the links that its paths may pass. */
export type CommandPlace = Pick<ShellState, "folder" | "links">;

const MOST_LINKS = 40;

/**
 * Resolves a path as the kernel does: part by part, from the command's folder, through the links of /scratch. There are no
 * other links in places where a command may write, and inputs are copies without links. Pure.
 * @returns absolute and free of links; null for a loop
 */
export function resolvePath(path: string, { folder, links }: CommandPlace): string | null {
  const parts = [...(path.startsWith("/") ? [] : folder.split("/")), ...path.split("/")];
  let current = "/";
  let followed = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const next = posix.join(current, part);
    const target = Object.hasOwn(links, next) ? links[next] : undefined;
    if (target === undefined) {
      current = next === "/" ? next : next.replace(/\/$/, "");
      continue;
    }
    followed += 1;
    if (followed > MOST_LINKS) return null;
    if (target.startsWith("/")) current = "/";
    parts.unshift(...target.split("/"));
  }
  return current;
}

/** Whether a path is a folder or lies in it: `/input-evil` does not lie in `/input`. */
export const isWithin = (path: string, folder: string): boolean =>
  folder === "/" || path === folder || path.startsWith(`${folder}/`);
