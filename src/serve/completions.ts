import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { hashJson } from "../shared/schema/json-value.ts";
import { FINAL_STATES, parseJobInput } from "../shared/job/job.ts";
import type { JobInput } from "../shared/job/job.ts";
import { cancelBatch } from "../shared/store/jobs/close-batches.ts";
import { AT_ONCE, queueAdHoc } from "../shared/store/jobs/queue-ad-hoc.ts";
import type { QueuedJob } from "../shared/store/jobs/queue-ad-hoc.ts";
import { selectWaitingJobs } from "../shared/store/jobs/waiting.ts";
import { countAliveWorkers } from "../shared/store/jobs/workers.ts";
import {
  attachJobs,
  beginProgramBatch,
  deleteProgramBatch,
} from "../shared/store/programs/batches.ts";
import {
  completionId,
  completionUsage,
  createdOf,
  provenanceOf,
} from "../shared/views/openai-lines.ts";
import { NO_WORKER } from "../shared/views/desk.ts";
import { selectResult } from "../shared/views/results.ts";
import type { JobResult } from "../shared/views/results.ts";
import { admitJobs } from "./admit-job.ts";
import { assertAttached, assertRoom } from "./create-batch.ts";
import { json } from "./api.ts";
import type { Answer, Api, ApiRequest, Route } from "./api.ts";
import { errorBody, invalid, loggedFailure, notFound, Refused, tokenEnded } from "./failures.ts";
import { parseRequest } from "./read-json.ts";

export const COMPLETIONS: readonly Route[] = [
  { method: "post", path: "/chat/completions", scope: "batches:write", answer: answerQuestion },
];

/** The model name that answers from the documents. */
export const ASK_MODEL = "nightdesk/ask";

const contentSchema = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.literal("text"), text: z.string() })),
]);
const requestSchema = z.looseObject({
  model: z.literal(ASK_MODEL, {
    error: `must be ${ASK_MODEL}; calls of a model itself are lines of a batch`,
  }),
  messages: z.array(z.looseObject({ role: z.string(), content: contentSchema.nullish() })).min(1),
  stream: z.boolean().nullish(),
});
type ChatRequest = z.infer<typeof requestSchema>;

/**
 * Answers one question from the documents that the token may read, once a worker has run it. The last message, of the user, is
 * the question; the rest of the conversation is ignored, and reported as such. A refusal is an answer that says why there is
 * none.
 */
async function answerQuestion(api: Api, request: ApiRequest): Promise<Answer> {
  const chat = parseRequest(requestSchema, await request.json());
  const queued = await queueJob(api, request, jobOf(chat, api, request));
  const asking = { queued, ignored: ignoredOf(chat) };
  if (chat.stream === true) {
    return { kind: "stream", type: "text/event-stream", chunks: eventsOf(api, request, asking) };
  }
  for await (const step of stepsOf(api, request, queued)) {
    if (typeof step !== "string") return json(completionOf(step, asking));
  }
  throw notFound("answer", queued.jobId);
}

function jobOf({ messages }: ChatRequest, { config }: Api, { token }: ApiRequest): JobInput {
  const last = messages.at(-1);
  const given = last?.content ?? "";
  const question = typeof given === "string" ? given : given.map(({ text }) => text).join("\n");
  if (last?.role !== "user" || question.trim() === "")
    throw invalid("messages", "The last of messages must be of the user, and holds the question.");
  const parsed = parseJobInput({ kind: "ask", question });
  if (!parsed.ok) throw invalid("messages", parsed.reason);
  const admitted = admitJobs(token, config)(parsed.input);
  if (typeof admitted !== "string") return admitted;
  throw new Refused({ status: 403, code: "not_allowed", message: `Not allowed: ${admitted}.` });
}

const READ_KEYS: readonly string[] = ["model", "messages", "stream"];

/** The ignored parts of the request. */
function ignoredOf(chat: ChatRequest): readonly string[] {
  const before = chat.messages.slice(0, -1);
  const others = Object.keys(chat).filter((name) => !READ_KEYS.includes(name));
  const isSystem = ({ role }: { readonly role: string }) => /^(system|developer)$/.test(role);
  return [
    ...(before.some(isSystem) ? ["system"] : []),
    ...(before.every(isSystem) ? [] : ["history"]),
    ...others.map((name) => name.slice(0, 60)),
  ];
}

