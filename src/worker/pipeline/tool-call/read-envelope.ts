import { isRecord, parseJson } from "../../../shared/json-value.ts";
import { firstCodePoints } from "../text/code-points.ts";
import { endOfJson } from "./end-of-json.ts";
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

/** Each tool with its parameters in order. What nothing announces is taken for a call of these alone, so that other JSON stays an answer. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = { read_text_file: ["path"] };

export const TOOL_NAMES: readonly string[] = Object.keys(PARAMETERS);
export const isKnownTool = (name: string): boolean => Object.hasOwn(PARAMETERS, name);
/** The parameters of a tool in order; none of one that is not known. */
export const parametersOf = (name: string): readonly string[] =>
  isKnownTool(name) ? (PARAMETERS[name] ?? []) : [];

const MAX_NAME_CHARS = 200;

export const malformed = (name: unknown, reason: string): MalformedCall => ({
  kind: "malformed",
  name:
    typeof name === "string" && findUnstorable(name) === null
      ? firstCodePoints(name, MAX_NAME_CHARS)
      : null,
  reason,
});

/** A call, with the names of those that stand beside it in a list. */
export type ReadEnvelope = {
  readonly call: Envelope | MalformedCall;
  readonly further: readonly string[];
};

/**
 * The call that a parsed JSON value is, or null where it is something else: our own form, or the native spelling of a
 * model family, with `name` or `tool_name` and `arguments` or `parameters`. Of a list in a native spelling the first is
 * taken. Pure.
 */
export function readEnvelope(value: unknown, announcedBy: "tag" | "nothing"): ReadEnvelope | null {
  if (Array.isArray(value)) return readList(value, announcedBy);
  const call = readObject(value, announcedBy);
  return call === null ? null : { call, further: [] };
}

function readObject(
  value: unknown,
  announcedBy: "tag" | "nothing",
): Envelope | MalformedCall | null {
  if (!isRecord(value)) return null;
  if (isOurs(value)) return readCall(value["name"], value["args"]);
  const native = isRecord(value["function"]) ? value["function"] : value;
  const name = native["name"] ?? native["tool_name"];
  const given = ["arguments", "parameters"].filter((key) => Object.hasOwn(native, key));
  if (typeof name !== "string" || given.length === 0) return null;
  if (!isKnownTool(name) && announcedBy === "nothing") return null;
  return given.length > 1
    ? malformed(name, "it has arguments and parameters")
    : readCall(name, unpacked(native[given[0] ?? ""]));
}

const isOurs = (value: unknown): boolean => isRecord(value) && value["type"] === "tool_call";

/** Arguments that are JSON text, as Hermes and OpenAI write them, under the bounds of any other. */
export function unpacked(args: unknown): unknown {
  if (typeof args !== "string") return args;
  const json = args.trim();
  const span = endOfJson(json);
  return span.kind === "open" || span.end !== json.length ? args : parseJson(json);
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

/** A list is how many families write calls, and no form of ours. */
function readList(list: readonly unknown[], announcedBy: "tag" | "nothing"): ReadEnvelope | null {
  const read = list.map((item) => readObject(item, announcedBy));
  const [first] = read;
  if (read.every((call) => call === null)) return null;
  const isOnlyCalls = first !== null && first !== undefined && !read.includes(null);
  if (!isOnlyCalls || (announcedBy === "nothing" && list.some(isOurs))) {
    return {
      call: malformed(null, "it stands in a list; exactly one JSON object is taken"),
      further: [],
    };
  }
  return { call: first, further: read.slice(1).map((call) => call?.name ?? "unknown") };
}
