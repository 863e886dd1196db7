import { isRecord, parseJson } from "../../shared/json-value.ts";
import { ToolCallUnreadable } from "./model.ts";
import type { NativeCall } from "./model.ts";
import { nativeCall } from "./native-call.ts";
import { textAt, wireAt } from "./wire-json.ts";
import type { Wire } from "./wire-json.ts";

type Started = { name: string; readonly pieces: string[]; object: Wire | null };

/** Puts the calls of a stream together, whose names and arguments come in pieces. */
export function collectToolCalls(model: string): {
  add(delta: Wire): void;
  calls(): readonly NativeCall[];
} {
  const started = new Map<unknown, Started>();
  let last: unknown = 0;
  return {
    add(delta) {
      // Some hosts number no call: a new id begins a new one.
      last = delta["index"] ?? textAt(delta, "id") ?? last;
      const call = started.get(last) ?? { name: "", pieces: [], object: null };
      started.set(last, call);
      extend(call, wireAt(delta, "function"));
    },
    calls: () => [...started.values()].map((call) => finish(call, model)),
  };
}

function extend(call: Started, called: Wire | null): void {
  call.name ||= textAt(called, "name") ?? "";
  const args = called?.["arguments"];
  if (typeof args === "string") call.pieces.push(args);
  if (isRecord(args)) call.object = args;
}

/** Arguments are JSON in a string; none at all means no arguments, and some hosts pack them twice. */
function finish({ name, pieces, object }: Started, model: string): NativeCall {
  if (object !== null) return nativeCall(model, name, object);
  const text = pieces.join("");
  if (text.trim() === "") return nativeCall(model, name, {});
  const once = parseJson(text);
  const args = typeof once === "string" ? parseJson(once) : once;
  if (args === undefined) throw new ToolCallUnreadable(model, null);
  return nativeCall(model, name, args);
}
