import { isNestedWithin, isRecord } from "../json-value.ts";
import { keywordFault } from "./keyword-fault.ts";
import { readPattern } from "./linear-pattern.ts";
import { SCHEMA_KEYWORDS } from "./schema-keywords.ts";
import { unfoldedProblem } from "./unfolded-size.ts";

export const MOST_SCHEMA_CHARS = 32_768;
const MOST_LEVELS = 24;
/** Of all that a schema holds, also where any value may stand: whoever walks through it recurses. */
const MOST_VALUE_LEVELS = 256;
/** Of all its patterns together: making them takes some 10 ms for a thousand steps. */
const MOST_PATTERN_STEPS = 5_000;

/**
 * What is wrong with the JSON schema of an extraction, with the place as a JSON pointer, or undefined where nothing is.
 *
 * A schema comes from a file that anybody may have written: it is one object with properties, at most 32,768 characters
 * and 24 levels, with references only into itself and none that leads back to where it came from, and with patterns for
 * an engine that never goes back. Keywords that nobody knows are refused, since one that is misspelt would do nothing; annotations
 * of one's own begin with `x-`. Loads no validator. Linear in the schema.
 */
export function schemaProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (!isNestedWithin(schema, MOST_VALUE_LEVELS)) {
    return `the schema is nested deeper than ${MOST_VALUE_LEVELS} levels`;
  }
  if (JSON.stringify(schema).length > MOST_SCHEMA_CHARS) {
    return `the schema is longer than ${MOST_SCHEMA_CHARS.toLocaleString("en-US")} characters`;
  }
  const problem = inSchema(schema, "", { steps: 0 });
  if (problem !== undefined) return problem;
  if (schema["type"] !== "object" || !isRecord(schema["properties"])) {
    return `${at("/type")} the schema must be one of an object: {"type":"object","properties":{…}}`;
  }
  return unfoldedProblem(schema);
}

const at = (place: string): string => `${place === "" ? "/" : place}:`;

/** What the patterns that were met so far cost together. */
type Patterns = { steps: number };

function inSchema(schema: unknown, place: string, patterns: Patterns): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isRecord(schema)) return `${at(place)} must be a schema, which is an object, true or false`;
  if (place.split("/").length > MOST_LEVELS) {
    return `${at(place)} is nested deeper than ${MOST_LEVELS} levels`;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword.startsWith("x-")) continue;
    const problem = inKeyword([keyword, value], `${place}/${pointer(keyword)}`, patterns);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function inKeyword(
  [keyword, value]: readonly [string, unknown],
  place: string,
  patterns: Patterns,
): string | undefined {
  const shape = Object.hasOwn(SCHEMA_KEYWORDS, keyword) ? SCHEMA_KEYWORDS[keyword] : undefined;
  if (shape === undefined) {
    return `${at(place)} is no keyword that is taken here; an annotation of one's own begins with x-`;
  }
  if (shape === "schema") return inSchema(value, place, patterns);
  if (shape === "schemas") return inSchemas(value, place, patterns);
  if (shape === "schemas by pattern") return inPatternSchemas(value, place, patterns);
  if (shape === "pattern") {
    return typeof value === "string"
      ? inPattern(value, place, patterns)
      : `${at(place)} must be a text`;
  }
  if (shape === "schema list") {
    if (!Array.isArray(value) || value.length === 0)
      return `${at(place)} must be a list of schemas`;
    return first(value.map((one, index) => () => inSchema(one, `${place}/${index}`, patterns)));
  }
  const fault = keywordFault(shape, value);
  return fault === undefined ? undefined : `${at(place)} ${fault}`;
}

function inSchemas(value: unknown, place: string, patterns: Patterns): string | undefined {
  if (!isRecord(value)) return `${at(place)} must be an object of schemas by name`;
  return first(
    Object.entries(value).map(
      ([name, one]) =>
        () =>
          inSchema(one, `${place}/${pointer(name)}`, patterns),
    ),
  );
}

const inPatternSchemas = (value: unknown, place: string, patterns: Patterns): string | undefined =>
  first([
    ...(isRecord(value) ? Object.keys(value) : []).map(
      (pattern) => () => inPattern(pattern, `${place}/${pointer(pattern)}`, patterns),
    ),
    () => inSchemas(value, place, patterns),
  ]);

function inPattern(pattern: string, place: string, patterns: Patterns): string | undefined {
  const read = readPattern(pattern);
  if (read.kind === "fault") return `${at(place)} ${read.reason}`;
  patterns.steps += read.steps;
  return patterns.steps <= MOST_PATTERN_STEPS
    ? undefined
    : `${at(place)} makes the patterns of the schema too large together (more than ${MOST_PATTERN_STEPS.toLocaleString("en-US")} steps). Use fewer, or smaller counts`;
}

const first = (looks: readonly (() => string | undefined)[]): string | undefined => {
  for (const look of looks) {
    const problem = look();
    if (problem !== undefined) return problem;
  }
  return undefined;
};

/** A name as a JSON pointer spells it. */
const pointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
