import { parseJobInput } from "./job.ts";
import type { JobInput } from "./job.ts";

/** A placeholder that is refused: the path of the new file is a field of the job, not a part of its text. */
const FILE_MARK = "{path}";

type RuleJob = Readonly<Record<string, unknown>>;

/** Whether the job of a rule classifies a file. */
export const isClassification = (job: RuleJob): boolean =>
  job["kind"] === "extract" && job["preset"] === "classify";

/** Builds the job of a rule for a new file: the rule's job, as a line of a batch, with the path of the file. */
export function jobForFile(
  job: RuleJob,
  path: string,
):
  | { readonly ok: true; readonly input: JobInput }
  | { readonly ok: false; readonly reason: string } {
  const text = job["question"] ?? job["task"];
  if (typeof text === "string" && text.includes(FILE_MARK)) {
    const reason = `its text has ${FILE_MARK}: the new file is given beside it, write "this file"`;
    return { ok: false, reason };
  }
  return parseJobInput({ ...job, path });
}
