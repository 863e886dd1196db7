import { isRefusalCode, refuse } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import {
  insertModelCall,
  selectModelCalls,
  takeOverCall,
} from "../../shared/store/jobs/model-calls.ts";
import { endCall } from "../../shared/store/hosts/calls.ts";
import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import type { CallLog, RecalledReply, RecordedCall, RecordedReply } from "../evidence/types.ts";
import { retryOnDisconnect } from "../loop.ts";

/** A reply in hand, which a model may have taken minutes for, is worth waiting for the database to come back. */
const COMMIT_RETRIES_MS = [100, 250, 500, 1_000, 2_000];

/** Whose replies stand for those of other jobs: of models with a digest alone, of any model, of none. */
export type Reuse = "by_digest" | "always" | "never";

/** What `runs` of the configuration says of calls. */
type CallSettings = {
  readonly reuse: Reuse;
  /** Days that the reasoning of a model is kept; null: with its job; 0: not at all. */
  readonly keepReasoningDays: number | null;
};

/** The calls of a job, and in which form an earlier run asked for its answer. */
type JobCallLog = Omit<CallLog, "limiter"> & {
  /**
   * Null where none did. Since then the model may have been seen to ignore schemas: asked in another form it would give
   * another answer, and what is known of this one were lost.
   * @param model of which alone; undefined: whichever was asked
   */
  readonly earlierForm: (model: string | undefined) => Promise<"claims" | "text" | null>;
};

/**
 * The model calls of a claimed job, and those of other jobs that stand for them. Those of earlier attempts are fetched
 * at once, and only if there are any. What a model without language says is never looked up: it is made again for
 * nothing.
 */
export function openCallLog(
  database: Database,
  job: Pick<ClaimedJob, "jobId" | "runId" | "hasCalls">,
  { reuse, keepReasoningDays }: CallSettings,
): JobCallLog {
  let stored: Promise<readonly StoredCall[]> | undefined;
  const earlier = (): Promise<readonly StoredCall[]> =>
    (stored ??= job.hasCalls ? selectModelCalls(database, job.jobId) : Promise.resolve([]));
  let replies: Promise<ReadonlyMap<string, RecalledReply>> | undefined;
  const fromThisJob = async (requestSha256: string): Promise<RecalledReply | undefined> => {
    replies ??= earlier().then(byRequest);
    return (await replies).get(requestSha256);
  };
  const fromOtherJobs = async (requestSha256: string): Promise<RecalledReply | undefined> => {
    const call = await takeOverCall(database, job, requestSha256);
    return call === undefined ? undefined : recalledReply(call);
  };
  return {
    earlierForm: async (model) => formOf(await earlier(), model),
    async recall(requestSha256, { isFree, digest }) {
      if (isFree) return undefined;
      const own = await fromThisJob(requestSha256);
      if (own !== undefined) return own;
      const isSure = reuse === "always" || (reuse === "by_digest" && digest !== null);
      return isSure ? fromOtherJobs(requestSha256) : undefined;
    },
    async commit(call, charge) {
      try {
        await retryOnDisconnect(
          () => insertModelCall(database, job, storable(call, keepReasoningDays), charge),
          COMMIT_RETRIES_MS,
          () => undefined,
        );
      } catch (error) {
        // What can't be kept has cost as much, and its slot is free.
        if (charge !== undefined)
          await endCall(database, charge.ticket, charge).catch(() => undefined);
        throw error;
      }
    },
  };
}

/** How a job was asked for its answer, whatever is configured or known of its model by now. */
export const recordedForm = (stored: readonly Pick<StoredCall, "prompt">[]): "claims" | "text" =>
  stored.some(({ prompt }) => prompt.template.includes(CLAIMS)) ? "claims" : "text";

/** In the versions of the templates that ask for claims. */
const CLAIMS = "-claims/";

const ANSWERS: ReadonlySet<string> = new Set(["second", "retry"]);

function formOf(
  stored: readonly StoredCall[],
  model: string | undefined,
): "claims" | "text" | null {
  const answers = stored.filter(
    (call) => ANSWERS.has(call.pass) && (model === undefined || call.model === model),
  );
  return answers.length === 0 ? null : recordedForm(answers);
}

/** Replies by the hash of their request. */
const byRequest = (calls: readonly StoredCall[]): ReadonlyMap<string, RecalledReply> =>
  new Map(calls.map((call) => [call.requestSha256, recalledReply(call)]));

/** An earlier attempt may have taken it over from another job already. */
const recalledReply = (call: StoredCall): RecalledReply =>
  call.cachedFrom === null
    ? recordedReply(call)
    : { ...recordedReply(call), cachedFrom: call.cachedFrom };

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

function storable(
  { reply, ...call }: RecordedCall,
  keepDays: number | null,
): Parameters<typeof insertModelCall>[2] {
  if (reply.kind === "refused") {
    const { code, message } = reply;
    return { ...call, reply: null, refusal: { code, message } };
  }
  const { reasoning, ...said } = reply;
  const isKept = reasoning !== undefined && keepDays !== 0;
  return {
    ...call,
    reply: said,
    refusal: null,
    ...(isKept ? { reasoning: { ...reasoning, keepDays } } : {}),
  };
}
