import type { IncomingMessage } from "node:http";
import { AwsV4Signer } from "aws4fetch";
import type { ListedFile } from "../../shared/store/index/remote-files.ts";
import { bytesOf, requestPlace, withTries } from "./http-place.ts";
import type { HttpPlace, PlaceRequest } from "./http-place.ts";
import { decodeName } from "./local-name.ts";
import { openContent } from "./open-content.ts";
import { checkListed, entryReader, invalid, readListing, sizeOf, textOf } from "./read-listing.ts";
import type { Entry } from "./read-listing.ts";
import { listedFile } from "./remote.ts";
import type { Remote } from "./remote.ts";
import { listingFailure, objectRefusals, EXPLAINED_STATUSES } from "./s3-problem.ts";

type S3Place = HttpPlace & {
  /** The mirrored folder. The first name of its path is the bucket, unless the host name contains the bucket. */
  readonly url: URL;
  readonly bucket: string | undefined;
  readonly region: string;
  /** Null for a public bucket, whose requests are not signed. */
  readonly login: { readonly user: string; readonly secret: string } | null;
};

/** Objects of a bucket by the S3 API of Amazon, MinIO, Ceph, Garage, R2 and others. */
export function openS3(place: S3Place): Remote {
  const bucket = bucketOf(place);
  return {
    list: (signal) => listBucket(place, bucket, signal),
    async open(file, beginning, signal) {
      const key = encodeKey(bucket.prefix + file.id.split("/").map(decodeName).join("/"));
      const request = await signedRequest(place, new URL(`${bucket.base}/${key}`));
      const wanted = {
        request,
        origin: (response: IncomingMessage) =>
          `s3://${bucket.name}/${key}${versionOf(response, file.version)}`,
        refusals: objectRefusals({ ...place, bucket: bucket.name }, request, signal),
      };
      return openContent(place, wanted, beginning, signal);
    },
    close: async () => undefined,
  };
}

type Bucket = {
  readonly name: string;
  /** Without a slash at the end. */
  readonly base: string;
  /** The prefix of the mirrored keys: empty, or with a slash at the end. */
  readonly prefix: string;
};

function bucketOf({ url, bucket }: S3Place): Bucket {
  const names = url.pathname
    .replace(/^\/|\/$/g, "")
    .split("/")
    .map(decodeName);
  const name = bucket ?? names.shift() ?? "";
  return {
    name,
    base: bucket === undefined ? `${url.origin}/${encodeKey(name)}` : url.origin,
    prefix: names
      .filter((found, at) => at > 0 || found !== "")
      .map((found) => `${found}/`)
      .join(""),
  };
}

/** Encodes as the signature requires: otherwise servers compute another signature. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replace(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const encodeKey = (key: string): string => encodeName(key).replaceAll("%2F", "/");

const SHA256_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Each try is signed again, because a signature is valid only for minutes. No header is signed that proxies change. */
async function signedRequest({ login, region }: S3Place, url: URL): Promise<PlaceRequest> {
  const request = { url, method: "GET", headers: { "accept-encoding": "identity" } };
  if (login === null) return request;
  const signer = new AwsV4Signer({
    ...{ method: "GET", url: url.href, service: "s3", region },
    ...{ accessKeyId: login.user, secretAccessKey: login.secret },
    headers: { "x-amz-content-sha256": SHA256_OF_NOTHING },
  });
  const { headers } = await signer.sign();
  return { ...request, headers: { ...request.headers, ...Object.fromEntries(headers) } };
}

/** The version of the received bytes, as the end of a URL. A bucket without versioning calls every version "null". */
function versionOf({ headers }: IncomingMessage, listed: string): string {
  const version = headers["x-amz-version-id"];
  return typeof version === "string" && version !== "null"
    ? `?versionId=${encodeURIComponent(version)}`
    : `#${encodeURIComponent(headers.etag ?? listed)}`;
}

const KEYS_OF_A_PAGE = 1_000;
/** A server may ignore `max-keys`. */
const MOST_OF_A_PAGE = 10_000;
/** A page counts at least as so many keys, to end the listing of a server that returns empty pages for ever. */
const LEAST_OF_A_PAGE = 100;

