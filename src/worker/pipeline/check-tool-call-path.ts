import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ToolCall } from "./parse-tool-call.ts";

export type AllowedCall = { readonly kind: "allowed"; readonly path: string };

type Readable = {
  readonly namedFiles: readonly string[];
  /** Paths of the snapshot's documents. */
  readonly snapshotPaths: readonly string[];
};

/**
 * Whether a call may be carried out. Passages are untrusted text that may talk the model into a read, so that a
 * call may name only a file that the question names, or a document of the snapshot. Pure.
 *
 * Refusals: INVALID_ARGS (another tool, no path), PATH_DENIED (another file).
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
  const { path } = args;
  if (typeof path !== "string" || path.trim() === "") {
    return refuse("INVALID_ARGS", `read_text_file needs "path", a text that is not blank.`);
  }
  if (namedFiles.includes(path) || snapshotPaths.includes(path)) return { kind: "allowed", path };
  const asNamed = namedFiles.find((named) => samePath(named, path));
  if (asNamed !== undefined) return { kind: "allowed", path: asNamed };
  return refuse(
    "PATH_DENIED",
    `The model asked for ${shown(path)}, which neither the question names nor a passage comes from. ` +
      `Name the file in the question to have it read.`,
  );
}

/** Whether a path is the file that a name means: the same, or the name below some folder. */
export const isNamed = (path: string, namedFiles: readonly string[]): boolean =>
  namedFiles.some(
    (named) =>
      samePath(named, path) || path.toLowerCase().endsWith(`/${plain(named).toLowerCase()}`),
  );

const samePath = (one: string, other: string): boolean => plain(one) === plain(other);
const plain = (path: string): string => path.trim().replace(/^(?:\.\/)+/, "");
const shown = (text: string): string => JSON.stringify(text.slice(0, 200));
