import { isRecord, parseJson } from "../../shared/json-value.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import { endOfJson, findUnstorable } from "../text/model-json.ts";
import type { ToolRegistry } from "./registry.ts";

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

/** What makes JSON a call: a tag of a model family, for any name; else that it names one of these tools, so that other JSON stays an answer. */
type Announcement = "tag" | Pick<ToolRegistry, "find">;

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
type ParsedEnvelope = {
  readonly call: Envelope | MalformedCall;
  readonly further: readonly string[];
};

/**
 * The tool that a name stands for, without what some families and hosts leave of their own protocol: the module before it
 * ("functions."), a mark, a count or a method behind it.
 */
export const toolName = (name: string): string =>
  name
    .replace(/(?<=.)<[|｜].*$/s, "")
    .replace(/^(?:functions|default_api|tools)\.(?=.)/, "")
    .replace(/(?<=.)(?:\.call|:\d{1,6})$/, "");

/**
 * The call that a parsed JSON value is, or null where it is something else: our own form, that of a model family, with
 * `name` or `tool_name` and `arguments` or `parameters`, or `tool` and `args`. Of a list in a form of a family the first is
 * taken. Pure.
 */
export function parseEnvelope(value: unknown, announcedBy: Announcement): ParsedEnvelope | null {
  if (Array.isArray(value)) return parseList(value, announcedBy);
  const call = parseObject(value, announcedBy);
  return call === null ? null : { call, further: [] };
}

function parseObject(value: unknown, announcedBy: Announcement): Envelope | MalformedCall | null {
  if (!isRecord(value)) return null;
  if (isOurs(value)) return parseCall(value["name"], value["args"]);
  const native = isRecord(value["function"]) ? value["function"] : value;
  const written = native["name"] ?? native["tool_name"] ?? native["tool"];
  const keys = written === native["tool"] ? ["args"] : ["arguments", "parameters"];
  const given = keys.filter((key) => Object.hasOwn(native, key));
  if (typeof written !== "string" || given.length === 0) return null;
  const name = toolName(written);
  if (announcedBy !== "tag" && announcedBy.find(name) === undefined) return null;
  return given.length > 1
    ? malformed(name, `it has ${given.join(" and ")}`)
    : parseCall(name, unpacked(native[given[0] ?? ""]));
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
export function parseCall(name: unknown, args: unknown): Envelope | MalformedCall {
  if (typeof name !== "string" || name.trim() === "") {
    return malformed(null, "its name is not a text, or a blank one");
  }
  if (!isRecord(args)) return malformed(name, "its arguments are not an object");
  const fault = findUnstorable({ name, args });
  return fault === null ? { kind: "call", name, args } : malformed(name, fault);
}

/** A list is how many families write calls, and no form of ours. */
function parseList(list: readonly unknown[], announcedBy: Announcement): ParsedEnvelope | null {
  const read = list.map((item) => parseObject(item, announcedBy));
  const [first] = read;
  if (read.every((call) => call === null)) return null;
  const isOnlyCalls = first !== null && first !== undefined && !read.includes(null);
  if (!isOnlyCalls || (announcedBy !== "tag" && list.some(isOurs))) {
    return {
      call: malformed(null, "it stands in a list; exactly one JSON object is taken"),
      further: [],
    };
  }
  return { call: first, further: read.slice(1).map((call) => call?.name ?? "unknown") };
}
