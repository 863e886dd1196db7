import { isAbsolute } from "node:path";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { isSamePath, plainPath } from "../text/match-path.ts";
import { neutraliseText } from "../text/neutralise-text.ts";
import type { ToolCall } from "./parse-tool-call.ts";
import { READ_WHOLE_FILE } from "./read-text-file.ts";
import { parseArgs, quoted, unknownTool } from "./tool.ts";

type AllowedCall = { readonly kind: "allowed"; readonly path: string };

type Readable = {
  readonly namedFiles: readonly string[];
  /** Paths of the snapshot's documents. */
  readonly snapshotPaths: readonly string[];
};

/**
 * Checks whether a call may run. Passages are untrusted text that may talk the model into a read, so
 * a call may name only a file that the question names, or a document of the snapshot. Pure.
 *
 * Refusals: INVALID_ARGS (another tool, an unknown argument, no path), PATH_DENIED (another file).
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
    [...namedFiles, ...snapshotPaths].find((known) => isSamePath(known, path)) ??
    // A prompt shows the paths of passages neutralised, and the model repeats the neutralised path.
    snapshotPaths.find((known) => neutraliseText(known) === path) ??
    onlyOneEndingWith(path, snapshotPaths) ??
    onlyOneWithin(path, [...namedFiles, ...snapshotPaths]);
  if (asNamed !== undefined) return { kind: "allowed", path: asNamed };
  return refuse(
    "PATH_DENIED",
    `The model asked for ${quoted(path)}, which neither the question names nor a passage comes from. ` +
      `Name the file in the question to have it read.`,
  );
}

/** Models shorten a path to the name of the file: it means the document of that name if there is only one. */
function onlyOneEndingWith(path: string, snapshotPaths: readonly string[]): string | undefined {
  const ending = `/${plainPath(path)}`;
  const [only, ...others] = new Set(
    snapshotPaths.filter((known) => plainPath(known).endsWith(ending)),
  );
  return others.length === 0 ? only : undefined;
}

/** Models also write an absolute path: it means the known file that it ends with, if there is only one. */
function onlyOneWithin(path: string, known: readonly string[]): string | undefined {
  if (!isAbsolute(path)) return undefined;
  const ends = known.filter(
    (one) => one.includes("/") && plainPath(path).endsWith(`/${plainPath(one)}`),
  );
  const [only, ...others] = new Set(ends);
  return others.length === 0 ? only : undefined;
}
