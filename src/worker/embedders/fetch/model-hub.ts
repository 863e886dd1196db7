import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { Failure } from "../../../shared/failure.ts";
import { parseJson } from "../../../shared/schema/json-value.ts";
import { networkKindOf } from "../../../shared/http/network-address.ts";
import type { NetworkKind } from "../../../shared/http/network-address.ts";
import { readHead } from "../../models/host-request.ts";
import { AddressDenied, sendRequest } from "../../outbound-request.ts";
import { parseUrl } from "../../../shared/http/parse-url.ts";

/** A host with the protocol of the Hugging Face hub: the hub itself, or a mirror. */
export type ModelHub = {
  /** `https://host[:port][/path]`, without a slash at the end. */
  readonly url: string;
  readonly model: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
};

export type RemoteFile = {
  /** Relative to the model's folder. */
  readonly path: string;
  readonly bytes: number;
  /** For large files the hub reports the SHA-256, for small ones git's own hash: SHA-1 over a header and the content. */
  readonly hash: { readonly kind: "sha256" | "git"; readonly hex: string };
};

export type RemoteModel = {
  /** The commit that the revision names at the moment. */
  readonly commit: string;
  readonly files: readonly RemoteFile[];
};

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const siblingSchema = z
  .object({
    rfilename: z.string(),
    size: z.int().min(0),
    blobId: hex(40),
    lfs: z.object({ sha256: hex(64) }).nullish(),
  })
  .transform(({ rfilename, size, blobId, lfs }): RemoteFile => ({
    path: rfilename,
    bytes: size,
    hash: lfs ? { kind: "sha256", hex: lfs.sha256 } : { kind: "git", hex: blobId },
  }));
const modelSchema = z
  .object({ sha: hex(40), siblings: z.array(siblingSchema).max(20_000) })
  .transform(({ sha, siblings }): RemoteModel => ({ commit: sha, files: siblings }));

const START_TIMEOUT_MS = 30_000;
const MAX_LIST_BYTES = 8 * 1024 * 1024;
const MOST_REDIRECTS = 5;

/**
 * The list of a model's files on a hub, with sizes and hashes.
 * @throws Failure NOT_FOUND, MODEL_UNREACHABLE, MODEL_OUTPUT_INVALID
 */
export async function readRemoteModel(hub: ModelHub): Promise<RemoteModel> {
  const path = `api/models/${hub.model}/revision/${encodeURIComponent(hub.revision)}?blobs=true`;
  const response = await requestFromHub(hub, path, AbortSignal.timeout(START_TIMEOUT_MS));
  const text = await readHead(response, MAX_LIST_BYTES + 1).catch((error: unknown) => {
    throw hubFailure(hub, reasonOf(error), error);
  });
  response.destroy();
  const parsed = modelSchema.safeParse(text.length > MAX_LIST_BYTES ? null : parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure(
    "MODEL_OUTPUT_INVALID",
    `${hub.url} gave no list of the files of "${hub.model}" with sizes and hashes. Is it a mirror of the Hugging Face ` +
      "hub? Give another with --host.",
  );
}

/** A file at a commit, and the part of it that already exists. */
export type WantedFile = {
  readonly commit: string;
  readonly file: Pick<RemoteFile, "path" | "bytes">;
  /** The number of bytes from the beginning, and the etag of the content that they belong to. */
  readonly there: { readonly bytes: number; readonly etag: string | null };
};

/** The content of a file from a byte offset on. */
export type RemoteContent = {
  readonly response: IncomingMessage;
  readonly from: number;
  /** Identifies this version of the content; null if the host reports none. */
  readonly etag: string | null;
};

/**
 * Opens the missing rest of a file; or the whole file, if the host does not send ranges or now has other content than the
 * existing part.
 * @throws Failure as readRemoteModel
 */
export async function openRemoteFile(
  hub: ModelHub,
  { commit, file, there }: WantedFile,
  signal: AbortSignal,
): Promise<RemoteContent> {
  const words = file.path.split("/").map(encodeURIComponent).join("/");
  const path = `${hub.model}/resolve/${commit}/${words}`;
  if (there.bytes > 0) {
    const response = await requestFromHub(hub, path, signal, rangeOf(there));
    if (response.statusCode === 200) return contentOf(response, 0);
    if (isRest(response, there.bytes, file.bytes)) return contentOf(response, there.bytes);
    response.destroy();
  }
  return contentOf(await requestFromHub(hub, path, signal), 0);
}

const contentOf = (response: IncomingMessage, from: number): RemoteContent => ({
  response,
  from,
  etag: strongTag(response.headers.etag),
});

/** A weak etag does not guarantee that two contents are identical. */
const strongTag = (etag: string | undefined): string | null =>
  etag !== undefined && /^"[\x21\x23-\x7e]{1,1000}"$/.test(etag) ? etag : null;

const rangeOf = ({ bytes, etag }: WantedFile["there"]): Readonly<Record<string, string>> => ({
  range: `bytes=${bytes}-`,
  ...(etag === null ? {} : { "if-range": etag }),
});

/** Whether a response is the rest of a file of this size, from this offset on. */
function isRest({ statusCode, headers }: IncomingMessage, from: number, bytes: number): boolean {
  const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers["content-range"] ?? "");
  if (statusCode !== 206 || range === null) return false;
  const [, first, last, all] = range;
  return (
    Number(first) === from && Number(last) === bytes - 1 && (all === "*" || Number(all) === bytes)
  );
}

