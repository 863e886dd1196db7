import { posix } from "node:path";
import type { ShellState } from "./state.ts";

/** The part of the sandbox into which a path of a command leads. */
export type PathClass = "input" | "scratch" | "null" | "outside";

/** The working folder of a command, and the links that its paths may pass. */
export type CommandPlace = Pick<ShellState, "folder" | "links">;

export type ClassifiedPath = {
  /** As the command spells it. */
  readonly path: string;
  /** Absolute and free of links; null for a loop. */
  readonly real: string | null;
  readonly class: PathClass;
};

const MOST_LINKS = 40;

/**
 * Resolves a path as the kernel does: part by part, from the command's folder, through the links of /scratch. There are no
 * other links in places where a command may write, and inputs are copies without links. Pure.
 */
export function classifyPath(path: string, place: CommandPlace): ClassifiedPath {
  const real = resolveLinks(path, place);
  return { path, real, class: real === null ? "outside" : classOf(real) };
}

function resolveLinks(path: string, { folder, links }: CommandPlace): string | null {
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

function classOf(real: string): PathClass {
  if (isWithin(real, "/input")) return "input";
  if (isWithin(real, "/scratch")) return "scratch";
  return real === "/dev/null" ? "null" : "outside";
}

/** Whether a path is a folder or lies in it: `/input-evil` does not lie in `/input`. */
export const isWithin = (path: string, folder: string): boolean =>
  folder === "/" || path === folder || path.startsWith(`${folder}/`);
