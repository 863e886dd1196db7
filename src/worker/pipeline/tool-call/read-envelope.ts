import { isRecord } from "../../../shared/json-value.ts";
import { firstCodePoints } from "../text/code-points.ts";
import { findUnstorable } from "./find-unstorable.ts";

/** Name and arguments of a call. Arguments are plain JSON data that Postgres can store as it is. */
export type Envelope = {
  readonly kind: "call";
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
};

/** Meant as a call, and none that may be carried out. `reason` is a clause about it, without words of the model. */
export type MalformedCall = {
  readonly kind: "malformed";
  /** The tool that it names, at most 200 characters; null where none can be told. */
  readonly name: string | null;
  readonly reason: string;
};

/** The only tool. Native spellings are taken for it alone, so that other JSON stays an answer. */
const TOOL = "read_text_file";
const MAX_NAME_CHARS = 200;

export const malformed = (name: unknown, reason: string): MalformedCall => ({
  kind: "malformed",
  name:
    typeof name === "string" && findUnstorable(name) === null
      ? firstCodePoints(name, MAX_NAME_CHARS)
      : null,
  reason,
});

/** The call that a parsed JSON value is, or null where it is something else. Pure. */
export function readEnvelope(
  value: unknown,
  announcedBy: "tag" | "nothing",
): Envelope | MalformedCall | null {
  if (Array.isArray(value)) return readList(value, announcedBy);
  if (!isRecord(value)) return null;
  if (value["type"] === "tool_call") return readCall(value["name"], value["args"]);
  const native = isRecord(value["function"]) ? value["function"] : value;
  const { name } = native;
  const given = ["arguments", "parameters"].filter((key) => Object.hasOwn(native, key));
  if (typeof name !== "string" || given.length === 0) return null;
  if (name !== TOOL && announcedBy === "nothing") return null;
  return given.length > 1
    ? malformed(name, "it has arguments and parameters")
    : readCall(name, native[given[0] ?? ""]);
}

/** A call from its parts, held against the rules for both. */
export function readCall(name: unknown, args: unknown): Envelope | MalformedCall {
  if (typeof name !== "string" || name.trim() === "") {
    return malformed(null, "its name is not a text, or a blank one");
  }
  if (!isRecord(args)) return malformed(name, "its arguments are not an object");
  const fault = findUnstorable({ name, args });
  return fault === null ? { kind: "call", name, args } : malformed(name, fault);
}

/** A list is how some families write calls after their tag, and no form of ours. */
function readList(
  list: readonly unknown[],
  announcedBy: "tag" | "nothing",
): Envelope | MalformedCall | null {
  const calls = list.filter((item) => isRecord(item) && readEnvelope(item, announcedBy) !== null);
  if (calls.length === 0) return null;
  if (list.length > 1) return malformed(null, "it is one of several; exactly one is taken");
  return announcedBy === "tag"
    ? readEnvelope(list[0], announcedBy)
    : malformed(null, "it stands in a list; exactly one JSON object is taken");
}
