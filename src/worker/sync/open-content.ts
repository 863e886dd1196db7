import type { IncomingMessage } from "node:http";
import { bytesOf, requestPlace } from "./http-place.ts";
import type { HttpPlace, PlaceRequest } from "./http-place.ts";
import { GONE, strongTag } from "./remote.ts";
import type { Beginning, NoContent, RemoteContent } from "./remote.ts";

/** By status: why this one file has no content. */
const REASONS: Readonly<Record<number, string>> = {
  403: "its place answers 403: it may not be read",
  404: GONE,
  410: GONE,
};

/** Statuses of responses without content; `reasonOf` returns why, or throws if the problem is not of this one file. */
export type Refusals = {
  readonly statuses: readonly number[];
  readonly reasonOf: (response: IncomingMessage) => Promise<string>;
};

const BY_STATUS: Refusals = {
  statuses: Object.keys(REASONS).map(Number),
  reasonOf: async ({ statusCode = 0 }) => REASONS[statusCode] ?? "",
};

type ContentRequest = {
  /** The request for the whole file. */
  readonly request: PlaceRequest;
  readonly origin: string | OriginOf;
  readonly refusals?: Refusals;
};

/**
 * Requests a file by HTTP: only the rest if there is a beginning, and the whole file if the server serves no ranges or
 * the content has changed.
 * @throws Failure as requestPlace, and as `reasonOf`
 */
export async function openContent(
  place: HttpPlace,
  wanted: ContentRequest,
  beginning: Beginning | null,
  signal: AbortSignal,
): Promise<RemoteContent | NoContent> {
  const { request, origin, refusals = BY_STATUS } = wanted;
  const response = await requestPlace(
    place,
    beginning === null ? request : rangeRequest(request, beginning),
    [200, 206, 412, 416, ...refusals.statuses],
    signal,
  );
  const { statusCode = 0 } = response;
  if (refusals.statuses.includes(statusCode)) {
    const reason = await refusals.reasonOf(response).finally(() => response.destroy());
    return { kind: "none", reason };
  }
  const from = statusCode === 206 && beginning !== null ? beginning.bytes : 0;
  if (statusCode > 206 || (statusCode === 206 && !isRange(response, from, beginning))) {
    response.destroy();
    return beginning === null
      ? { kind: "none", reason: `its place answers ${statusCode} to a request for all of it` }
      : openContent(place, wanted, null, signal);
  }
  const length = Number(response.headers["content-length"]);
  return {
    kind: "content",
    from,
    bytes: Number.isSafeInteger(length) ? from + length : null,
    etag: strongTag(response.headers.etag),
    origin: typeof origin === "string" ? origin : origin(response),
    chunks: bytesOf(place, request, response, signal),
  };
}

type OriginOf = (response: IncomingMessage) => string;

/** Sends both conditions, because not every server knows both: S3 obeys If-Match. */
const rangeRequest = (request: PlaceRequest, { bytes, etag }: Beginning): PlaceRequest => ({
  ...request,
  headers: { ...request.headers, range: `bytes=${bytes}-`, "if-match": etag, "if-range": etag },
});

/** Checks the response itself, because a server may ignore both conditions. */
const isRange = (response: IncomingMessage, from: number, beginning: Beginning | null): boolean =>
  startOf(response) === from && [undefined, beginning?.etag].includes(response.headers.etag);

const startOf = ({ headers }: IncomingMessage): number | undefined => {
  const [, first] = /^bytes (\d{1,15})-/.exec(headers["content-range"] ?? "") ?? [];
  return first === undefined ? undefined : Number(first);
};
