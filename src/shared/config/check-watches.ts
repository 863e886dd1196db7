import { relative, resolve } from "node:path";
import { parseGlob } from "../parse-glob.ts";
import { jobForFile } from "../watched-job.ts";
import type { Conflict } from "./problem.ts";
import type { ConfigValues } from "./schema.ts";

/** What is wrong with the rules of watched folders, before a file comes that they are for. */
export function checkWatches({ index }: ConfigValues, workroot: string): Conflict[] {
  return index.sources.flatMap(({ watch }, source) =>
    (watch?.rules ?? []).flatMap((rule, at) => {
      const path = ["index", "sources", source, "watch", "rules", at];
      return [
        ...globProblem(rule.match).map((text) => ({ path: [...path, "match"], text })),
        ...jobProblem(rule.job).map((text) => ({ path: [...path, "job"], text })),
        ...moveProblem(rule.move_to, workroot).map((text) => ({
          path: [...path, "move_to"],
          text,
        })),
      ];
    }),
  );
}

function globProblem(glob: string | undefined): string[] {
  const parsed = glob === undefined ? undefined : parseGlob(glob);
  return parsed === undefined || typeof parsed === "function" ? [] : [parsed.problem];
}

function jobProblem(job: Readonly<Record<string, unknown>>): string[] {
  if ("path" in job) return ["names a path; the path is that of the new file"];
  const parsed = jobForFile(job, "file");
  return parsed.ok ? [] : [`is no job: ${parsed.reason}`];
}

function moveProblem(folder: string | undefined, workroot: string): string[] {
  if (folder === undefined) return [];
  const below = relative(workroot, resolve(workroot, folder));
  return below === "" || below === ".." || below.startsWith("../")
    ? ["does not lie below the work root"]
    : [];
}
