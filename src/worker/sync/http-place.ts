import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../shared/failure.ts";
import { withDeadline } from "../models/deadline.ts";
import { AddressDenied, sendRequest } from "../outbound-request.ts";

/** A remote server, and the settings for its requests. */
export type HttpPlace = {
  /** Name of the source, for messages. */
  readonly source: string;
  readonly timeoutMs: number;
  /** Which addresses may be connected to. */
  readonly isAllowed: (address: string) => boolean;
  /** Trusted certificates (PEM), in place of the built-in ones. */
  readonly ca?: readonly string[] | undefined;
};

export type PlaceRequest = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

const TRIES = 4;
const FIRST_DELAY_MS = 250;

/**
 * Repeats a request after a failure that may pass, before the job is parked for it.
 * @throws what the last try throws
 */
export async function withTries<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (tried === TRIES || !isPassing(error)) throw error;
      await delay(FIRST_DELAY_MS * 2 ** (tried - 1), undefined, { signal });
    }
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof Failure && error.code === "SOURCE_UNAVAILABLE";

/**
 * Sends one request, and returns the response if its status is one of `expected`. It follows no redirect.
 * @throws Failure SOURCE_DENIED for 401, 403, a redirect and a denied address, SOURCE_UNAVAILABLE for a fault that
 *   may pass, SOURCE_INVALID for any other status
 */
export async function requestPlace(
  place: HttpPlace,
  request: PlaceRequest,
  expected: readonly number[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const response = await sendWithin(place, request, signal);
  const { statusCode = 0 } = response;
  if (expected.includes(statusCode)) return response;
  response.destroy();
  throw statusFailure(place, request, response);
}

function sendWithin(
  place: HttpPlace,
  request: PlaceRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { timeoutMs, isAllowed, ca } = place;
  const late = () => unavailable(place, request, `nothing came for ${timeoutMs / 1_000} s`);
  return withDeadline({ signal, timeoutMs, late }, (until) =>
    sendRequest(
      {
        ...request,
        ...(ca === undefined ? {} : { ca }),
        isAllowed,
      },
      until,
    ),
  ).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof AddressDenied) throw deniedAddress(place, error);
    throw error instanceof Failure ? error : unavailable(place, request, codeOf(error), error);
  });
}

export function statusFailure(
  place: HttpPlace,
  request: PlaceRequest,
  { statusCode = 0, headers }: IncomingMessage,
): Failure {
  const { host } = request.url;
  if (statusCode === 401 || statusCode === 403) {
    return denied(
      place,
      `${host} answered ${statusCode}: its user or secret is wrong, or may not read this. It is not asked again before you do`,
    );
  }
  if (statusCode >= 300 && statusCode < 400) {
    const target = headers.location === undefined ? "" : ` to ${headers.location.slice(0, 200)}`;
    return denied(
      place,
      `${host} leads elsewhere${target}, which is not followed; if it is meant, write that address in remote.url`,
    );
  }
  if (statusCode === 408 || statusCode === 429 || statusCode >= 500)
    return unavailable(place, request, `HTTP ${statusCode}`);
  return new Failure(
    "SOURCE_INVALID",
    `Source "${place.source}": ${host} answered ${request.method} with ${statusCode}. Look at remote.url.`,
  );
}

export const denied = ({ source }: Pick<HttpPlace, "source">, why: string): Failure =>
  new Failure("SOURCE_DENIED", `Source "${source}" is not mirrored: ${why}.`);

export const deniedAddress = (place: Pick<HttpPlace, "source">, error: AddressDenied): Failure =>
  denied(place, `${error.message}; if it is meant, add its network to allowed_networks`);

export const unavailable = (
  { source }: Pick<HttpPlace, "source">,
  { url }: Pick<PlaceRequest, "url">,
  why: string,
  cause?: unknown,
): Failure =>
  new Failure(
    "SOURCE_UNAVAILABLE",
    `Source "${source}": ${url.host} can't be reached now (${why}). What is mirrored stays.`,
    cause === undefined ? {} : { cause },
  );

/** The code of an error; never its message, which may hold a secret. */
export const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error
    ? String(error.code)
    : "it broke off";

/**
 * The bytes of a response.
 * @throws Failure SOURCE_UNAVAILABLE if it breaks off, or stalls for longer than `timeoutMs`
 */
export async function* bytesOf(
  place: HttpPlace,
  request: Pick<PlaceRequest, "url">,
  response: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const stop = (): void => {
    response.destroy();
  };
  signal.addEventListener("abort", stop, { once: true });
  response.setTimeout(place.timeoutMs, stop);
  try {
    for await (const chunk of response) yield chunk as Buffer;
  } catch (error) {
    signal.throwIfAborted();
    throw unavailable(place, request, codeOf(error), error);
  } finally {
    signal.removeEventListener("abort", stop);
    response.destroy();
  }
}
