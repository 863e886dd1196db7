import { z } from "zod";
import { createModelNames } from "../shared/enqueue/model-names.ts";
import { enqueueLines } from "../shared/enqueue/enqueue-lines.ts";
import type { EnqueueResult } from "../shared/enqueue/enqueue-lines.ts";
import { createLineParser } from "../shared/enqueue/parse-line.ts";
import type { LineParser } from "../shared/enqueue/parse-line.ts";
import { fileSizes } from "../shared/enqueue/read-lines.ts";
import { selectBatch } from "../shared/enqueue/select-batch.ts";
import { hashJson } from "../shared/schema/json-value.ts";
import { modelAffinity } from "../shared/job/kinds.ts";
import { deleteBatch } from "../shared/store/jobs/batches.ts";
import {
  attachJobs,
  beginProgramBatch,
  countOpenJobs,
  deleteProgramBatch,
  ENDPOINTS,
  failProgramBatch,
} from "../shared/store/programs/batches.ts";
import type { LineError, ProgramBatch } from "../shared/store/programs/batches.ts";
import { readFileParts } from "../shared/store/programs/files.ts";
import type { ProgramFile } from "../shared/store/programs/files.ts";
import type { Token } from "../shared/store/programs/tokens.ts";
import { parseDuration } from "../shared/schedules/time.ts";
import { createWindowClock } from "../shared/schedules/windows.ts";
import { publicId } from "../shared/views/openai-lines.ts";
import { admitJobs } from "./admit-job.ts";
import { batchObject, ownBatch } from "./batch-object.ts";
import { json } from "./api.ts";
import type { Answer, Api, ApiRequest } from "./api.ts";
import { invalid, Refused, tokenEnded, tooMany } from "./failures.ts";
import { ownFile } from "./files.ts";
import { BATCH } from "./ids.ts";
import { parseRequest } from "./read-json.ts";

const requestSchema = z.object({
  input_file_id: z.string(),
  endpoint: z.enum(ENDPOINTS, { error: `must be one of ${ENDPOINTS.join(", ")}` }),
  completion_window: z.string(),
  metadata: z
    .record(z.string().min(1).max(64), z.string().max(512))
    .refine((metadata) => Object.keys(metadata).length <= 16, "must have at most 16 keys")
    .nullish(),
});

/**
 * Queues the lines of a file, and replies when all are read. A batch with an invalid line is `failed`, names the line, and
 * queues nothing. A request that a client repeats within ten minutes creates no second batch.
 */
export async function createBatch(api: Api, request: ApiRequest): Promise<Answer> {
  const { database, config } = api;
  const { token } = request;
  const body = parseRequest(requestSchema, await request.json());
  const deadlineAt = deadlineOf(body.completion_window, config.windows, new Date());
  const file = await ownFile(request, database, body.input_file_id);
  const begun = await beginProgramBatch(database, token.tokenId, {
    ...{ fileId: file.fileId, endpoint: body.endpoint, metadata: body.metadata ?? {} },
    ...{ completionWindow: body.completion_window, requestSha256: hashJson(body) },
    idempotencyKey: request.header("idempotency-key")?.slice(0, 255) || null,
    sent: Number(request.header("x-stainless-retry-count") ?? 0) > 0 ? "again" : "first",
  });
  if (begun === undefined) throw tokenEnded();
  const { batch, created } = begun;
  if (!created && batch.requestSha256 !== hashJson(body)) {
    const message = "That Idempotency-Key was sent with another request.";
    throw new Refused({ status: 409, code: "idempotency_error", message });
  }
  if (created) await load(api, token, { batch, file, deadlineAt });
  return json(batchObject(await ownBatch(database, token, publicId(BATCH, batch.programBatchId))));
}

const LEAST_WINDOW_MS = 60_000;
const MOST_WINDOW_MS = 30 * 86_400_000;

/** @throws Refused 400 for an invalid duration, and for a deadline before the next window opens */
function deadlineOf(text: string, windows: readonly string[], now: Date): Date {
  const ms = parseDuration(text) ?? 0;
  if (ms < LEAST_WINDOW_MS || ms > MOST_WINDOW_MS) {
    throw invalid(
      "completion_window",
      "completion_window must be a duration like 24h, 90m or 7d, from 1m to 30d.",
    );
  }
  const deadline = new Date(now.getTime() + ms);
  const { isOpen, until } = createWindowClock()(windows, now);
  if (isOpen || (until !== null && until < deadline)) return deadline;
  const opens = until === null ? "never" : `at ${until.toISOString()}`;
  throw invalid(
    "completion_window",
    `Jobs run here in the windows ${windows.join(", ")}, of which the next opens ${opens}: after ${text} none has been open. Give a longer completion_window.`,
  );
}

