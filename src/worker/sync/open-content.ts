import type { IncomingMessage } from "node:http";
import { bytesOf, requestPlace } from "./http-place.ts";
import type { HttpPlace, PlaceRequest } from "./http-place.ts";
import { strongTag } from "./remote.ts";
import type { Beginning, NoContent, RemoteContent } from "./remote.ts";

/** Answers that are of the one file, and of no other. */
const REASONS: Readonly<Record<number, string>> = {
  403: "its place answers 403: it may not be read",
  404: "it was gone when it was to be fetched",
  410: "it was gone when it was to be fetched",
};

/**
 * Asks for a file by HTTP: the rest of it where there is a beginning, and all of it where the server gives no rests, or
 * has other content by now.
 * @param request of all of it
 * @throws Failure as requestPlace
 */
export async function openContent(
  place: HttpPlace,
  { request, origin }: { readonly request: PlaceRequest; readonly origin: string | OriginOf },
  beginning: Beginning | null,
  signal: AbortSignal,
): Promise<RemoteContent | NoContent> {
  const response = await requestPlace(
    place,
    beginning === null ? request : ofRest(request, beginning),
    [200, 206, 403, 404, 410, 416],
    signal,
  );
  const { statusCode = 0 } = response;
  const reason = REASONS[statusCode];
  if (reason !== undefined) {
    response.destroy();
    return { kind: "none", reason };
  }
  const from = statusCode === 206 && beginning !== null ? beginning.bytes : 0;
  if (statusCode === 416 || (statusCode === 206 && startOf(response) !== from)) {
    response.destroy();
    return beginning === null
      ? { kind: "none", reason: `its place answers ${statusCode} to a request for all of it` }
      : openContent(place, { request, origin }, null, signal);
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

const ofRest = (request: PlaceRequest, { bytes, etag }: Beginning): PlaceRequest => ({
  ...request,
  headers: { ...request.headers, range: `bytes=${bytes}-`, "if-range": etag },
});

const startOf = ({ headers }: IncomingMessage): number | undefined => {
  const [, first] = /^bytes (\d{1,15})-/.exec(headers["content-range"] ?? "") ?? [];
  return first === undefined ? undefined : Number(first);
};
