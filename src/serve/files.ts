import {
  deleteFile,
  findFile,
  listFiles,
  readFileParts,
  selectBytesOfDay,
  storeFile,
} from "../shared/store/programs/files.ts";
import type { ProgramFile } from "../shared/store/programs/files.ts";
import { publicId, secondsOf } from "../shared/views/openai-lines.ts";
import { json } from "./api.ts";
import type { Answer, Api, ApiRequest, Route } from "./api.ts";
import { invalid, notFound, tokenEnded, tooMany } from "./failures.ts";
import { FILE, rowId } from "./ids.ts";
import { limitOf, listObject } from "./read-page.ts";
import { withUpload } from "./receive-upload.ts";
import type { Upload } from "./receive-upload.ts";
import { isResultFile, resultFileContent, resultFileObject } from "./result-files.ts";

const MOST_LISTED = 10_000;
const DAY_S = 86_400;
const MB = 1_000_000;
const HOUR_S = 3_600;

export const FILES: readonly Route[] = [
  { method: "post", path: "/files", scope: "files:write", answer: upload },
  { method: "get", path: "/files", scope: "batches:read", answer: listOwnFiles },
  { method: "get", path: "/files/:id", scope: "batches:read", answer: showFile },
  { method: "get", path: "/files/:id/content", scope: "batches:read", answer: sendContent },
  { method: "delete", path: "/files/:id", scope: "files:write", answer: removeFile },
];

/** Uploads take turns: a client that sends nothing for this time loses its turn. */
const STALLED_MS = 30_000;

async function upload({ config, database, uploads }: Api, request: ApiRequest): Promise<Answer> {
  const { token, incoming } = request;
  const { max_file_mb: mostMb, file_days: days, limits } = config.serve;
  const mostBytesADay = limits.mb_per_day * MB;
  const overDay = () =>
    tooMany(
      `A token may send ${limits.mb_per_day} MB within 24 hours (serve.limits.mb_per_day).`,
      HOUR_S,
    );
  if ((await selectBytesOfDay(database, token.tokenId)) >= mostBytesADay) throw overDay();
  return uploads(() =>
    withUpload(incoming, { mostBytes: mostMb * MB, stalledMs: STALLED_MS }, async (received) => {
      assertPurpose(received);
      const keepSeconds = keepSecondsOf(received) ?? days * DAY_S;
      const stored = await storeFile(
        database,
        token,
        { ...received, keepSeconds, mostBytesADay },
        received.parts(),
      );
      if (stored === "too_much") throw overDay();
      if (stored === "revoked") throw tokenEnded();
      return json(fileObject(stored));
    }),
  );
}

function assertPurpose({ fields }: Upload): void {
  const purpose = fields.get("purpose");
  if (purpose === "batch") return;
  throw invalid("purpose", 'purpose must be "batch": files are the input of batches.');
}

const LEAST_KEPT_S = HOUR_S;
const MOST_KEPT_S = 30 * DAY_S;

function keepSecondsOf({ fields }: Upload): number | undefined {
  const seconds = fields.get("expires_after[seconds]");
  if (seconds === undefined) return undefined;
  const anchor = fields.get("expires_after[anchor]");
  const isTime = /^\d{1,8}$/.test(seconds);
  if (anchor === "created_at" && isTime && isBetween(Number(seconds), LEAST_KEPT_S, MOST_KEPT_S))
    return Number(seconds);
  throw invalid(
    "expires_after",
    `expires_after must have the anchor created_at and ${LEAST_KEPT_S} to ${MOST_KEPT_S} seconds.`,
  );
}

const isBetween = (value: number, least: number, most: number): boolean =>
  value >= least && value <= most;

async function listOwnFiles({ database }: Api, request: ApiRequest): Promise<Answer> {
  const { token, query } = request;
  const limit = limitOf(request, MOST_LISTED, MOST_LISTED);
  if ((query.get("purpose") ?? "batch") !== "batch") return json(listObject([], limit));
  const after = query.get("after");
  const last = after === null ? null : await ownFile(request, database, after);
  const order = query.get("order") === "asc" ? "asc" : "desc";
  const page = { after: last?.seq ?? null, limit: limit + 1, order } as const;
  const files = await listFiles(database, token.tokenId, page);
  return json(listObject(files.map(fileObject), limit));
}

async function showFile(api: Api, request: ApiRequest): Promise<Answer> {
  const id = request.part("id");
  if (isResultFile(id)) return json(await resultFileObject(api, request.token, id));
  return json(fileObject(await ownFile(request, api.database, id)));
}

async function sendContent(api: Api, request: ApiRequest): Promise<Answer> {
  const id = request.part("id");
  const chunks = isResultFile(id)
    ? await resultFileContent(api, request.token, id)
    : readFileParts(api.database, await ownFile(request, api.database, id));
  return { kind: "stream", type: "application/octet-stream", chunks };
}

async function removeFile({ database }: Api, { token, part }: ApiRequest): Promise<Answer> {
  const id = part("id");
  if (isResultFile(id)) {
    throw invalid(
      "id",
      "The results of a batch are its rows, and go with it: they can't be deleted here.",
    );
  }
  const fileId = rowId(FILE, id);
  const isDeleted = fileId !== undefined && (await deleteFile(database, token, fileId));
  if (!isDeleted) throw notFound("file", id);
  return json({ id, object: "file", deleted: true });
}

/** @throws Refused 404 */
export async function ownFile(
  { token }: Pick<ApiRequest, "token">,
  database: Api["database"],
  id: string,
): Promise<ProgramFile> {
  const fileId = rowId(FILE, id);
  const file = fileId === undefined ? undefined : await findFile(database, token.tokenId, fileId);
  if (file === undefined) throw notFound("file", id);
  return file;
}

const fileObject = (file: ProgramFile) => ({
  ...{ id: publicId(FILE, file.fileId), object: "file", bytes: file.bytes, filename: file.name },
  ...{ created_at: secondsOf(file.createdAt), expires_at: secondsOf(file.expiresAt) },
  ...{ purpose: "batch", status: "processed", nightdesk: { sha256: file.sha256 } },
});
