import { lstat, rm } from "node:fs/promises";
import { createAtomicFile, textFileOf } from "../../shared/files/atomic-file.ts";
import type { AtomicFile, Existing, TextFile } from "../../shared/files/atomic-file.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { Failure } from "../../shared/failure.ts";
import type { Exported, Sinks } from "./export-batch.ts";

export type TargetRequest = {
  /** Absolute; undefined for stdout. */
  readonly output: string | undefined;
  /** Absolute, for jobs that did not succeed; undefined for stdout. */
  readonly errors: string | undefined;
  readonly existing: Existing;
  /** Whether an empty file is written. */
  readonly whenEmpty: "write" | "leave out";
};

type ExportTargets = {
  readonly sinks: Sinks;
  /** Makes the files appear. */
  commit(exported: Exported): Promise<void>;
  discard(): Promise<void>;
};

/**
 * Opens the targets of an export: files, which appear when everything is written, and stdout if no file is named.
 * @throws Failure INPUT_INVALID if a file can't be written, or exists and must not be replaced
 */
export async function openExportTargets(
  request: TargetRequest,
  print: (line: string) => Promise<void>,
): Promise<ExportTargets> {
  const { output, errors, existing } = request;
  const outputFile = await openFile(output, existing, "--output");
  const errorsFile = await openFile(errors, existing, "--errors").catch(async (error: unknown) => {
    await outputFile?.discard();
    throw error;
  });
  const toStdout = (text: string) => print(text.replace(/\n$/, ""));
  return {
    sinks: {
      output: (text) => outputFile?.write(text) ?? toStdout(text),
      errors: (text) => errorsFile?.write(text) ?? toStdout(text),
    },
    async commit(exported) {
      await commitOrDrop(outputFile, output, { ...request, jobs: exported.output });
      await commitOrDrop(errorsFile, errors, { ...request, jobs: exported.errors });
    },
    async discard() {
      await outputFile?.discard();
      await errorsFile?.discard();
    },
  };
}

const openFile = async (
  path: string | undefined,
  existing: Existing,
  flag: string,
): Promise<TextFile | undefined> =>
  path === undefined ? undefined : openOutputFile(path, existing, flag);

type Settling = Pick<TargetRequest, "existing" | "whenEmpty"> & { readonly jobs: number };

/** Commits a file, or leaves it out if it is empty. Then it also removes an old file, which belongs to another export. */
async function commitOrDrop(
  file: TextFile | undefined,
  path: string | undefined,
  { existing, whenEmpty, jobs }: Settling,
): Promise<void> {
  if (file === undefined || path === undefined) return;
  if (jobs > 0 || whenEmpty === "write") return file.commit();
  await file.discard();
  if (existing === "replace") await rm(path, { force: true });
}

/** Begins a text file, whose writes are buffered. @throws as openOutputBytes */
export async function openOutputFile(
  path: string,
  existing: Existing,
  flag: string,
): Promise<TextFile> {
  return textFileOf(await openOutputBytes(path, existing, flag));
}

/**
 * Begins a file that the command line names, with mode 0600.
 * @param flag the option that names it, for messages
 * @throws Failure INPUT_INVALID if it can't be written, or exists and must not be replaced
 */
export async function openOutputBytes(
  path: string,
  existing: Existing,
  flag: string,
): Promise<AtomicFile> {
  await checkExisting(path, existing, flag);
  const file = await createAtomicFile(path, existing).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message.replace(/,.*/s, "") : String(error);
    throw new Failure("INPUT_INVALID", `${flag} ${path} can't be written (${reason}).`);
  });
  return {
    ...file,
    commit: () =>
      file.commit().catch((error: unknown) => {
        throw hasCode(error, "EEXIST") ? isThere(path, flag) : error;
      }),
  };
}

async function checkExisting(path: string, existing: Existing, flag: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT") && !hasCode(error, "ENOTDIR")) throw error;
  });
  if (found === undefined) return;
  if (!found.isFile()) {
    throw new Failure("INPUT_INVALID", `${flag} ${path} is no regular file. Name another one.`);
  }
  if (existing === "keep") throw isThere(path, flag);
}

const isThere = (path: string, flag: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    `${flag} ${path} is there already. Give --force to replace it, or name another file.`,
  );
