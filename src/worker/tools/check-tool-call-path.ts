import { isAbsolute } from "node:path";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { normaliseText } from "../../shared/normalise-text.ts";
import { neutraliseText } from "../text/neutralise-text.ts";
import type { ToolCall } from "./parse-tool-call.ts";
import { READ_WHOLE_FILE } from "./read-text-file.ts";
import { parseArgs, unknownTool } from "./tool.ts";

type AllowedCall = { readonly kind: "allowed"; readonly path: string };

type Readable = {
  readonly namedFiles: readonly string[];
  /** Paths of the snapshot's documents. */
  readonly snapshotPaths: readonly string[];
};

/**
 * Whether a call may be carried out. Passages are untrusted text that may talk the model into a read, so that a
 * call may name only a file that the question names, or a document of the snapshot. Pure.
 *
 * Refusals: INVALID_ARGS (another tool, an argument that it does not have, no path), PATH_DENIED (another file).
 */
export function checkToolCallPath(
  { name, args }: Pick<ToolCall, "name" | "args">,
  { namedFiles, snapshotPaths }: Readable,
): AllowedCall | Refusal {
  if (name !== READ_WHOLE_FILE.name) return unknownTool(name, [READ_WHOLE_FILE]);
  const read = parseArgs(READ_WHOLE_FILE, args);
  if (read.kind === "refused") return read;
  const { path } = read.args;
  if (namedFiles.includes(path) || snapshotPaths.includes(path)) return { kind: "allowed", path };
  const asNamed =
    [...namedFiles, ...snapshotPaths].find((known) => samePath(known, path)) ??
    // A prompt shows the paths of passages without what looks like our protocol, and the model repeats what it saw.
    snapshotPaths.find((known) => neutraliseText(known) === path) ??
    onlyOneEndingWith(path, snapshotPaths) ??
    onlyOneWithin(path, [...namedFiles, ...snapshotPaths]);
  if (asNamed !== undefined) return { kind: "allowed", path: asNamed };
  return refuse(
    "PATH_DENIED",
    `The model asked for ${shown(path)}, which neither the question names nor a passage comes from. ` +
      `Name the file in the question to have it read.`,
  );
}

/** Models shorten what they saw to its name: the one document of that name, if there is but one. */
function onlyOneEndingWith(path: string, snapshotPaths: readonly string[]): string | undefined {
  const ending = `/${plain(path)}`;
  const [only, ...others] = new Set(snapshotPaths.filter((known) => plain(known).endsWith(ending)));
  return others.length === 0 ? only : undefined;
}

/** Or write it as an absolute path: the one file that it may be. It is read from where it lies, and not from there. */
function onlyOneWithin(path: string, known: readonly string[]): string | undefined {
  if (!isAbsolute(path)) return undefined;
  const ends = known.filter((one) => one.includes("/") && plain(path).endsWith(`/${plain(one)}`));
  const [only, ...others] = new Set(ends);
  return others.length === 0 ? only : undefined;
}

/** Whether a path is the file that a name means: the same, or the name below some folder. */
export const isNamed = (path: string, namedFiles: readonly string[]): boolean =>
  namedFiles.some(
    (named) =>
      samePath(named, path) ||
      plain(path)
        .toLowerCase()
        .endsWith(`/${plain(named).toLowerCase()}`),
  );

const samePath = (one: string, other: string): boolean =>
  plain(one) === plain(other) || plain(one) === plain(withoutEntities(other));
/** Some models write what they were shown as markup: `a&amp;b.md`. */
const withoutEntities = (path: string): string =>
  path.replace(/&(?:amp|lt|gt|quot|apos|#39);/g, (entity) => ENTITIES[entity] ?? entity);
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#39;": "'",
};
/** A path in one form of Unicode: a model writes a name composed that a file system spells apart. */
const plain = (path: string): string => normaliseText(path.trim().replace(/^(?:\.\/)+/, ""), "NFC");
const shown = (text: string): string => JSON.stringify(text.slice(0, 200));
