import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { z } from "zod";
import { parseJson } from "../../shared/schema/json-value.ts";
import type { WebSearchProvider } from "../../shared/config/providers.ts";
import { sendRequest } from "../outbound-request.ts";
import { cleanText, firstCodePoints } from "../text/clean-text.ts";
import { errorCode, readAll } from "./fetch-page.ts";
import type { FetchLimits } from "./fetch-page.ts";
import { MOST_URL_CHARS, urlKey } from "./url-rules.ts";

/** A search result. The page itself has not been read. */
export type FoundPage = { readonly title: string; readonly url: string; readonly snippet: string };

type SearchCall = {
  readonly baseUrl: string;
  readonly key: string | null;
  readonly query: string;
  readonly limit: number;
};
type ProviderRequest = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

type Provider = {
  /** Without a slash at the end; null if every user runs their own server. */
  readonly baseUrl: string | null;
  readonly needsKey: boolean;
  request(call: SearchCall): ProviderRequest;
  readonly results: z.ZodType<readonly FoundPage[]>;
};

const text = z
  .string()
  .nullish()
  .transform((found) => found ?? "");

const pagesWithContent = z
  .object({ results: z.array(z.object({ title: text, url: z.string(), content: text })) })
  .transform(({ results }) => results.map(({ content, ...one }) => ({ ...one, snippet: content })));

/** Replies are parsed loosely: only the fields that are used must be present. */
export const PROVIDERS: Readonly<Record<WebSearchProvider, Provider>> = {
  searxng: {
    baseUrl: null,
    needsKey: false,
    request: ({ baseUrl, query }) => ({
      url: withQuery(`${baseUrl}/search`, { q: query, format: "json" }),
      headers: {},
    }),
    results: pagesWithContent,
  },
  brave: {
    baseUrl: "https://api.search.brave.com",
    needsKey: true,
    request: ({ baseUrl, key, query, limit }) => ({
      url: withQuery(`${baseUrl}/res/v1/web/search`, { q: query, count: String(limit) }),
      headers: { "x-subscription-token": key ?? "" },
    }),
    results: z
      .object({
        web: z
          .object({
            results: z.array(z.object({ title: text, url: z.string(), description: text })),
          })
          .nullish(),
      })
      .transform(({ web }) =>
        (web?.results ?? []).map(({ description, ...one }) => ({ ...one, snippet: description })),
      ),
  },
  ollama: {
    baseUrl: "https://ollama.com",
    needsKey: true,
    request: ({ baseUrl, key, query, limit }) => ({
      url: new URL(`${baseUrl}/api/web_search`),
      headers: { authorization: `Bearer ${key ?? ""}`, "content-type": "application/json" },
      body: JSON.stringify({ query, max_results: limit }),
    }),
    results: pagesWithContent,
  },
};

function withQuery(base: string, query: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  url.search = new URLSearchParams(query).toString();
  return url;
}

type PreparedSearch = {
  /** The base URL, by which the rate is limited. */
  readonly host: string;
  send(signal: AbortSignal): Promise<ProviderAnswer>;
};

/** failed: no reply, or one in an unknown format. busy: the provider limits the rate. Messages never hold the key. */
export type ProviderAnswer =
  | { readonly kind: "answered"; readonly pages: readonly FoundPage[] }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "busy"; readonly message: string; readonly retryAfterS: number | null };

const MOST_REPLY_BYTES = 5_000_000;
const MOST_TITLE_CHARS = 200;
const MOST_SNIPPET_CHARS = 400;

/**
 * Prepares one search. The operator chose the provider, so it may be in a private network. A redirect is not followed,
 * because it would take the key along.
 */
export function prepareSearch(
  {
    provider,
    ...call
  }: Omit<SearchCall, "baseUrl"> & {
    readonly provider: WebSearchProvider;
    readonly baseUrl: string | null;
  },
  limits: Pick<FetchLimits, "userAgent" | "timeoutMs" | "lookup">,
): PreparedSearch {
  const known = PROVIDERS[provider];
  const host = (call.baseUrl ?? known.baseUrl ?? "").trim().replace(/\/$/, "");
  return {
    host,
    async send(signal) {
      const deadline = AbortSignal.timeout(limits.timeoutMs);
      const until = AbortSignal.any([signal, deadline]);
      try {
        const { url, headers, body } = known.request({ ...call, baseUrl: host });
        const response = await sendRequest(
          {
            url,
            headers: { accept: "application/json", "user-agent": limits.userAgent, ...headers },
            ...(body === undefined ? {} : { body }),
            isAllowed: () => true,
            ...(limits.lookup === undefined ? {} : { lookup: limits.lookup }),
          },
          until,
        );
        try {
          return await readAnswer(provider, response, until);
        } finally {
          response.destroy();
        }
      } catch (error) {
        signal.throwIfAborted();
        const why = deadline.aborted
          ? `did not answer within ${limits.timeoutMs / 1_000} s`
          : `could not be reached, or broke off${errorCode(error)}`;
        return { kind: "failed", message: `${host} ${why}.` };
      }
    },
  };
}

async function readAnswer(
  provider: WebSearchProvider,
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  const { statusCode = 0, headers } = response;
  if (statusCode === 429 || statusCode === 503) {
    const message = `${provider} answered ${statusCode}: it is busy, or its limit is reached.`;
    return { kind: "busy", message, retryAfterS: retryAfter(headers["retry-after"]) };
  }
  if (statusCode !== 200) {
    const hint = HINTS[statusCode]?.[provider] ?? "";
    return { kind: "failed", message: `${provider} answered ${statusCode}.${hint}` };
  }
  const bytes = await readAll(response, new PassThrough(), MOST_REPLY_BYTES, signal);
  const results = PROVIDERS[provider].results.safeParse(parseJson(bytes.toString("utf8")));
  if (!results.success) {
    return { kind: "failed", message: `${provider} gave something else than search results.` };
  }
  return { kind: "answered", pages: results.data.flatMap(cleanPage) };
}

const KEY_HINT = " Look at the key: tools.web.search.key_file or key_env.";
const HINTS: Readonly<Record<number, Partial<Record<WebSearchProvider, string>>>> = {
  401: { brave: KEY_HINT, ollama: KEY_HINT },
  403: {
    brave: KEY_HINT,
    ollama: KEY_HINT,
    searxng: ' Its settings need "json" under search.formats.',
  },
  422: { brave: KEY_HINT },
};

/** Puts title and snippet on one line each; drops a page that can't be fetched. */
function cleanPage({ title, url, snippet }: FoundPage): readonly FoundPage[] {
  const key = urlKey(url);
  if (key === undefined || key.length > MOST_URL_CHARS || !/^https?:/.test(key)) return [];
  return [
    {
      url: key,
      title: oneLine(title, MOST_TITLE_CHARS),
      snippet: oneLine(snippet, MOST_SNIPPET_CHARS),
    },
  ];
}

/** Brave marks words in bold. */
const oneLine = (words: string, chars: number): string =>
  firstCodePoints(
    cleanText(words.slice(0, 10 * chars))
      .replaceAll(/<\/?strong>/g, "")
      .replaceAll(/\s+/g, " ")
      .trim(),
    chars,
  );

/** The header holds seconds or a date; null if it holds neither. */
function retryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1_000);
}
