import { cancelBatch } from "../shared/store/jobs/close-batches.ts";
import { listProgramBatches } from "../shared/store/programs/batches.ts";
import { recordAction } from "../shared/store/operator/actions.ts";
import { batchObject, ownBatch, withProgress } from "./batch-object.ts";
import { createBatch } from "./create-batch.ts";
import { json } from "./api.ts";
import type { Answer, Api, ApiRequest, Route } from "./api.ts";
import { Refused } from "./failures.ts";
import { limitOf, listObject } from "./read-page.ts";

const USUAL_LISTED = 20;
const MOST_LISTED = 100;

export const BATCHES: readonly Route[] = [
  { method: "post", path: "/batches", scope: "batches:write", answer: createBatch },
  { method: "get", path: "/batches", scope: "batches:read", answer: listOwnBatches },
  { method: "get", path: "/batches/:id", scope: "batches:read", answer: showOwnBatch },
  { method: "post", path: "/batches/:id/cancel", scope: "batches:write", answer: cancelOwnBatch },
];

async function listOwnBatches({ database }: Api, request: ApiRequest): Promise<Answer> {
  const { token, query } = request;
  const limit = limitOf(request, USUAL_LISTED, MOST_LISTED);
  const after = query.get("after");
  const last = after === null ? null : await ownBatch(database, token, after);
  const page = { after: last?.batch.seq ?? null, limit: limit + 1 };
  const batches = await listProgramBatches(database, token.tokenId, page);
  return json(listObject((await withProgress(database, batches)).map(batchObject), limit));
}

async function showOwnBatch({ database }: Api, { token, part }: ApiRequest): Promise<Answer> {
  return json(batchObject(await ownBatch(database, token, part("id"))));
}

/** Cancels a batch: waiting jobs end, running ones are asked to stop, ended ones remain. */
async function cancelOwnBatch({ database }: Api, { token, part }: ApiRequest): Promise<Answer> {
  const { batch, progress } = await ownBatch(database, token, part("id"));
  if (progress?.finishedAt !== null || batch.batchId === null) {
    const state = progress === undefined && batch.failedAt === null ? "being read" : "ended";
    const message = `The batch is ${state}, and can't be cancelled.`;
    throw new Refused({ status: 409, code: "conflict", message });
  }
  await cancelBatch(database, batch.batchId);
  const action = { actor: `program ${token.name}`, action: "cancel" } as const;
  await recordAction(database, { ...action, batchId: batch.batchId }, "Cancelled.");
  return json(batchObject(await ownBatch(database, token, part("id"))));
}
