import type { Telemetry } from "bullmq";
import type { Context } from "@opentelemetry/api";
import { tracingApi } from "../metrics/traces.ts";

/**
 * Records BullMQ's own spans (`add`, `process` and so on) when an SDK is loaded; undefined otherwise. Of an exception only the
 * name is recorded: its message may quote a document.
 */
export function queueTelemetry(): Telemetry<Context> | undefined {
  const api = tracingApi();
  if (api === null) return undefined;
  const { context, propagation, trace, SpanKind } = api;
  // In the order of BullMQ's enum.
  const kinds = [
    SpanKind.INTERNAL,
    SpanKind.SERVER,
    SpanKind.CLIENT,
    SpanKind.PRODUCER,
    SpanKind.CONSUMER,
  ];
  const tracer = trace.getTracer("bullmq");
  return {
    tracer: {
      startSpan(name, options, parent) {
        const span = tracer.startSpan(
          name,
          { kind: kinds[options?.kind ?? 0] ?? SpanKind.INTERNAL },
          parent,
        );
        return {
          setSpanOnContext: (on: Context) => trace.setSpan(on, span),
          setAttribute(key, value) {
            span.setAttribute(key, value);
          },
          setAttributes(attributes) {
            span.setAttributes(attributes);
          },
          addEvent(event) {
            span.addEvent(event);
          },
          recordException(exception) {
            const name = typeof exception === "string" ? "Error" : (exception.name ?? "Error");
            span.recordException({ name });
          },
          end() {
            span.end();
          },
        };
      },
    },
    contextManager: {
      with(on: Context, fn) {
        const result: unknown = context.with(on, fn);
        return result as ReturnType<typeof fn>;
      },
      active: () => context.active(),
      root: () => api.ROOT_CONTEXT,
      getMetadata(of: Context) {
        const carrier = {};
        propagation.inject(of, carrier);
        return JSON.stringify(carrier);
      },
      fromMetadata: (active: Context, metadata) =>
        propagation.extract(active, JSON.parse(metadata) as object),
    },
  };
}
