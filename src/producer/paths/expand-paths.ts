import picomatch from "picomatch";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { findNamedFile } from "./find-named-file.ts";
import { listAllowedFiles } from "./list-allowed-files.ts";
import type { AllowedFile } from "./list-allowed-files.ts";

export type ExpandedPaths = {
  /** In the order of the arguments, the files of a glob sorted, each once. */
  readonly paths: readonly string[];
  readonly hasGlob: boolean;
};

/**
 * Turns arguments into paths: a file that is there into its path from the work root, a glob into the files that it
 * matches below the allowed roots, by their path from the work root or from their allowed root. Anything else stays
 * as it was written.
 * @throws Failure INPUT_INVALID for a glob that matches nothing
 */
export async function expandPaths(
  args: readonly string[],
  config: Config,
  cwd: string,
): Promise<ExpandedPaths> {
  const { workroot } = config.roots;
  let listing: readonly AllowedFile[] | undefined;
  const paths: string[] = [];
  let hasGlob = false;
  for (const arg of args) {
    // A file of that very name comes before what its brackets would mean as a glob.
    const named = await findNamedFile(arg, cwd, workroot);
    if (named !== undefined || !picomatch.scan(arg).isGlob) {
      paths.push(named ?? arg);
      continue;
    }
    hasGlob = true;
    listing ??= await listAllowedFiles(config);
    paths.push(...matchFiles(arg, listing, config));
  }
  return { paths: [...new Set(paths)], hasGlob };
}

function matchFiles(
  glob: string,
  files: readonly AllowedFile[],
  config: Config,
): readonly string[] {
  const isMatch = picomatch(glob);
  const matches = files.filter(({ path, belowRoot }) => isMatch(path) || isMatch(belowRoot));
  if (matches.length > 0) return matches.map(({ path }) => path);
  const roots = config.security.allowed_roots.join(", ");
  throw new Failure(
    "INPUT_INVALID",
    `${JSON.stringify(glob)} matches no file below ${roots} (from the work root ${config.roots.workroot}). ` +
      "Quote a glob, so that Nightdesk and not the shell expands it.",
  );
}
