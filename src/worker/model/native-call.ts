import { ToolCallUnreadable } from "./model.ts";
import type { NativeCall } from "./model.ts";

/** Deeper than any arguments need, and far from what breaks whoever walks through them. */
const MAX_DEPTH = 64;

/** A call by the host's own protocol. Throws ToolCallUnreadable for one without a name, or without an end in sight. */
export function nativeCall(model: string, name: unknown, args: unknown): NativeCall {
  if (typeof name === "string" && name !== "" && isWithin(args, MAX_DEPTH)) return { name, args };
  throw new ToolCallUnreadable(model, null);
}

const isWithin = (value: unknown, depth: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (depth > 0 && Object.values(value).every((part) => isWithin(part, depth - 1)));
