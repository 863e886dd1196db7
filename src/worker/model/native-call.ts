import { isNestedWithin } from "../../shared/json-value.ts";
import { ToolCallUnreadable } from "./model.ts";
import type { NativeCall } from "./model.ts";

/** Deeper than any arguments need, and far from what breaks whoever walks through them. */
const MAX_LEVELS = 64;

/** A call by the host's own protocol. Throws ToolCallUnreadable for one without a name, or nested too deep. */
export function nativeCall(model: string, name: unknown, args: unknown): NativeCall {
  if (typeof name === "string" && name !== "" && isNestedWithin(args, MAX_LEVELS))
    return { name, args };
  throw new ToolCallUnreadable(model, null);
}
