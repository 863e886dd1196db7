import { createRequire } from "node:module";
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Context, Link, Span } from "@opentelemetry/api";
import { Failure } from "../failure.ts";

type Api = typeof OpenTelemetry;

/** Where the API of OpenTelemetry keeps what an SDK registers, of any 1.x version. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const require = createRequire(import.meta.url);

/** The API, where somebody has loaded an SDK into this process; null otherwise: then it is not loaded either. */
export const tracingApi = (): Api | null =>
  REGISTERED in globalThis ? (require("@opentelemetry/api") as Api) : null;

/** What a span says: names, ids, counts and codes. Never words of a document, a model or a person. */
export type SpanFacts = Readonly<
  Record<string, string | number | boolean | readonly string[] | null>
>;

type SpanOptions = {
  readonly kind?: "internal" | "client" | "producer" | "consumer";
  readonly facts?: SpanFacts;
  /** A `traceparent` of somebody else's span: what this one belongs to. Without it: the span that is open here. */
  readonly parent?: string | null;
  /** `traceparent`s of spans that it comes from, and does not belong to; the trace is then one of its own. */
  readonly links?: readonly string[];
};

/** Of a span that is open: what is known later. */
export type OpenSpan = {
  set(facts: SpanFacts): void;
  /** Says that it failed. @param code stable, such as an error code; never a message */
  fail(code: string): void;
};

const NO_SPAN: OpenSpan = { set: () => undefined, fail: () => undefined };

const INSTRUMENTATION = "nightdesk";

/**
 * Does something within a span, which is the parent of those that are opened meanwhile. Without an SDK it is done and
 * nothing else. What is thrown fails the span, by its code or its name.
 */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  body: (span: OpenSpan) => T | Promise<T>,
): Promise<T> {
  const api = tracingApi();
  if (api === null) return body(NO_SPAN);
  const { kind = "internal", facts = {}, parent, links = [] } = options;
  const around = contextOf(api, parent ?? null);
  const span = api.trace.getTracer(INSTRUMENTATION).startSpan(
    name,
    {
      kind: api.SpanKind[KINDS[kind]],
      attributes: attributesOf(facts),
      links: links.flatMap((link) => linkTo(api, link)),
      root: links.length > 0 && parent == null,
    },
    around,
  );
  try {
    return await api.context.with(api.trace.setSpan(around, span), () => body(handleOf(api, span)));
  } catch (error) {
    span.setStatus({ code: api.SpanStatusCode.ERROR, message: codeOf(error) });
    throw error;
  } finally {
    span.end();
  }
}

const KINDS = {
  internal: "INTERNAL",
  client: "CLIENT",
  producer: "PRODUCER",
  consumer: "CONSUMER",
} as const;

const handleOf = (api: Api, span: Span): OpenSpan => ({
  set(facts) {
    span.setAttributes(attributesOf(facts));
  },
  fail(code) {
    span.setStatus({ code: api.SpanStatusCode.ERROR, message: code });
    span.setAttribute("error.type", code);
  },
});

const attributesOf = (facts: SpanFacts) =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([key, value]) =>
      value === null ? [] : [[key, typeof value === "object" ? [...value] : value] as const],
    ),
  );

/** Messages may hold a path, a prompt or worse. */
const codeOf = (error: unknown): string =>
  error instanceof Failure ? error.code : error instanceof Error ? error.name : typeof error;

/** `00-<trace>-<span>-<flags>` of W3C's Trace Context, as rows carry it; null while nobody traces. */
export function currentTraceparent(): string | null {
  const api = tracingApi();
  const span = api?.trace.getSpanContext(api.context.active());
  if (api === null || span === undefined || !api.isSpanContextValid(span)) return null;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, "0")}`;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function spanContextOf(traceparent: string) {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

function contextOf(api: Api, parent: string | null): Context {
  const active = api.context.active();
  const remote = parent === null ? null : spanContextOf(parent);
  return remote === null ? active : api.trace.setSpanContext(active, remote);
}

function linkTo(api: Api, traceparent: string): readonly Link[] {
  const context = spanContextOf(traceparent);
  return context !== null && api.isSpanContextValid(context) ? [{ context }] : [];
}

/** A call of a tool, by the names that OpenTelemetry has for one. @param failure code of what it gave; null where it was carried out */
export const inToolSpan = <T>(
  tool: string,
  failure: (given: T) => string | null,
  call: () => Promise<T>,
): Promise<T> =>
  inSpan(
    `execute_tool ${tool}`,
    { facts: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool } },
    async (span) => {
      const given = await call();
      const code = failure(given);
      if (code !== null) span.fail(code);
      return given;
    },
  );
