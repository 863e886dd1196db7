import { lstat, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Existing } from "../shared/files/atomic-file.ts";
import { ignoreMissingFile } from "../shared/store/connection/errors.ts";
import type { Queryable } from "../shared/store/connection/database.ts";
import { FIRST_RUN, selectRunPage } from "../shared/views/runs.ts";
import type { RunDetail, RunFilter } from "../shared/views/runs.ts";
import { selectReasoning } from "../shared/views/reasoning.ts";
import { withOutputs } from "../shared/views/steps.ts";
import { escapeInJson } from "../shared/terminal/styled-text.ts";
import type { Refusal } from "../shared/failure.ts";
import {
  makeFolderInWorkroot,
  makeFoldersInWorkroot,
  writeFileInWorkroot,
} from "./workroot-file.ts";
import type { WorkrootPlace, TargetRequest } from "./workroot-file.ts";

/** Version of the export format. */
const SCHEMA_VERSION = 1;
/** A run in hundreds of parts takes megabytes, and a page of runs is in memory at once. */
const PAGE_RUNS = 20;

type ExportPlace = WorkrootPlace & {
  /** Absolute; `<run_id>/run.json` goes into it. */
  readonly folder: string;
  /** Whether an existing file with other content is replaced. */
  readonly existing: Existing;
  /** Whether outputs of steps are exported as sizes and ids, or with their texts. */
  readonly outputs: "ids" | "texts";
  /** Whether the reasoning of models is exported. */
  readonly reasoning: "with" | "without";
};

/**
 * Writes each ended run to its own file. An existing file with the same content is not touched.
 *
 * Refusal: PATH_DENIED if the folder is outside of the work root, behind a link, or in the database's folder.
 * @param onRun is called after each run
 * @throws Failure INPUT_INVALID if a file with other content exists and must not be replaced
 */
export async function exportRuns(
  database: Queryable,
  filter: RunFilter,
  place: ExportPlace,
  onRun: (outcome: "written" | "unchanged") => void,
): Promise<Refusal | undefined> {
  const refusal = await makeFoldersInWorkroot(place.folder, place);
  if (refusal !== undefined) return refusal;
  for (let after = FIRST_RUN; ;) {
    const page = await selectRunPage(database, filter, after, PAGE_RUNS);
    for (const run of page) {
      const outcome = await writeRun(
        {
          ...exportedRun(place.outputs === "texts" ? await withOutputs(database, run) : run),
          ...(place.reasoning === "with" && {
            reasoning: await selectReasoning(database, run.run_id),
          }),
        },
        place,
      );
      if (typeof outcome !== "string") return outcome;
      onRun(outcome);
      after = run.run_id;
    }
    if (page.length < PAGE_RUNS) return undefined;
  }
}

async function writeRun(
  run: Pick<RunDetail, "run_id">,
  { folder, existing, ...seen }: ExportPlace,
): Promise<"written" | "unchanged" | Refusal> {
  const ofRun = join(folder, run.run_id);
  const denied = await makeFolderInWorkroot(ofRun, seen);
  if (denied !== undefined) return denied;
  const file = join(ofRun, "run.json");
  const text = `${escapeInJson(JSON.stringify(run, null, 2))}\n`;
  if (await holds(file, text)) return "unchanged";
  const written = await writeFileInWorkroot(targetAt(file, seen), existing, text);
  return written.kind === "written" ? "written" : written;
}

/** Drops the state of the job, which may change after the run has ended. */
const exportedRun = (run: RunDetail) => ({
  schema_version: SCHEMA_VERSION,
  ...run,
  job_state: undefined,
});

async function holds(file: string, text: string): Promise<boolean> {
  const found = await lstat(file).catch(ignoreMissingFile);
  if (found?.isFile() !== true || found.size !== Buffer.byteLength(text)) return false;
  return (await readFile(file, "utf8")) === text;
}

const targetAt = (path: string, { cwd, roots }: WorkrootPlace): TargetRequest => ({
  file: relative(cwd, path),
  cwd,
  roots,
});
