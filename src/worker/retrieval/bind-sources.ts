import { posix } from "node:path";
import { Failure, type Refusal } from "../../shared/failure.ts";
import type { LanguageSetting } from "../../shared/language.ts";
import { placesOf } from "../sandbox/roots.ts";
import type { FileBytes } from "../sandbox/visit-file.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";

/** A configured source, tied to the only way to its files. */
export type IndexSource = {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  /** Relative to the work root: what the paths of its documents begin with. */
  readonly label: string;
  /** Extensions of its files, lower case, with the dot; undefined for all that may be read. */
  readonly extensions: readonly string[] | undefined;
  /** That its documents are written in. */
  readonly language: LanguageSetting;
  read(relativePath: string): Promise<FileBytes | Refusal>;
};

export type ConfiguredSource = {
  readonly name: string;
  readonly root: string;
  readonly exts?: readonly string[] | undefined;
  readonly language: LanguageSetting;
};

/**
 * Ties configured sources to a sandbox.
 * @param sources `root` is absolute or relative to the work root (absolute)
 * @throws Failure CONFIG_ERROR when a source lies outside the allowed roots
 */
export function bindSources(
  sandbox: Pick<Sandbox, "roots" | "skipped" | "readFileBelow">,
  sources: readonly ConfiguredSource[],
  workroot: string,
): IndexSource[] {
  return sources.map(({ name, root, exts, language }) => {
    const folder = posix.resolve(workroot, root);
    const label = posix.relative(workroot, folder);
    const [place] = placesOf(folder, sandbox.roots);
    if (place === undefined && !isBelowSkipped(sandbox, folder)) {
      throw new Failure(
        "CONFIG_ERROR",
        `Source "${name}" (${root}) lies outside security.allowed_roots: move it, or allow its root.`,
      );
    }
    return {
      name,
      folder,
      label,
      extensions: exts,
      language,
      async read(relativePath) {
        if (place === undefined) throw new Error(`Source "${name}" has no root to read from.`);
        return sandbox.readFileBelow(place.root, posix.join(place.relativePath, relativePath));
      },
    };
  });
}

/** A root that is not there is skipped by the sandbox, and its sources are then reported as missing. */
const isBelowSkipped = (sandbox: Pick<Sandbox, "skipped">, folder: string): boolean =>
  sandbox.skipped.some(({ path }) => folder === path || folder.startsWith(`${path}/`));
