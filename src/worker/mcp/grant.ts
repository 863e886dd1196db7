import { posix } from "node:path";
import { Failure } from "../../shared/failure.ts";
import { pathPrefixOf } from "../../shared/files/path-prefix.ts";
import type { McpContext } from "./tool.ts";

type Settings = Pick<McpContext["config"], "mcp" | "roots" | "security">;

/** `mcp.roots` as documents have paths: `./corpus` is `corpus`. Empty for the work root: everything is granted. */
export function grantedRoots({ mcp }: Pick<Settings, "mcp">): readonly string[] {
  const roots = mcp.roots.map((root) => posix.normalize(root));
  return roots.some((root) => root === "." || root === "./") ? [] : roots;
}

/** The path prefixes of `mcp.roots`, links resolved; for a file its path. Empty: everything is granted. */
export const grantedPrefixes = (config: Settings): readonly string[] =>
  grantedRoots(config).map((root) => prefixOf(`${root}/`, config));

/**
 * The path prefix that a client gives, if it lies within the grant.
 * @throws Failure INPUT_INVALID if it lies outside, or in several allowed roots
 */
export function prefixWithin(wanted: string, config: Settings): string {
  const prefix = prefixOf(wanted, config);
  const granted = grantedPrefixes(config);
  if (granted.length === 0 || granted.some((one) => prefix.startsWith(one))) return prefix;
  throw new Failure(
    "INPUT_INVALID",
    `Give a path_prefix below one of: ${grantedRoots(config).join(", ")}.`,
  );
}

/** Empty for the work root. */
function prefixOf(path: string, config: Settings): string {
  const place = pathPrefixOf(path, config.roots.workroot, config);
  if (place.kind === "refused") throw new Failure("INPUT_INVALID", place.message);
  return place.prefix ?? "";
}
