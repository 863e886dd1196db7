import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { createAtomicFile } from "../../shared/atomic-file.ts";
import type { Existing } from "../../shared/atomic-file.ts";
import { hasCode } from "../../shared/db/error-code.ts";
import type { Failure, Refusal } from "../../shared/failure.ts";
import { invalid, linkDenied, openTarget } from "./open-target.ts";
import type { Target, TargetRequest } from "./open-target.ts";

/**
 * Writes a file of this user alone (mode 0600) in the work root: it appears when it is complete and on disk.
 *
 * Refusal: PATH_DENIED where the path leads out of the work root, through a link, or into the database's folder.
 * @returns the path relative to the work root, with `/`
 * @throws Failure INPUT_INVALID where nothing can be written, or a file is there that is to be kept
 */
export async function writeFileInWorkroot(
  request: TargetRequest,
  existing: Existing,
  text: string,
): Promise<{ readonly kind: "written"; readonly path: string } | Refusal> {
  const target = await openTarget(request);
  if (target.kind === "refused") return target;
  try {
    const refusal = await checkExisting(target, request.file, existing);
    if (refusal !== undefined) return refusal;
    await writeWhole(target, existing, text);
    return { kind: "written", path: target.path };
  } catch (error) {
    throw hasCode(error, "EEXIST") ? fileExists(request.file) : notWritten(request.file, error);
  } finally {
    await target.folder.close();
  }
}

async function checkExisting(
  { place, name }: Target,
  file: string,
  existing: Existing,
): Promise<Refusal | undefined> {
  const found = await lstat(join(place, name)).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
  });
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return linkDenied(file);
  if (!found.isFile()) throw invalid(file, "is no regular file. Name another one");
  if (existing === "keep") throw fileExists(file);
  return undefined;
}

async function writeWhole(
  { place, name }: Target,
  existing: Existing,
  text: string,
): Promise<void> {
  const file = await createAtomicFile(join(place, name), existing);
  try {
    await file.handle.writeFile(text);
    await file.commit();
  } finally {
    await file.discard();
  }
}

const fileExists = (file: string): Failure =>
  invalid(file, "is there already. Give --force to replace it, or another name");

function notWritten(file: string, error: unknown): unknown {
  if (!hasSystemCode(error)) return error;
  return invalid(file, `can't be written (${error.code}). Name another file, or make room`);
}

/** Not so a Failure: its code is one of ours. */
const hasSystemCode = (error: unknown): error is { readonly code: string } =>
  typeof error === "object" && error !== null && "syscall" in error && "code" in error;
