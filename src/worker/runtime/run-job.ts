import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import type { ClaimedJob } from "../../shared/db/jobs/claim-job.ts";
import type { Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { answerQuestion } from "../pipeline/answer-question.ts";
import { chatOnce } from "../pipeline/chat-once.ts";
import { summarizeFile } from "../pipeline/summarize-file.ts";
import { openCallLog } from "./call-log.ts";
import { runEmbedChunks, runEmbedText } from "./run-embed.ts";
import { runIndex } from "./run-index.ts";
import { openResources } from "./worker-resources.ts";

/** Does the work of one claimed job. Refusals are returned, faults are thrown. */
export type RunJob = (job: ClaimedJob, trace: RunTrace, signal: AbortSignal) => Promise<Outcome>;

/** Binds each kind of job to the code that does it. What they share is opened at first use, and kept. */
export function createRunJob(context: CommandContext, database: Database): RunJob {
  const resources = openResources(context, database);
  return async (job, trace, signal) => {
    const { input, jobId } = job;
    const pipeline = async () => ({
      ...(await resources.pipeline()),
      calls: openCallLog(database, job),
    });
    switch (input.kind) {
      case "ask":
        return answerQuestion({ jobId, input }, await pipeline(), trace, signal);
      case "summarize":
        return summarizeFile({ jobId, input }, await pipeline(), trace, signal);
      case "chat":
        return chatOnce({ jobId, input }, await pipeline(), trace, signal);
      case "index":
        return runIndex({ job, input, trace, signal }, resources);
      case "embed":
        return "chunks" in input
          ? runEmbedChunks({ job, input, trace, signal }, resources)
          : runEmbedText({ job, input, trace, signal }, resources);
    }
  };
}
