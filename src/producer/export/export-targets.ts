import { rm } from "node:fs/promises";
import type { Existing } from "../../shared/atomic-file.ts";
import type { Exported, Sinks } from "./export-batch.ts";
import { openOutputFile } from "./output-file.ts";
import type { OutputFile } from "./output-file.ts";

export type TargetRequest = {
  /** Absolute; undefined for stdout. */
  readonly output: string | undefined;
  /** Of what did not succeed. */
  readonly errors: string | undefined;
  readonly existing: Existing;
  /** Whether a file that would hold nothing is there. */
  readonly whenEmpty: "write" | "leave out";
};

export type ExportTargets = {
  readonly sinks: Sinks;
  /** Puts the files in their places. */
  commit(exported: Exported): Promise<void>;
  discard(): Promise<void>;
};

/**
 * Where an export goes: files that appear when all of it is written, and stdout for what has no file.
 * @throws Failure INPUT_INVALID where a file can't be written, or is there and to be kept
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
      await settle(outputFile, output, { ...request, jobs: exported.output });
      await settle(errorsFile, errors, { ...request, jobs: exported.errors });
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
): Promise<OutputFile | undefined> =>
  path === undefined ? undefined : openOutputFile(path, existing, flag);

type Settling = Pick<TargetRequest, "existing" | "whenEmpty"> & { readonly jobs: number };

/** An empty file that is left out takes the place of an old one too: that one tells of another export. */
async function settle(
  file: OutputFile | undefined,
  path: string | undefined,
  { existing, whenEmpty, jobs }: Settling,
): Promise<void> {
  if (file === undefined || path === undefined) return;
  if (jobs > 0 || whenEmpty === "write") return file.commit();
  await file.discard();
  if (existing === "replace") await rm(path, { force: true });
}
