import { closeSync, openSync } from "node:fs";
import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { quotePath } from "../names.ts";
import type { Sandbox } from "../open-sandbox.ts";
import type { GivenFile } from "./bubblewrap.ts";
import type { ShellLimits } from "./limits.ts";

/** A file that the sandbox of files opened and admitted, or an attachment that it read, to be copied to /input/<path>. */
export type AdmittedFile = {
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly bytes: number;
} & (
  | {
      /** Whoever admitted the file closes it. */
      readonly descriptor: number;
    }
  | { readonly content: Buffer }
);

/** Files for one or more calls, until they are let go of. */
export type AdmittedFiles = { readonly kind: "admitted"; readonly files: readonly AdmittedFile[] };

type InputQuota = Pick<ShellLimits, "inputBytes" | "inputFiles">;

/**
 * Opens files by all rules of the sandbox of files, up to a quota. A file that two paths name is one. A refusal is that of
 * the first file that is refused, FILE_TOO_LARGE for the quota, or INVALID_ARGS for a mail beside what lies in it; nothing is left
 * open then.
 * The caller closes what it got with `closeInputs`.
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

/** What is wrong with files as inputs, or null. */
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

/** The folders that a path names on its way, the nearest last. */
const foldersOf = (path: string): readonly string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));

/** Opens each file anew, from its start: one descriptor serves several calls, and several at once. */
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

/** What a folder in memory needs to hold copies of the files: pages, and some for the folders between. */
export function sizeOfInputFolder(files: readonly AdmittedFile[]): number {
  const pages = files.reduce((total, { path, bytes }) => {
    return total + Math.ceil(bytes / PAGE) + path.split("/").length;
  }, 16);
  return pages * PAGE;
}
