import { relative, resolve } from "node:path";
import { parseGlob } from "../files/parse-glob.ts";
import { isClassification, jobForFile } from "../job/watched-job.ts";
import type { Conflict } from "./problem.ts";
import type { ConfigValues } from "./schema.ts";

type Rule = NonNullable<ConfigValues["index"]["sources"][number]["watch"]>["rules"][number];

/** Checks the rules of watched folders before the first file arrives. */
export function checkWatches({ index }: ConfigValues, workroot: string): Conflict[] {
  return index.sources.flatMap(({ watch }, source) =>
    (watch?.rules ?? []).flatMap((rule, at, rules) => {
      const path = ["index", "sources", source, "watch", "rules", at];
      return [
        ...labelProblem(rule, rules).map((text) => ({ path: [...path, "label"], text })),
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

/** A label that no rule of the source assigns is misspelt. Without a classifying rule, a command may assign labels. */
function labelProblem({ label, unclassified }: Rule, rules: readonly Rule[]): string[] {
  if (label === undefined) return [];
  if (unclassified === true) return ["stands beside unclassified, and no file has both"];
  const given = rules.flatMap(({ job }) => (isClassification(job) ? [job["labels"]].flat() : []));
  const unknown = [label].flat().filter((one) => given.length > 0 && !given.includes(one));
  return unknown.map((one) => `names ${JSON.stringify(one)}, which no rule of this source gives`);
}

function jobProblem(job: Readonly<Record<string, unknown>>): string[] {
  if ("path" in job) return ["names a path; the path is that of the new file"];
  const parsed = jobForFile(job, "file");
  return parsed.ok ? [] : [`is no job: ${parsed.reason}`];
}

function moveProblem(folder: string | undefined, workroot: string): string[] {
  if (folder === undefined) return [];
  return isBelow(resolve(workroot, folder), workroot) ? [] : ["does not lie below the work root"];
}

/** Lexical: neither path is resolved. */
export function isBelow(path: string, folder: string): boolean {
  const steps = relative(folder, path);
  return steps !== "" && steps !== ".." && !steps.startsWith("../");
}
