import { maskWebhook } from "../../shared/config/mask-url.ts";
import { AddressDenied, sendRequest } from "../outbound-request.ts";

/** Beside 5xx: statuses that ask to come back later. */
const BUSY = new Set([408, 425, 429]);

type WebhookPost = {
  readonly key: string;
  readonly body: string;
  /** Headers by which the receiver knows who sent it. */
  readonly signature: Readonly<Record<string, string>>;
  /** What the signal allows, to say so. */
  readonly timeoutS: number;
  /** Which addresses may be called: public ones, and those of on_batch_end.allowed_networks. */
  readonly isAllowed: (address: string) => boolean;
};

/**
 * Posts JSON to a webhook. Whoever gets it twice knows it by the header Idempotency-Key. A redirect is not followed: it
 * would send what the batch holds to a host that nobody named. A name may lead into this machine or its network, where
 * much can be reached that trusts whoever gets there: only configured networks are called there.
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
    return judge(response.statusCode ?? 0, url);
  } catch (error) {
    if (error instanceof AddressDenied) return notAllowed(error, url);
    return {
      kind: "may_try_again",
      status: null,
      error: `${maskWebhook(url)} ${describe(error, signal, timeoutS)}`,
    };
  }
}

const notAllowed = ({ message }: AddressDenied, url: string): TryResult => ({
  kind: "refused",
  status: null,
  error: `${maskWebhook(url)} was not called: ${message}; if it is meant, add its network to on_batch_end.allowed_networks`,
});

function judge(status: number, url: string): TryResult {
  if (status >= 200 && status < 300) return { kind: "told", status };
  const place = maskWebhook(url);
  if (status >= 300 && status < 400) {
    const error = `${place} answered ${status}, a redirect, which is not followed; set on_batch_end.webhook to where it leads`;
    return { kind: "refused", status, error };
  }
  const kind = status >= 500 || BUSY.has(status) ? "may_try_again" : "refused";
  return { kind, status, error: `${place} answered ${status}` };
}

/** A user in a URL would show in errors. */
function splitCredentials(url: string): {
  readonly address: URL;
  readonly authorization: Readonly<Record<string, string>>;
} {
  const address = new URL(url);
  const { username, password } = address;
  address.username = "";
  address.password = "";
  if (username === "" && password === "") return { address, authorization: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    address,
    authorization: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` },
  };
}

/** Never the message of the error itself, which may hold the URL. */
function describe(error: unknown, signal: AbortSignal, timeoutS: number): string {
  if (isTimeout(signal)) return `did not answer within ${timeoutS} s (on_batch_end.timeout_s)`;
  const code = codeOf(error);
  return code === undefined ? "could not be reached" : `could not be reached (${code})`;
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  return "cause" in error ? codeOf(error.cause) : undefined;
}

/** How one try went; `status` is that of HTTP, or an exit code. `may_try_again`: nobody was told, for a reason that may pass. */
export type TryResult =
  | { readonly kind: "told"; readonly status: number; readonly error?: undefined }
  | {
      readonly kind: "may_try_again" | "refused";
      /** Null where there was none. */
      readonly status: number | null;
      readonly error: string;
    };

/** Whether a signal aborted because time was up, and not because the worker stops. */
export const isTimeout = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && nameOf(reason) === "TimeoutError";

// Not instanceof: an error of another realm, as under a test runner, is one, too.
const nameOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "name" in error ? error.name : undefined;
