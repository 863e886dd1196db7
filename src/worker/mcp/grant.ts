import { Failure } from "../../shared/failure.ts";
import { pathPrefixOf } from "../../shared/files/path-prefix.ts";
import type { McpContext } from "./tool.ts";

type Settings = Pick<McpContext["config"], "mcp" | "roots" | "security">;

/** The path prefixes of `mcp.roots`, links resolved; for a file its path. Empty: everything is granted. */
export const grantedPrefixes = (config: Settings): readonly string[] =>
  config.mcp.roots.map((root) => prefixOf(`${root}/`, config));

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
    `Give a path_prefix below one of: ${config.mcp.roots.join(", ")}.`,
  );
}

/** Empty for the work root. */
function prefixOf(path: string, config: Settings): string {
  const place = pathPrefixOf(path, config.roots.workroot, config);
  if (place.kind === "refused") throw new Failure("INPUT_INVALID", place.message);
  return place.prefix ?? "";
}
