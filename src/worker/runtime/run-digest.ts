import { selectDigestChildren } from "../../shared/store/jobs/dependencies.ts";
import type { ChildRow } from "../../shared/store/jobs/dependencies.ts";
import type { DigestInput } from "../../shared/job.ts";
import type { Outcome } from "../../shared/run-result.ts";
import { digestChildren } from "../pipeline/digest-children.ts";
import { answerWords, fieldWords } from "../pipeline/digest/child-words.ts";
import type { DigestChild } from "../pipeline/digest/digest-child.ts";
import type { PipelineDependencies } from "../pipeline/pipeline-dependencies.ts";
import type { JobCall } from "./run-index.ts";
import type { WorkerResources } from "./worker-resources.ts";

/** Tells what the jobs gave that a digest depends on, as their rows have it now. */
export async function runDigest(
  { job, input, trace, signal }: JobCall<DigestInput>,
  { database }: Pick<WorkerResources, "database">,
  pipeline: PipelineDependencies,
): Promise<Outcome> {
  const children = await trace.step("children", () => loadChildren(job.jobId, database));
  trace.detail("children", { children: children.length });
  return digestChildren({ input }, children, pipeline, { trace, signal });
}

/** The jobs of a digest with what they gave, in its order. */
export const loadChildren = async (
  jobId: string,
  database: WorkerResources["database"],
): Promise<DigestChild[]> => (await selectDigestChildren(database, jobId)).map(toChild);

function toChild(row: ChildRow): DigestChild {
  const { job_id: jobId, kind, state, error_code: errorCode, path, left_out: leftOut } = row;
  return { jobId, kind, state, errorCode, path, words: wordsOf(row), leftOut: leftOut ?? [] };
}

function wordsOf({ fields, answer }: ChildRow): string | null {
  if (fields !== null) return fieldWords(fields);
  return answer === null ? null : answerWords(answer);
}
