import { parseJobInput } from "./job.ts";
import type { JobInput } from "./job.ts";

/** Where a question or a task of a rule names the new file. */
const FILE_MARK = "{path}";

/** Of kinds that take no path: the key of the text that names files. */
const TEXT_KEYS: ReadonlyMap<unknown, string> = new Map([
  ["ask", "question"],
  ["investigate", "task"],
]);

type RuleJob = Readonly<Record<string, unknown>>;

/** Whether the job of a rule gives a file a label. */
export const isClassification = (job: RuleJob): boolean =>
  job["kind"] === "extract" && job["preset"] === "classify";

/**
 * The job of a rule for a new file: a line of a batch with the path of the file, which stands between quotes in the text of
 * `ask` and `investigate`.
 */
export function jobForFile(
  job: RuleJob,
  path: string,
):
  | { readonly ok: true; readonly input: JobInput }
  | { readonly ok: false; readonly reason: string } {
  const key = TEXT_KEYS.get(job["kind"]);
  if (key === undefined) return parseJobInput({ ...job, path });
  const text = job[key];
  if (typeof text === "string" && !text.includes(FILE_MARK))
    return { ok: false, reason: `its ${key} has no ${FILE_MARK}, where it names the new file` };
  const named = typeof text === "string" ? text.replaceAll(FILE_MARK, () => `"${path}"`) : text;
  return parseJobInput({ ...job, [key]: named });
}
