import { hash } from "node:crypto";
import { posix } from "node:path";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { LanguageSetting } from "../../shared/text/language.ts";
import type { ChunkSettings } from "../documents/chunk-text.ts";
import type { ExtractText } from "../documents/extraction.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";
import { placesOf } from "../sandbox/roots.ts";
import type { FileBytes } from "../sandbox/visit-file.ts";
import { FIELD_WEIGHTS } from "../text/searchable-text.ts";

/** A configured source, with the functions of the sandbox that read its files. */
export type IndexSource = {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  /** Its folder relative to the work root; the paths of its documents begin with it. */
  readonly label: string;
  /** Extensions of its files, lower case, with the dot; undefined for all that may be read. */
  readonly extensions: readonly string[] | undefined;
  /** The language of its documents. */
  readonly language: LanguageSetting;
  /** Encoding of its texts that are not Unicode and do not declare their encoding. */
  readonly encoding?: string | undefined;
  /** Whether file systems that are mounted below its folder are left out. */
  readonly oneDevice?: boolean | undefined;
  read(relativePath: string): Promise<FileBytes | Refusal>;
  readonly extractText: ExtractText;
};

export type ConfiguredSource = {
  readonly name: string;
  readonly root: string;
  readonly exts?: readonly string[] | undefined;
  readonly language: LanguageSetting;
  readonly encoding?: string | undefined;
  readonly one_device?: boolean | undefined;
};

/**
 * Connects configured sources to a sandbox.
 * @param sources `root` is absolute or relative to the work root (absolute)
 * @throws Failure CONFIG_ERROR when a source lies outside the allowed roots
 */
export function bindSources(
  sandbox: Pick<Sandbox, "roots" | "skipped" | "readFileBelow" | "extractText">,
  sources: readonly ConfiguredSource[],
  workroot: string,
): IndexSource[] {
  return sources.map(({ name, root, exts, language, encoding, one_device: oneDevice }) => {
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
      encoding,
      oneDevice,
      extractText: sandbox.extractText,
      async read(relativePath) {
        if (place === undefined) {
          throw new Failure(
            "CONFIG_ERROR",
            `The root of source "${name}" (${root}) was not there when this process started: start it anew.`,
          );
        }
        return sandbox.readFileBelow(place.root, posix.join(place.relativePath, relativePath));
      },
    };
  });
}

/** The sandbox skips a root that does not exist; the sources in it are then reported as missing. */
const isBelowSkipped = (sandbox: Pick<Sandbox, "skipped">, folder: string): boolean =>
  sandbox.skipped.some(({ path }) => folder === path || folder.startsWith(`${path}/`));

/** Raised when a change of the code cuts, locates or searches the same file differently, or detects another language. */
const CHUNKER = "nightdesk-9";

/**
 * A fingerprint of all settings that decide the chunks and words of a document. When it changes, the document is indexed again.
 */
export function chunkSettingsFingerprint(
  { maxChars, overlap }: ChunkSettings,
  { language, encoding }: Pick<IndexSource, "language" | "encoding">,
): string {
  const settings = [CHUNKER, language, FIELD_WEIGHTS, maxChars, overlap];
  if (encoding !== undefined) settings.push(encoding);
  return hash("sha256", JSON.stringify(settings), "hex").slice(0, 32);
}

/** An entry of a Postgres index holds 2,704 bytes, including the name of the source. */
const MAX_PATH_BYTES = 2_000;
const SHOWN_CHARS = 500;

export const isTooLong = (path: string): boolean => Buffer.byteLength(path) > MAX_PATH_BYTES;

/** The path under which a failure is stored: shortened where it is too long. */
export const storablePath = (path: string): string =>
  isTooLong(path) ? `${path.slice(0, SHOWN_CHARS)}…`.toWellFormed() : path;
