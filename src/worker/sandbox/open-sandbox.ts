import { closeSync } from "node:fs";
import type { Refusal } from "../../shared/failure.ts";
import { checkPath } from "./check-arguments.ts";
import { chooseDescriptors, type Host } from "./choose-descriptors.ts";
import { findFile } from "./find-file.ts";
import { keepListing } from "./keep-listing.ts";
import { LISTED_ENTRIES, listNames } from "./list-names.ts";
import { pinAnywhere, pinRoots, type SkippedRoot } from "./pin-roots.ts";
import type { PinnedRoot } from "./pinned-root.ts";
import { rulesBelowRoots, rulesForAnyPath, type SecurityPolicy } from "./policy.ts";
import { type FileBytes, readFileBelow } from "./read-file-below.ts";
import { type ReadArguments, readTextFile, type Reading } from "./read-text-file.ts";
import type { Search } from "./search.ts";

/** The only way to a document's content. Every refusal is a value; policy.ts holds the order of checks. */
export type Sandbox = {
  readonly roots: readonly PinnedRoot[];
  /** Configured roots that are not there. */
  readonly skipped: readonly SkippedRoot[];
  /**
   * The tool: resolves a path as a question names it (bare name or sub-path), opens, decides, reads. With `exact` only
   * what lies at this path from the work root.
   */
  readTextFile(args: ReadArguments): Promise<Reading>;
  /** For the index: opens one known file below a root by its path relative to that root, by the same rules. */
  readFileBelow(root: PinnedRoot, relativePath: string): Promise<FileBytes | Refusal>;
  /** Which file a name means, relative to the security root and as spelled on disk, without reading it. */
  locate(path: string): Promise<{ readonly kind: "located"; readonly path: string } | Refusal>;
  /**
   * The files that a bare name may mean, relative to the security root, in order: none that is hidden or denied.
   * The same list until the folders are looked through again.
   */
  listPaths(): Promise<readonly string[]>;
  /** Lets go of the roots. Nothing can be read afterwards. */
  close(): void;
};

/**
 * Checks the policy, pins the allowed roots and gives the sandbox on them. Throws CONFIG_ERROR for Windows, for
 * a machine without /proc (unless `allowRacyReads`), for a root outside the security root, and when no root is
 * left. A root that is missing or no folder is skipped.
 */
export async function openSandbox(policy: SecurityPolicy): Promise<Sandbox> {
  return openSandboxOn({ platform: process.platform, descriptorFolder: "/proc/self/fd" }, policy);
}

/** The same on a given platform. */
export async function openSandboxOn(host: Host, policy: SecurityPolicy): Promise<Sandbox> {
  const descriptors = chooseDescriptors(host, policy);
  const ground = { descriptors, rules: rulesBelowRoots(policy) };
  const { roots, skipped } = pinRoots(policy);
  const anyRoot = policy.allowAnyPath ? pinAnywhere(policy) : null;
  const search: Search = {
    policy,
    ground,
    roots,
    listing: keepListing(
      () => listNames(ground, roots, LISTED_ENTRIES),
      () => performance.now(),
    ),
    anywhere:
      anyRoot === null
        ? null
        : { root: anyRoot, ground: { descriptors, rules: rulesForAnyPath(policy) } },
  };
  return {
    roots,
    skipped,
    readTextFile: (args) => readTextFile(search, args),
    readFileBelow: async (root, relativePath) => readFileBelow(ground, { root, relativePath }),
    locate: (path) => locate(search, path),
    listPaths: async () => (await search.listing.renewed()).paths,
    close: () => {
      for (const root of anyRoot === null ? roots : [...roots, anyRoot]) closeSync(root.descriptor);
    },
  };
}

async function locate(search: Search, path: string): ReturnType<Sandbox["locate"]> {
  const invalid = checkPath(path);
  if (invalid !== null) return invalid;
  const found = await findFile(search, { path }, (file) => file.path);
  return found.kind === "refused" ? found : { kind: "located", path: found.value };
}