async function queueJob(api: Api, { token }: ApiRequest, input: JobInput): Promise<QueuedJob> {
  const { database, config } = api;
  await assertRoom(api, token);
  const begun = await beginProgramBatch(database, token.tokenId, {
    ...{ fileId: null, endpoint: "/v1/chat/completions", completionWindow: "", metadata: {} },
    ...{ requestSha256: hashJson(input), idempotencyKey: null, sent: "first" },
  });
  if (begun === undefined) throw tokenEnded();
  const { programBatchId } = begun.batch;
  const mostOpen = config.serve.limits.open_jobs;
  try {
    return await queueAdHoc(database, input, AT_ONCE, async (db, { batchId }) => {
      const attaching = { programBatchId, batchId, jobs: 1, mostOpen, action: "ask" } as const;
      assertAttached(await attachJobs(db, token, attaching), mostOpen);
    });
  } catch (error) {
    await deleteProgramBatch(database, programBatchId);
    throw error;
  }
}

const POLL_MS = 250;
const COMMENT_MS = 10_000;

/**
 * The progress of a job: its states while it waits or runs, repeated every ten seconds, then its result.
 * @throws Refused 504 after a timeout. The job is cancelled then, and when its client disconnects
 */
async function* stepsOf(
  { database, config }: Api,
  { signal }: ApiRequest,
  { jobId, batchId }: QueuedJob,
): AsyncGenerator<string | JobResult, void> {
  const limitMs = config.serve.answer_timeout_s * 1_000;
  const startedAt = performance.now();
  let reported = { state: "", at: startedAt };
  let isOver = false;
  try {
    while (performance.now() - startedAt < limitMs && !signal.aborted) {
      const [job] = await selectWaitingJobs(database, batchId);
      if (job === undefined || FINAL_STATES.some((state) => state === job.state)) {
        isOver = true;
        const result = await selectResult(database, jobId);
        if (result !== undefined) yield result;
        return;
      }
      const now = performance.now();
      if (job.state !== reported.state || now - reported.at > COMMENT_MS) {
        reported = { state: job.state, at: now };
        yield job.state;
      }
      await sleep(POLL_MS);
    }
  } finally {
    if (!isOver) await cancelBatch(database, batchId);
  }
  const remedy =
    (await countAliveWorkers(database, null)) === 0
      ? NO_WORKER
      : "Ask again, or queue the question in a batch.";
  const message = `There is no answer after ${config.serve.answer_timeout_s} s (serve.answer_timeout_s). ${remedy}`;
  throw new Refused({ status: 504, code: "timeout", message });
}

type Asking = { readonly queued: QueuedJob; readonly ignored: readonly string[] };

/** @throws Refused if the job failed */
function completionOf(result: JobResult, asking: Asking) {
  const answered = answerParts(result, asking);
  return {
    ...{ ...answered.head, object: "chat.completion" },
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: answered.content, refusal: null },
        ...{ logprobs: null, finish_reason: "stop" },
      },
    ],
    usage: completionUsage(result),
    nightdesk: answered.proven,
  };
}

function answerParts(result: JobResult, { ignored }: Asking) {
  const { state, error_code: code, error_message: message } = result;
  if (state !== "succeeded" && state !== "refused") {
    const why = `The question was not answered: ${message ?? state}`;
    throw new Refused({ status: 503, code: code ?? "internal_error", message: why });
  }
  return {
    head: { id: completionId(result), created: createdOf(result), model: ASK_MODEL },
    content: result.answer ?? message ?? "",
    proven: { ...provenanceOf(result), state, error_code: code, ignored },
  };
}

/** The same as events: comments while the job runs, and after its checks the whole answer in one piece. */
async function* eventsOf(
  api: Api,
  request: ApiRequest,
  asking: Asking,
): AsyncGenerator<string, void> {
  try {
    for await (const step of stepsOf(api, request, asking.queued)) {
      if (typeof step === "string") yield `: ${step}\n\n`;
      else yield* answerEvents(step, asking);
    }
  } catch (error) {
    yield eventOf(errorBody(loggedFailure(error, api.logger, request.requestId)));
  }
  yield "data: [DONE]\n\n";
}

function* answerEvents(result: JobResult, asking: Asking): Generator<string, void> {
  const { head, content: words, proven } = answerParts(result, asking);
  const chunk = (delta: object, reason: "stop" | null) => ({
    ...{ ...head, object: "chat.completion.chunk" },
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  yield eventOf({ ...chunk({ role: "assistant", content: words }, null), nightdesk: proven });
  yield eventOf(chunk({}, "stop"));
}

const eventOf = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
