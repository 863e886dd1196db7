import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { normaliseText } from "../../shared/normalise-text.ts";
import { neutraliseText } from "../text/neutralise-text.ts";
import { parametersOf } from "./envelope.ts";
import type { ToolCall } from "./parse-tool-call.ts";

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
  if (name !== "read_text_file") {
    return refuse(
      "INVALID_ARGS",
      `There is no tool ${shown(name)}; the only one is read_text_file.`,
    );
  }
  const unknown = Object.keys(args).find((key) => !parametersOf(name).includes(key));
  if (unknown !== undefined) {
    return refuse(
      "INVALID_ARGS",
      `read_text_file has no argument ${shown(unknown)}; the only one is "path".`,
    );
  }
  const { path } = args;
  if (typeof path !== "string" || path.trim() === "") {
    return refuse("INVALID_ARGS", `read_text_file needs "path", a text that is not blank.`);
  }
  if (namedFiles.includes(path) || snapshotPaths.includes(path)) return { kind: "allowed", path };
  const asNamed =
    [...namedFiles, ...snapshotPaths].find((known) => samePath(known, path)) ??
    // A prompt shows the paths of passages without what looks like our protocol, and the model repeats what it saw.
    snapshotPaths.find((known) => neutraliseText(known) === path) ??
    onlyOneEndingWith(path, snapshotPaths);
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

/** Whether a path is the file that a name means: the same, or the name below some folder. */
export const isNamed = (path: string, namedFiles: readonly string[]): boolean =>
  namedFiles.some(
    (named) =>
      samePath(named, path) ||
      plain(path)
        .toLowerCase()
        .endsWith(`/${plain(named).toLowerCase()}`),
  );

const samePath = (one: string, other: string): boolean => plain(one) === plain(other);
/** A path in one form of Unicode: a model writes a name composed that a file system spells apart. */
const plain = (path: string): string => normaliseText(path.trim().replace(/^(?:\.\/)+/, ""), "NFC");
const shown = (text: string): string => JSON.stringify(text.slice(0, 200));
