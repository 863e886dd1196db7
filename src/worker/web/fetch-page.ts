import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { AddressDenied, sendRequest } from "../outbound-request.ts";
import type { OutboundRequest } from "../outbound-request.ts";
import { addressRule, judgeUrl } from "./url-rules.ts";
import type { UrlRules } from "./url-rules.ts";
import { parseUrl } from "../../shared/http/parse-url.ts";

export type FetchLimits = {
  readonly userAgent: string;
  /** Applies to the bytes received and to the decompressed bytes. */
  readonly maxBytes: number;
  /** From the first connection to the last byte, redirects included. */
  readonly timeoutMs: number;
  /** Replaces the system's resolver. */
  readonly lookup?: OutboundRequest["lookup"];
};

/** A server's response to a URL. */
export type FetchedBytes = {
  readonly kind: "fetched";
  /** After all redirects. */
  readonly url: URL;
  readonly bytes: Buffer;
  /** Lower case, like `text/html`. */
  readonly mediaType: string;
  /** As the server names it; null if it names none. */
  readonly charset: string | null;
};

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a URL. It resolves each host name once and connects only to an address that it has checked, again at every
 * redirect; it does not follow a redirect from https to http. It stores no cookie, and only `userAgent` identifies the client.
 *
 * Refusals: those of `judgeUrl`, WEB_DENIED (a denied address, or a redirect from https to http),
 * WEB_UNAVAILABLE (offline, timeout, status), WEB_UNREADABLE (too large, unknown content encoding).
 * @throws the signal's reason
 */
export async function fetchBytes(
  text: string,
  rules: UrlRules,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedBytes | Refusal> {
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  const until = AbortSignal.any([signal, deadline]);
  try {
    return await followRedirects(text, rules, limits, until);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AddressDenied) return refuse("WEB_DENIED", `${error.message}.`);
    if (error instanceof TooLarge) return tooLarge(limits);
    if (deadline.aborted) {
      const seconds = limits.timeoutMs / 1_000;
      return refuse(
        "WEB_UNAVAILABLE",
        `It did not arrive within ${seconds} s (tools.web.timeout_s).`,
      );
    }
    return refuse(
      "WEB_UNAVAILABLE",
      `The server could not be reached, or broke off${errorCode(error)}.`,
    );
  }
}

async function followRedirects(
  text: string,
  rules: UrlRules,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedBytes | Refusal> {
  let next = text;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
    const judged = judgeUrl(next, rules);
    if (judged.kind === "refused") return judged;
    const { url } = judged;
    const response = await sendRequest(
      {
        url,
        headers: {
          accept: "text/html, application/xhtml+xml, text/*, application/json, application/xml",
          "accept-encoding": "gzip, deflate, br",
          "user-agent": limits.userAgent,
        },
        isAllowed: addressRule(url, rules),
        ...(limits.lookup === undefined ? {} : { lookup: limits.lookup }),
      },
      signal,
    );
    try {
      const { statusCode = 0, headers } = response;
      if (!REDIRECTS.has(statusCode)) return await readAnswer(url, response, limits, signal);
      const target = parseUrl(headers.location ?? "", url.href);
      if (target === undefined) {
        return refuse("WEB_UNAVAILABLE", `The server answered ${statusCode} without a Location.`);
      }
      if (url.protocol === "https:" && target.protocol === "http:") {
        return refuse("WEB_DENIED", "It leads from https to http, which is not followed.");
      }
      next = target.href;
    } finally {
      response.destroy();
    }
  }
  return refuse("WEB_UNAVAILABLE", `It redirects more than ${MOST_REDIRECTS} times.`);
}

async function readAnswer(
  url: URL,
  response: IncomingMessage,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedBytes | Refusal> {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) {
    return refuse("WEB_UNAVAILABLE", `The server answered ${statusCode}.`);
  }
  const { mediaType, charset } = parseContentType(headers["content-type"] ?? "");
  if (!isText(mediaType)) {
    const found = mediaType === "" ? "of no type" : mediaType.slice(0, 100);
    return refuse("WEB_UNREADABLE", `It is ${found}; text, HTML, Markdown, JSON and XML are read.`);
  }
  const decoder = decoderOf(headers["content-encoding"] ?? "identity");
  if (decoder === undefined) return refuse("WEB_UNREADABLE", "It is packed in an unknown way.");
  if (Number(headers["content-length"] ?? 0) > limits.maxBytes) return tooLarge(limits);
  const bytes = await readAll(response, decoder, limits.maxBytes, signal);
  return { kind: "fetched", url, bytes, mediaType, charset };
}

class TooLarge extends Error {}

const tooLarge = ({ maxBytes }: FetchLimits): Refusal =>
  refuse("WEB_UNREADABLE", `It has more than ${maxBytes} bytes (tools.web.max_bytes).`);

/** Reads and decompresses a body. It counts received and decompressed bytes while they arrive. @throws TooLarge */
export async function readAll(
  response: IncomingMessage,
  decoder: Duplex,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await pipeline(
    response,
    limitBytes(maxBytes),
    decoder,
    limitBytes(maxBytes),
    async (source: AsyncIterable<Buffer>) => {
      for await (const chunk of source) chunks.push(chunk);
    },
    { signal },
  );
  return Buffer.concat(chunks);
}

const limitBytes = (maxBytes: number) =>
  async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new TooLarge();
      yield chunk;
    }
  };

function decoderOf(encoding: string): Duplex | undefined {
  switch (encoding.trim().toLowerCase()) {
    case "identity":
    case "":
      return new PassThrough();
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

const TEXT_TYPES =
  /^(?:text\/(?:html|plain|markdown|x-markdown|xml)|application\/(?:json|xml|xhtml\+xml)|application\/[a-z0-9.-]{1,80}\+(?:json|xml))$/;

const isText = (mediaType: string): boolean => TEXT_TYPES.test(mediaType);

export const isHtml = (mediaType: string): boolean =>
  mediaType === "text/html" || mediaType === "application/xhtml+xml";

function parseContentType(header: string): Pick<FetchedBytes, "mediaType" | "charset"> {
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim());
  const charset = parameters
    .map((parameter) => /^charset="?([A-Za-z0-9_:.-]{1,40})"?$/i.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return { mediaType: type.toLowerCase(), charset: charset ?? null };
}

/** The code of an error, to append to a sentence. Never its message, which may hold the URL. */
export function errorCode(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
  return typeof code === "string" ? ` (${code})` : "";
}