async function* listBucket(
  place: S3Place,
  bucket: Bucket,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedFile[]> {
  let listed = 0;
  for (let token: string | null = ""; token !== null;) {
    const current: string = token;
    const page = await withTries(signal, () => readPage(place, bucket, current, signal));
    if (page.next === current) throw invalid(place.source, "goes on where it began");
    checkListed(place.source, (listed += Math.max(page.files.length, LEAST_OF_A_PAGE)));
    if (page.files.length > 0) yield page.files;
    token = page.next;
  }
}

type Page = {
  readonly files: readonly ListedFile[];
  /** Continuation token of the next page; null for the last page. */
  readonly next: string | null;
};

const ELEMENTS = new Set(["ListBucketResult", "Contents"]);
const PARTS = new Set([
  ...["IsTruncated", "NextContinuationToken", "EncodingType"],
  ...["Key", "Size", "ETag", "LastModified"],
]);

/** Reads a whole page before it uses any key, because the encoding of the keys may stand at its end. */
async function readPage(
  place: S3Place,
  bucket: Bucket,
  token: string,
  signal: AbortSignal,
): Promise<Page> {
  const query = {
    ...(token === "" ? {} : { "continuation-token": token }),
    ...{ "encoding-type": "url", "list-type": "2", "max-keys": String(KEYS_OF_A_PAGE) },
    prefix: bucket.prefix,
  };
  const written = Object.entries(query).map(([key, value]) => `${key}=${encodeName(value)}`);
  const url = new URL(`${bucket.base}?${written.join("&")}`);
  const request = await signedRequest(place, url);
  const response = await requestPlace(place, request, [200, ...EXPLAINED_STATUSES], signal);
  if (response.statusCode !== 200)
    throw await listingFailure({ ...place, bucket: bucket.name }, request, response, signal);
  const entries: Entry[] = [];
  const reader = entryReader(ELEMENTS, PARTS);
  for await (const found of readListing(
    place.source,
    bytesOf(place, request, response, signal),
    reader,
  )) {
    entries.push(...found);
    if (entries.length > MOST_OF_A_PAGE)
      throw invalid(place.source, `gives more than ${MOST_OF_A_PAGE} keys at once`);
  }
  return pageOf(place, bucket, entries);
}

/** @throws Failure SOURCE_INVALID if the page does not say whether it is the last, or where the next begins: else missing keys would be deleted */
function pageOf({ source }: S3Place, { prefix }: Bucket, entries: readonly Entry[]): Page {
  const head = entries.at(-1);
  const isTruncated = textOf(head, "IsTruncated");
  if (head?.element !== "ListBucketResult" || !["true", "false"].includes(isTruncated))
    throw invalid(source, "is none of S3, or does not say whether it is whole");
  const next = head.texts.get("NextContinuationToken") ?? "";
  if (isTruncated === "true" && next === "")
    throw invalid(source, "says that there is more, and not where");
  const isEncoded = textOf(head, "EncodingType") === "url";
  const files: ListedFile[] = [];
  for (const entry of entries.slice(0, -1)) {
    const file = fileOf(source, entry, { prefix, isEncoded });
    if (file !== undefined) files.push(file);
  }
  return { files, next: isTruncated === "true" ? next : null };
}

type Spelling = { readonly prefix: string; readonly isEncoded: boolean };

/** Undefined for a folder marker, as some programs leave it: an empty object whose key ends in a slash. */
function fileOf(
  source: string,
  entry: Entry,
  { prefix, isEncoded }: Spelling,
): ListedFile | undefined {
  const written = entry.texts.get("Key") ?? "";
  const [etag, size] = [textOf(entry, "ETag"), textOf(entry, "Size")];
  const bytes = sizeOf(size);
  const version =
    etag === ""
      ? `${size.slice(0, 20)} bytes, ${textOf(entry, "LastModified").slice(0, 60)}`
      : etag.slice(0, 500);
  const key = isEncoded ? decodeKey(written) : written;
  if (key === undefined)
    return { ...listedFile(written, { version, bytes }), refused: "its key is no UTF-8" };
  if (!key.startsWith(prefix) || key === "")
    throw invalid(source, `names ${JSON.stringify(key.slice(0, 200))}, which does not lie in it`);
  const names = key.slice(prefix.length).split("/");
  const id = names.map(encodeURIComponent).join("/");
  const file = listedFile(id === "" ? "%2F" : id, { version, bytes });
  if (names.at(-1) === "")
    return bytes === 0 ? undefined : { ...file, refused: "its key ends in a slash" };
  if (names.some((name) => name === "." || name === ".."))
    return { ...file, refused: 'its key has a name "." or "..", of which no address can be made' };
  return file;
}

/** Decodes form encoding, with a plus for a space. Undefined if it is not UTF-8. */
function decodeKey(written: string): string | undefined {
  try {
    return decodeURIComponent(written.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
