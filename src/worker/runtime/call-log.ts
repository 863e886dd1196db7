import type { Database } from "../../shared/db/database.ts";
import type { ClaimedJob } from "../../shared/db/jobs/claim-job.ts";
import { insertModelCall, selectModelCalls } from "../../shared/db/jobs/model-calls.ts";
import type { StoredCall } from "../../shared/db/jobs/model-calls.ts";
import { isRefusalCode, refuse } from "../../shared/failure.ts";
import type { CallLog, RecordedCall, RecordedReply } from "../pipeline/pipeline-dependencies.ts";
import { whenReachable } from "./when-reachable.ts";

/** A reply in hand, which a model may have taken minutes for, is worth waiting for the database to come back. */
const COMMIT_RETRIES_MS = [100, 250, 500, 1_000, 2_000];

/** The model calls of a claimed job. Those of earlier attempts are fetched at once, and only if there are any. */
export function openCallLog(
  database: Database,
  job: Pick<ClaimedJob, "jobId" | "runId" | "hasCalls">,
): CallLog {
  let earlier: Promise<ReadonlyMap<string, RecordedReply>> | undefined;
  return {
    async recall(requestSha256) {
      if (!job.hasCalls) return undefined;
      earlier ??= loadCalls(database, job.jobId);
      return (await earlier).get(requestSha256);
    },
    commit: (call) =>
      whenReachable(
        () => insertModelCall(database, job, storable(call)),
        COMMIT_RETRIES_MS,
        () => undefined,
      ),
  };
}

/** Replies by the hash of their request. */
async function loadCalls(
  database: Database,
  jobId: string,
): Promise<ReadonlyMap<string, RecordedReply>> {
  const calls = await selectModelCalls(database, jobId);
  return new Map(calls.map((call) => [call.requestSha256, recordedReply(call)]));
}

/** The reply that a stored call holds, as the pipeline takes it. */
export function recordedReply({
  reply,
  refusal,
  durationMs,
}: Pick<StoredCall, "reply" | "refusal" | "durationMs">): RecordedReply {
  if (reply !== null) return { reply: { kind: "reply", ...reply }, durationMs };
  const { code, message } = refusal ?? { code: "", message: "" };
  if (!isRefusalCode(code)) throw new TypeError(`a model call holds the code ${code}`);
  return { reply: refuse(code, message), durationMs };
}

function storable({ reply, ...call }: RecordedCall): Parameters<typeof insertModelCall>[2] {
  if (reply.kind === "refused") {
    const { code, message } = reply;
    return { ...call, reply: null, refusal: { code, message } };
  }
  return { ...call, reply, refusal: null };
}
