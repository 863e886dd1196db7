import type { IncomingMessage } from "node:http";
import { Failure } from "../../shared/failure.ts";
import { bytesOf, denied, statusFailure, unavailable } from "./http-place.ts";
import type { HttpPlace, PlaceRequest } from "./http-place.ts";
import type { Refusals } from "./open-content.ts";
import { entryReader, readListing } from "./read-listing.ts";
import { GONE } from "./remote.ts";

/** Statuses of listing responses whose body explains the problem. */
export const EXPLAINED_STATUSES: readonly number[] = [301, 307, 400, 401, 403, 404];

type Place = HttpPlace & { readonly bucket: string; readonly region: string };

/** By S3 code: problems of the whole bucket. */
const BUCKET_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["InvalidAccessKeyId", "knows no such access key (remote.user)"],
  ["SignatureDoesNotMatch", "finds that the secret is not that of the access key (remote.user)"],
  ["ExpiredToken", "says that the access key has expired"],
  ["InvalidToken", "takes no such access key"],
  ["AllAccessDisabled", "says that nobody may read the bucket"],
  ["NotSignedUp", "says that the account may not use it"],
]);

const WRONG_REGION: ReadonlySet<string> = new Set([
  ...["AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect"],
]);

const OBJECT_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["AccessDenied", "it may not be read (AccessDenied)"],
  ["InvalidObjectState", "it is archived; restore it there, or copy it to another storage class"],
  ["NoSuchKey", GONE],
]);

/** Reads a response without an object: a reason if only this object is affected, otherwise it throws. */
export const objectRefusals = (
  place: Place,
  request: PlaceRequest,
  signal: AbortSignal,
): Refusals => ({
  statuses: [400, 403, 404, 410],
  async reasonOf(response) {
    const problem = await readProblem(place, request, response, signal);
    const failure = bucketFailure(place, request, problem);
    if (failure !== undefined) throw failure;
    const { code } = problem;
    const status = response.statusCode ?? 0;
    const plain = status === 404 || status === 410 ? GONE : `its place answers ${status}`;
    return (
      OBJECT_PROBLEMS.get(code) ?? (code === "" ? plain : `its place answers ${status} (${code})`)
    );
  },
});

/** Why there is no listing. */
export async function listingFailure(
  place: Place,
  request: PlaceRequest,
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<Failure> {
  const problem = await readProblem(place, request, response, signal);
  const { code } = problem;
  const { statusCode: status = 0 } = response;
  if (code === "AccessDenied")
    return deniedBy(place, request, `does not let this user list ${place.bucket} (s3:ListBucket)`);
  const failure = bucketFailure(place, request, problem);
  if (failure !== undefined || code === "" || ![400, 404].includes(status))
    return failure ?? statusFailure(place, request, response);
  return invalidPlace(
    place,
    `${request.url.host} answered ${status} (${code}). Look at remote.url`,
  );
}

function bucketFailure(
  place: Place,
  request: PlaceRequest,
  { code, region, date }: Problem,
): Failure | undefined {
  const { host } = request.url;
  const ofAccount = BUCKET_PROBLEMS.get(code);
  if (ofAccount !== undefined) return deniedBy(place, request, `${ofAccount} (${code})`);
  if (code === "RequestTimeTooSkewed")
    return denied(
      place,
      `the clock of this machine is wrong: it says ${new Date().toISOString()}, and that of ${host} ${date}. Set it`,
    );
  if (code === "NoSuchBucket")
    return invalidPlace(place, `${host} has no bucket ${place.bucket}. Look at remote.url`);
  if (WRONG_REGION.has(code) && region !== "" && region !== place.region)
    return invalidPlace(
      place,
      `${host} says that the bucket is in the region ${region}. Set remote.region, and in remote.url the address of that region`,
    );
  return code === "RequestTimeout" ? unavailable(place, request, code) : undefined;
}

const deniedBy = (place: Place, { url }: PlaceRequest, why: string): Failure =>
  denied(place, `${url.host} ${why}. It is not asked again before you correct it`);

const invalidPlace = ({ source }: Place, why: string): Failure =>
  new Failure("SOURCE_INVALID", `Source "${source}": ${why}.`);

type Problem = { readonly code: string; readonly region: string; readonly date: string };

const ERROR = new Set(["Error"]);
const PARTS = new Set(["Code", "Region"]);

/** Ignores the message, which may hold the signed request. */
async function readProblem(
  place: Place,
  request: PlaceRequest,
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<Problem> {
  const texts = await readError(place, bytesOf(place, request, response, signal));
  const { headers } = response;
  const region = texts?.get("Region") ?? headers["x-amz-bucket-region"];
  return {
    code: wordOf(texts?.get("Code")),
    region: wordOf(region),
    date: headers.date?.slice(0, 40) ?? "another",
  };
}

/** Undefined if the body is not from S3 (but from a proxy, say) or breaks off; then only the status is used. */
async function readError(
  { source }: Place,
  chunks: AsyncIterable<Uint8Array>,
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    for await (const [error] of readListing(source, chunks, entryReader(ERROR, PARTS)))
      return error?.texts;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  return undefined;
}

const wordOf = (text: unknown): string =>
  typeof text === "string" && /^[\w.-]{1,60}$/.test(text.trim()) ? text.trim() : "";