type Load = {
  readonly batch: ProgramBatch;
  readonly file: ProgramFile;
  readonly deadlineAt: Date;
};

/** Reads the lines and opens their jobs, or stores their errors. @throws Refused if a limit is reached */
async function load(api: Api, token: Token, { batch, file, deadlineAt }: Load): Promise<void> {
  const { database } = api;
  const { programBatchId } = batch;
  try {
    await assertRoom(api, token);
    const errors = await api.loads(() => queueLines(api, token, { batch, file, deadlineAt }));
    if (errors.length > 0) await failProgramBatch(database, programBatchId, errors);
  } catch (error) {
    await deleteProgramBatch(database, programBatchId);
    throw error;
  }
}

/** @throws Refused 429 if the token has reached its limit of open jobs */
export async function assertRoom({ database, config }: Api, { tokenId }: Token): Promise<void> {
  const { open_jobs: most } = config.serve.limits;
  if ((await countOpenJobs(database, tokenId)) >= most) throw tooManyOpen(most);
}

const OPEN_AGAIN_S = 300;

const tooManyOpen = (most: number): Refused =>
  tooMany(
    `A token may have ${most} jobs that have not ended (serve.limits.open_jobs).`,
    OPEN_AGAIN_S,
  );

/** @returns the errors of the lines; empty if their jobs are queued */
async function queueLines(
  { database, config }: Api,
  token: Token,
  { batch: { programBatchId, endpoint }, file, deadlineAt }: Load,
): Promise<readonly LineError[]> {
  const mostOpen = config.serve.limits.open_jobs;
  const batch = await selectBatch(database, undefined, file.name, { deadlineAt });
  const attaching = { programBatchId, batchId: batch.batchId, mostOpen, action: "queue" } as const;
  const parser = createLineParser({
    ...{ format: "openai", url: endpoint, admit: admitJobs(token, config) },
    models: createModelNames(config, { override: undefined, names: "known" }),
    affinityOf: (input) => modelAffinity(input, config.model),
  });
  try {
    const enqueued = await enqueueLines(database, batch, readFileParts(database, file), {
      badLines: "strict",
      onLines: () => undefined,
      parser: limitLines(config.serve.max_lines, parser),
      sizeOf: fileSizes(config.roots.workroot),
      async beforeOpening(db, { added: jobs }) {
        assertAttached(await attachJobs(db, token, { ...attaching, jobs }), mostOpen);
      },
    });
    return errorsOf(enqueued);
  } catch (error) {
    await deleteBatch(database.within("build"), batch.batchId);
    throw error;
  }
}

/** @throws Refused if the jobs were not attached */
export function assertAttached(
  attached: Awaited<ReturnType<typeof attachJobs>>,
  mostOpen: number,
): void {
  if (attached === "attached") return;
  if (attached === "revoked") throw tokenEnded();
  if (attached === "too_many") throw tooManyOpen(mostOpen);
  throw new Refused({ status: 408, code: "timeout", message: "Reading the lines took too long." });
}

/** Refuses lines beyond a limit, so that a file of many small lines can't fill a batch. */
function limitLines(most: number, parser: LineParser): LineParser {
  let lines = 0;
  return {
    ...parser,
    parse(line) {
      lines += 1;
      if (lines <= most) return parser.parse(line);
      const reason = `a batch has at most ${most} lines (serve.max_lines)`;
      return { ok: false, number: line.number, reason };
    },
  };
}

function errorsOf({ outcome, problems }: EnqueueResult): readonly LineError[] {
  switch (outcome) {
    case "queued":
      return [];
    case "empty":
      return [{ line: null, message: "The file holds no line. Expected one JSON object a line." }];
    case "rejected": {
      const errors = problems.first().map(({ line, reason }) => ({ line, message: reason }));
      const more = problems.count - errors.length;
      return more === 0
        ? errors
        : [...errors, { line: null, message: `${more} more lines are wrong.` }];
    }
  }
}
