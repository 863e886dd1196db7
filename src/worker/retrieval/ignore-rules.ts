import ignore from "ignore";

/** The rules that hold in a folder: those of all folders above it and its own, the last that matches decides. */
export type IgnoreRules = {
  /** Anchored at the root. */
  readonly patterns: readonly string[];
  readonly isIgnored: (path: string) => boolean;
};

export const NO_RULES: IgnoreRules = { patterns: [], isIgnored: () => false };

/** The rules inside a folder that has rules of its own. `folder` is relative to the root, "" for the root itself. */
export function addRules(
  outer: IgnoreRules,
  folder: string,
  patterns: readonly string[],
): IgnoreRules {
  const own = patterns.map((pattern) => anchor(mergeStars(pattern), folder));
  const all = [...outer.patterns, ...own];
  const matcher = ignore({ ignorecase: false }).add(all);
  return { patterns: all, isIgnored: (path) => matcher.ignores(path) };
}

/** Whether an entry is left out. Nothing below an ignored folder comes back: it is not looked into, as in git. */
export const isIgnored = (rules: IgnoreRules, path: string, kind: "file" | "folder"): boolean =>
  rules.isIgnored(kind === "folder" ? `${path}/` : path);

/** A pattern of a folder's file as one of the root's: without a slash inside, it matches at any depth below. */
function anchor(pattern: string, folder: string): string {
  if (folder === "" || pattern.startsWith("#") || pattern.trim() === "") return pattern;
  const mark = pattern.startsWith("!") ? "!" : "";
  const body = pattern.slice(mark.length);
  const below = body.slice(0, -1).includes("/") ? body.replace(/^\//, "") : `**/${body}`;
  return `${mark}/${folder.replace(/[\\*?[\]!# ]/g, "\\$&")}/${below}`;
}

/** The library takes each `**` of a row of them for a folder of its own, and git takes none. */
const mergeStars = (pattern: string): string =>
  pattern.replace(/(?<=^!?|\/)(?:\*\*\/)+(?:\*\*$)?/g, (row) => (row.endsWith("/") ? "**/" : "**"));
