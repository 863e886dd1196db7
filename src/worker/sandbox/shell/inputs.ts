import { closeSync, openSync } from "node:fs";
import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { quotePath } from "../names.ts";
import type { Sandbox } from "../open-sandbox.ts";
import type { GivenFile } from "./bubblewrap.ts";
import type { ShellLimits } from "./limits.ts";

/** A file that the file sandbox opened and admitted, or an attachment that it read, for a copy at /input/<path>. */
export type AdmittedFile = {
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly bytes: number;
} & (
  | {
      /** The caller that admitted the file closes it. */
      readonly descriptor: number;
    }
  | { readonly content: Buffer }
);

/** Files for one or more calls, until the caller closes them. */
export type AdmittedFiles = { readonly kind: "admitted"; readonly files: readonly AdmittedFile[] };

type InputQuota = Pick<ShellLimits, "inputBytes" | "inputFiles">;

/**
 * Opens files by all rules of the file sandbox, up to a quota. A file that two paths name is opened once. Refusals: that of
 * the first refused file, FILE_TOO_LARGE for the quota, or INVALID_ARGS for a mail together with its own attachment; then no
 * file stays open. The caller closes the files with `closeInputs`.
 */
export async function admitInputs(
  sandbox: Pick<Sandbox, "openFile">,
  paths: readonly string[],
  quota: InputQuota,
): Promise<AdmittedFiles | Refusal> {
  const files = new Map<string, AdmittedFile>();
  for (const path of paths) {
    const opened = await sandbox.openFile({ path });
    if (opened.kind === "refused") {
      closeInputs([...files.values()]);
      return opened;
    }
    if (files.has(opened.path)) closeInputs([opened]);
    else files.set(opened.path, opened);
    const refusal = checkQuota([...files.values()], quota);
    if (refusal === null) continue;
    closeInputs([...files.values()]);
    return refuse("FILE_TOO_LARGE", refusal);
  }
  const refusal = checkPaths([...files.values()]);
  if (refusal === null) return { kind: "admitted", files: [...files.values()] };
  closeInputs([...files.values()]);
  return refuse("INVALID_ARGS", refusal);
}

export function closeInputs(files: readonly AdmittedFile[]): void {
  for (const file of files) if ("descriptor" in file) closeSync(file.descriptor);
}

/** The problem with these files as inputs, or null. */
export const checkInputs = (files: readonly AdmittedFile[], quota: InputQuota): string | null =>
  checkQuota(files, quota) ?? checkPaths(files);

function checkQuota(files: readonly AdmittedFile[], quota: InputQuota): string | null {
  if (files.length > quota.inputFiles) {
    return `${files.length} files are more than the ${quota.inputFiles} that one command can be given: name fewer.`;
  }
  const bytes = files.reduce((total, file) => total + file.bytes, 0);
  return bytes > quota.inputBytes
    ? `The files hold ${bytes} bytes, over the ${quota.inputBytes} that one command can be given: name fewer.`
    : null;
}

function checkPaths(files: readonly AdmittedFile[]): string | null {
  const paths = new Set(files.map(({ path }) => path));
  const held = [...paths].find((path) => foldersOf(path).some((folder) => paths.has(folder)));
  if (held !== undefined) {
    return `${quotePath(held)} lies in a mail that is given too, and a path is a file or a folder: name one of them, or take two commands.`;
  }
  const odd = [...paths].find((path) => /^\/|\0|(^|\/)(\.{0,2})(\/|$)/.test(path));
  if (odd === undefined && paths.size === files.length) return null;
  return "The paths of the files are not plain and distinct paths below one folder.";
}

/** The folders above a path, the nearest last. */
const foldersOf = (path: string): readonly string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));

/** Opens each file again, at its start, because several calls may use one descriptor, even at the same time. */
export function openInputs(files: readonly AdmittedFile[]): GivenFile[] {
  const opened: GivenFile[] = [];
  try {
    for (const file of files) {
      const from =
        "content" in file ? file.content : openSync(`/proc/self/fd/${file.descriptor}`, "r");
      opened.push({ path: file.path, from });
    }
    return opened;
  } catch (error) {
    closeGiven(opened);
    throw error;
  }
}

export function closeGiven(files: readonly GivenFile[]): void {
  for (const { from } of files) if (typeof from === "number") closeSync(from);
}

const PAGE = 4096;

/** The size of a memory folder for copies of the files: their pages, and some for folders. */
export function sizeOfInputFolder(files: readonly AdmittedFile[]): number {
  const pages = files.reduce((total, { path, bytes }) => {
    return total + Math.ceil(bytes / PAGE) + path.split("/").length;
  }, 16);
  return pages * PAGE;
}
