import type { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import { parseJson } from "../../shared/schema/json-value.ts";
import { parseUrl } from "../../shared/http/parse-url.ts";
import { bytesOf, requestPlace, withTries } from "../sync/http-place.ts";
import type { HttpPlace, PlaceRequest } from "../sync/http-place.ts";
import { invalid } from "../sync/read-listing.ts";

/** A paperless-ngx server, and the token of the user for its requests. */
export type PaperlessPlace = HttpPlace & { readonly url: URL; readonly token: string };

type Sent = {
  readonly method: "POST" | "PATCH";
  readonly body: unknown;
  /** Expected statuses besides 200 and 201. */
  readonly expected?: readonly number[];
};

export type PaperlessAnswer = { readonly status: number; readonly json: unknown };

export type PaperlessApi = {
  /** @param path relative to the server's URL @throws Failure as requestPlace */
  read<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T>;
  /** @returns undefined if it does not exist or may not be read */
  find<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T | undefined>;
  send(path: string, sent: Sent, signal: AbortSignal): Promise<PaperlessAnswer>;
  /** The request for a path, which the caller sends itself. */
  requestOf(path: string): PlaceRequest;
};

/** The versions that the documentation names, newest first. */
const API_VERSIONS = [10, 9] as const;
/** Enough for an answer with a hundred documents with long custom fields. */
const MOST_ANSWER_BYTES = 32_000_000;

/** The REST API of paperless-ngx. It follows no redirect, and sends the token only to the host of `place.url`. */
export function openPaperlessApi(place: PaperlessPlace): PaperlessApi {
  const root = new URL(place.url);
  if (!root.pathname.endsWith("/")) root.pathname += "/";
  let version: number = API_VERSIONS[0];
  const headersOf = () => ({
    authorization: `Token ${place.token}`,
    accept: `application/json; version=${version}`,
    "accept-encoding": "identity",
  });
  const callApi = async (
    request: Omit<PlaceRequest, "headers">,
    expected: readonly number[],
    signal: AbortSignal,
  ): Promise<PaperlessAnswer> => {
    const headers = {
      ...headersOf(),
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
    };
    const sent = { ...request, headers };
    const { status, text } = await withTries(signal, () =>
      readAnswer(place, sent, [...expected, 406], signal),
    );
    if (status >= 400 && status !== 406) return { status, json: null };
    if (status !== 406) return { status, json: parseAnswer(place, sent, text) };
    const [, older] = API_VERSIONS;
    if (version === older) throw unusable(place, sent, "speaks neither of its versions");
    version = older;
    return callApi(request, expected, signal);
  };
  const parseReply = <T>(url: URL, schema: z.ZodType<T>, json: unknown): T => {
    const parsed = schema.safeParse(json);
    if (parsed.success) return parsed.data;
    const where = parsed.error.issues[0]?.path.join(".") ?? "";
    throw unusable(place, { url }, `answers ${url.pathname} with a wrong ${where || "value"}`);
  };
  return {
    async read(path, schema, signal) {
      const url = belowRoot(place, root, path);
      const { json } = await callApi({ url, method: "GET" }, [200], signal);
      return parseReply(url, schema, json);
    },
    async find(path, schema, signal) {
      const url = belowRoot(place, root, path);
      const { status, json } = await callApi({ url, method: "GET" }, [200, 403, 404], signal);
      return status === 200 ? parseReply(url, schema, json) : undefined;
    },
    send: (path, { method, body, expected = [] }, signal) =>
      callApi(
        { url: belowRoot(place, root, path), method, body: JSON.stringify(body) },
        [200, 201, ...expected],
        signal,
      ),
    requestOf(path) {
      const headers = { ...headersOf(), accept: "*/*" };
      return { url: new URL(path, root), method: "GET", headers };
    },
  };
}

/**
 * The URL of a path, or of the next page that the server names.
 * @throws Failure SOURCE_INVALID for a URL outside of `root`, which must not receive the token
 */
function belowRoot({ source }: PaperlessPlace, root: URL, path: string): URL {
  const url = parseUrl(path, root.href);
  if (url?.origin === root.origin && url.pathname.startsWith(root.pathname)) return url;
  const shown = JSON.stringify(path.slice(0, 200));
  throw invalid(
    source,
    `goes on at ${shown}, which does not lie below ${root.href} (behind a proxy, PAPERLESS_URL and PAPERLESS_PROXY_SSL_HEADER of the server decide that)`,
  );
}

async function readAnswer(
  place: PaperlessPlace,
  request: PlaceRequest,
  expected: readonly number[],
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await requestPlace(place, request, expected, signal);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of bytesOf(place, request, response, signal)) {
    bytes += chunk.length;
    if (bytes > MOST_ANSWER_BYTES)
      throw unusable(place, request, `answers with more than ${MOST_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
}

function parseAnswer(place: PaperlessPlace, request: PlaceRequest, text: string): unknown {
  const json = parseJson(text);
  if (json !== undefined) return json;
  throw unusable(place, request, `answers ${request.url.pathname} with no JSON`);
}

export const unusable = (
  { source }: Pick<HttpPlace, "source">,
  { url }: Pick<PlaceRequest, "url">,
  why: string,
): Failure =>
  new Failure(
    "SOURCE_INVALID",
    `Source "${source}": ${url.host} ${why}. Look at remote.url; version 9 or 10 of the API of paperless-ngx is needed.`,
  );
