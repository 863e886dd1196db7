import { decodeEscapes, maskWebhook } from "../../shared/config/mask-url.ts";
import { AddressDenied, sendRequest } from "../outbound-request.ts";

/** Statuses besides 5xx that ask the caller to try again later. */
const BUSY = new Set([408, 425, 429]);

type WebhookPost = {
  readonly key: string;
  readonly body: string;
  /** Headers that prove the sender to the receiver. */
  readonly signature: Readonly<Record<string, string>>;
  /** The time limit that the signal enforces, for the message. */
  readonly timeoutS: number;
  /** Whether an address may be called: public ones, and those of on_batch_end.allowed_networks. */
  readonly isAllowed: (address: string) => boolean;
};

/**
 * Posts JSON to a webhook. A receiver recognizes a repeated delivery by the header Idempotency-Key. A redirect is not
 * followed: it would send the contents of the batch to a host that nobody configured. A public name may resolve to an address
 * of this machine or its network, where services often trust every caller: such an address is called only if configured.
 */
export async function callWebhook(
  url: string,
  { key, body, signature, timeoutS, isAllowed }: WebhookPost,
  signal: AbortSignal,
): Promise<TryResult> {
  try {
    const { address, authorization } = splitCredentials(url);
    const response = await sendRequest(
      {
        url: address,
        headers: {
          "content-type": "application/json",
          "idempotency-key": key,
          "user-agent": "nightdesk",
          ...authorization,
          ...signature,
        },
        body,
        isAllowed,
      },
      signal,
    );
    response.destroy();
    return resultOfStatus(response.statusCode ?? 0, url);
  } catch (error) {
    return {
      kind: error instanceof AddressDenied ? "refused" : "may_try_again",
      status: null,
      error: `${maskWebhook(url)} ${describeError(error, signal, timeoutS)}`,
    };
  }
}

function resultOfStatus(status: number, url: string): TryResult {
  if (status >= 200 && status < 300) return { kind: "told", status };
  const place = maskWebhook(url);
  if (status >= 300 && status < 400) {
    const error = `${place} answered ${status}, a redirect, which is not followed; set on_batch_end.webhook to where it leads`;
    return { kind: "refused", status, error };
  }
  const kind = status >= 500 || BUSY.has(status) ? "may_try_again" : "refused";
  return { kind, status, error: `${place} answered ${status}` };
}

/** Moves user and password from the URL to a header: in the URL they would appear in errors. */
function splitCredentials(url: string): {
  readonly address: URL;
  readonly authorization: Readonly<Record<string, string>>;
} {
  const address = new URL(url);
  const { username, password } = address;
  address.username = "";
  address.password = "";
  if (username === "" && password === "") return { address, authorization: {} };
  const pair = `${decodeEscapes(username)}:${decodeEscapes(password)}`;
  return {
    address,
    authorization: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` },
  };
}

/** Leaves out the message of a fault of the connection, which may hold the URL. */
function describeError(error: unknown, signal: AbortSignal, timeoutS: number): string {
  if (error instanceof AddressDenied)
    return `was not called: ${error.message}; if it is meant, add its network to on_batch_end.allowed_networks`;
  if (isTimeout(signal)) return `did not answer within ${timeoutS} s (on_batch_end.timeout_s)`;
  const code = codeOf(error);
  return code === undefined ? "could not be reached" : `could not be reached (${code})`;
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  return "cause" in error ? codeOf(error.cause) : undefined;
}

/**
 * The result of one try; `status` is a status of HTTP or an exit code. `may_try_again`: the event was not delivered, for a
 * reason that may pass.
 */
export type TryResult =
  | { readonly kind: "told"; readonly status: number; readonly error?: undefined }
  | {
      readonly kind: "may_try_again" | "refused";
      /** Null if there was no status. */
      readonly status: number | null;
      readonly error: string;
    };

/** Whether the signal aborted because the time limit passed, and not because the worker stops. */
export const isTimeout = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && nameOf(reason) === "TimeoutError";

// Not instanceof: the error may come from another realm, as under a test runner.
const nameOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "name" in error ? error.name : undefined;
