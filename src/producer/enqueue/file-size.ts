import { lstatSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { JobInput } from "../../shared/job.ts";

/**
 * Bytes of the file that a job is about, 0 where it names none or there is none: small files go first. Only looked at,
 * never opened: the worker's sandbox decides what is read.
 */
export const fileSizes =
  (workroot: string) =>
  (input: JobInput): number => {
    const path = "path" in input ? input.path : undefined;
    return path === undefined ? 0 : sizeWithin(workroot, path);
  };

function sizeWithin(workroot: string, path: string): number {
  const file = resolve(workroot, path);
  if (relative(workroot, file).startsWith("..")) return 0;
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    // Whatever keeps it from being looked at, the worker says it when it reads the file.
    return 0;
  }
}
