import { isRefusalCode, refuse } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import {
  insertModelCall,
  selectModelCalls,
  copyCall,
} from "../../shared/store/jobs/model-calls.ts";
import { endCall } from "../../shared/store/hosts/calls.ts";
import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import type { CallLog, RecalledReply, RecordedCall, RecordedReply } from "../evidence/types.ts";
import { retryOnDisconnect } from "../loop.ts";

/** The worker waits this long for the database to come back: a model may have worked for minutes on the reply that it holds. */
const COMMIT_RETRIES_MS = [100, 250, 500, 1_000, 2_000];

/** Which replies of other jobs may be reused: those of models with a digest, those of any model, or none. */
export type Reuse = "by_digest" | "always" | "never";

/** The settings of `runs` in the configuration that concern calls. */
type CallSettings = {
  readonly reuse: Reuse;
  /** Days to keep the reasoning of a model; null: as long as its job; 0: not at all. */
  readonly keepReasoningDays: number | null;
};

/** The calls of a job, and the form in which an earlier run requested its answer. */
type JobCallLog = Omit<CallLog, "limiter"> & {
  /**
   * Null if no earlier run requested one. A retry keeps the form: meanwhile the model may have been seen to ignore schemas, but
   * in another form it would give another answer, and everything known about the first answer would be lost.
   * @param model only calls of this model count; undefined: calls of any model
   */
  readonly earlierForm: (model: string | undefined) => Promise<"claims" | "text" | null>;
};

/**
 * The model calls of a claimed job, and calls of other jobs that can replace them. Calls of earlier attempts are loaded
 * all at once, and only if there are any. A reply of the built-in model without language is never looked up: computing it
 * again costs nothing.
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
    const call = await copyCall(database, job, requestSha256);
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
          () => insertModelCall(database, job, toStorable(call, keepReasoningDays), charge),
          COMMIT_RETRIES_MS,
          () => undefined,
        );
      } catch (error) {
        // A call whose reply can't be stored has cost as much; its slot becomes free.
        if (charge !== undefined)
          await endCall(database, charge.ticket, charge).catch(() => undefined);
        throw error;
      }
    },
  };
}

/** The form in which a job requested its answer, independent of today's configuration and knowledge about its model. */
export const recordedForm = (stored: readonly Pick<StoredCall, "prompt">[]): "claims" | "text" =>
  stored.some(({ prompt }) => prompt.template.includes(CLAIMS)) ? "claims" : "text";

/** Part of the version of each template that asks for claims. */
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

/** Keeps `cachedFrom`: an earlier attempt may have taken the reply over from another job. */
const recalledReply = (call: StoredCall): RecalledReply =>
  call.cachedFrom === null
    ? recordedReply(call)
    : { ...recordedReply(call), cachedFrom: call.cachedFrom };

/** The reply of a stored call in the shape that the pipeline uses. */
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

function toStorable(
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