/** Statuses of a range request: the rest of the file, or no such rest. */
const RANGE_ANSWERS: ReadonlySet<number> = new Set([206, 416]);

/**
 * Files often lie on another host, to which the hub redirects. A redirect must keep TLS if the request had it, and must not lead
 * from the internet to addresses that are meant only for this machine or its network.
 */
async function requestFromHub(
  hub: ModelHub,
  path: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  const isOfRest = "range" in headers;
  let url = new URL(`${hub.url}/${path}`);
  let network: NetworkKind | undefined;
  for (let count = 0; count <= MOST_REDIRECTS; count += 1) {
    const isAllowed = (address: string) =>
      network === undefined || ["public", network].includes(networkKindOf(address));
    const response = await sendRequest({ url, headers, isAllowed }, signal).catch(
      (error: unknown) => {
        throw hubFailure(
          hub,
          error instanceof AddressDenied ? error.message : reasonOf(error),
          error,
        );
      },
    );
    const { statusCode = 0 } = response;
    if (statusCode === 200 || (isOfRest && RANGE_ANSWERS.has(statusCode))) return response;
    network ??= networkKindOf(response.socket.remoteAddress ?? "");
    const next = nextUrl(response, url);
    response.destroy();
    if (next === undefined) throw answerFailure(hub, statusCode);
    if (next.protocol !== "https:" && (url.protocol === "https:" || next.protocol !== "http:"))
      throw hubFailure(hub, `it leads to ${next.protocol}//${next.host}, without TLS`);
    url = next;
  }
  throw hubFailure(hub, `it leads elsewhere more than ${MOST_REDIRECTS} times`);
}

function nextUrl({ statusCode, headers }: IncomingMessage, from: URL): URL | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(statusCode ?? 0) || location === undefined)
    return undefined;
  return parseUrl(location, from.href);
}

// The hub answers 401 also for a model that does not exist.
const answerFailure = (hub: ModelHub, status: number): Failure =>
  [401, 403, 404].includes(status) ? notThere(hub, status) : hubFailure(hub, `HTTP ${status}`);

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause === "object" && cause !== null && "code" in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : String(cause);
}

const hubFailure = ({ url }: ModelHub, why: string, cause?: unknown): Failure =>
  new Failure(
    "MODEL_UNREACHABLE",
    `${url} does not give the model (${why}). Try later, or name a mirror with --host.`,
    cause === undefined ? {} : { cause },
  );

const notThere = ({ url, model, revision }: ModelHub, status: number): Failure =>
  new Failure(
    "NOT_FOUND",
    `${url} has no model "${model}" (${revision}) that can be read without a login (HTTP ${status}). Look for its ` +
      "name there; one behind a login has to be downloaded by hand.",
  );
