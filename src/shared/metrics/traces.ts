import { createRequire } from "node:module";
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Context, Link, Span } from "@opentelemetry/api";
import { Failure } from "../failure.ts";

type Api = typeof OpenTelemetry;

/** The global under which OpenTelemetry's API stores a registered SDK, in any 1.x version. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const require = createRequire(import.meta.url);

/** The API if an SDK was loaded into this process; else null, and the API is not loaded either. */
export const tracingApi = (): Api | null =>
  REGISTERED in globalThis ? (require("@opentelemetry/api") as Api) : null;

/** Attributes of a span: names, ids, counts and codes, never text of a document, a model or a person. */
export type SpanFacts = Readonly<
  Record<string, string | number | boolean | readonly string[] | null>
>;

type SpanOptions = {
  readonly kind?: "internal" | "client" | "producer" | "consumer";
  readonly facts?: SpanFacts;
  /** The `traceparent` of the parent span; by default the span that is active here. */
  readonly parent?: string | null;
  /** The `traceparent`s of spans that caused it but are not its parents; the span then begins a trace of its own. */
  readonly links?: readonly string[];
};

/** An open span, for facts that become known later. */
export type OpenSpan = {
  set(facts: SpanFacts): void;
  /** Marks the span as failed. @param code stable, such as an error code; never a message */
  fail(code: string): void;
};

const NO_SPAN: OpenSpan = { set: () => undefined, fail: () => undefined };

const INSTRUMENTATION = "nightdesk";

/**
 * Runs a body within a span, which is the parent of spans opened by the body. Without an SDK it only runs the body. A thrown
 * error marks the span as failed, with its code or name.
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

/** No message: it may contain a path, a prompt or worse. */
const codeOf = (error: unknown): string =>
  error instanceof Failure ? error.code : error instanceof Error ? error.name : typeof error;

/** `00-<trace>-<span>-<flags>` of W3C's Trace Context, as rows store it; null without an active trace. */
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

/** Runs a tool call in a span with OpenTelemetry's names. @param failure the error code of a result; null for success */
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
