import { escapePointer, isNestedWithin, isRecord, unescapePointer } from "./json-value.ts";
import { parsePattern } from "./linear-pattern.ts";
import { keywordFault, SCHEMA_KEYWORDS } from "./schema-keywords.ts";

export const MOST_SCHEMA_CHARS = 32_768;
const MOST_LEVELS = 24;
/** Includes parts where any value is allowed: the functions that walk through a schema recurse. */
const MOST_VALUE_LEVELS = 256;
/** Total of all patterns of a schema; compiling takes about 10 ms for a thousand steps. */
const MOST_PATTERN_STEPS = 5_000;

/**
 * Checks the JSON schema of an extraction: returns its first fault, with the place as a JSON pointer, or undefined.
 *
 * Anybody may have written the schema, so its cost is bounded: an object schema with properties, at most 32,768 characters and 24
 * levels; references only into itself and without cycles; patterns for an engine that never backtracks. Unknown keywords are
 * refused, since a misspelt one would have no effect; own annotations begin with `x-`. Loads no validator. Linear in the schema.
 */
export function findSchemaProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (!isNestedWithin(schema, MOST_VALUE_LEVELS)) {
    return `the schema is nested deeper than ${MOST_VALUE_LEVELS} levels`;
  }
  if (JSON.stringify(schema).length > MOST_SCHEMA_CHARS) {
    return `the schema is longer than ${MOST_SCHEMA_CHARS.toLocaleString("en-US")} characters`;
  }
  const problem = checkNode(schema, "", { steps: 0 });
  if (problem !== undefined) return problem;
  if (schema["type"] !== "object" || !isRecord(schema["properties"])) {
    return `${at("/type")} the schema must be one of an object: {"type":"object","properties":{…}}`;
  }
  return findReferenceProblem(schema);
}

const at = (place: string): string => `${place === "" ? "/" : place}:`;

/** The cost of all patterns so far. */
type Patterns = { steps: number };

function checkNode(schema: unknown, place: string, patterns: Patterns): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isRecord(schema)) return `${at(place)} must be a schema, which is an object, true or false`;
  if (place.split("/").length > MOST_LEVELS) {
    return `${at(place)} is nested deeper than ${MOST_LEVELS} levels`;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword.startsWith("x-")) continue;
    const problem = checkKeyword([keyword, value], `${place}/${escapePointer(keyword)}`, patterns);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkKeyword(
  [keyword, value]: readonly [string, unknown],
  place: string,
  patterns: Patterns,
): string | undefined {
  const shape = Object.hasOwn(SCHEMA_KEYWORDS, keyword) ? SCHEMA_KEYWORDS[keyword] : undefined;
  if (shape === undefined) {
    return `${at(place)} is not a supported keyword; own annotations begin with x-`;
  }
  if (shape === "schema") return checkNode(value, place, patterns);
  if (shape === "schemas") return checkSchemas(value, place, patterns);
  if (shape === "schemas by pattern") return checkPatternSchemas(value, place, patterns);
  if (shape === "pattern") {
    return typeof value === "string"
      ? checkPattern(value, place, patterns)
      : `${at(place)} must be a text`;
  }
  if (shape === "schema list") {
    if (!Array.isArray(value) || value.length === 0)
      return `${at(place)} must be a list of schemas`;
    return firstProblem(
      value.map((one, index) => () => checkNode(one, `${place}/${index}`, patterns)),
    );
  }
  const fault = keywordFault(shape, value);
  return fault === undefined ? undefined : `${at(place)} ${fault}`;
}

function checkSchemas(value: unknown, place: string, patterns: Patterns): string | undefined {
  if (!isRecord(value)) return `${at(place)} must be an object of schemas by name`;
  return firstProblem(
    Object.entries(value).map(
      ([name, one]) =>
        () =>
          checkNode(one, `${place}/${escapePointer(name)}`, patterns),
    ),
  );
}

const checkPatternSchemas = (
  value: unknown,
  place: string,
  patterns: Patterns,
): string | undefined =>
  firstProblem([
    ...(isRecord(value) ? Object.keys(value) : []).map(
      (pattern) => () => checkPattern(pattern, `${place}/${escapePointer(pattern)}`, patterns),
    ),
    () => checkSchemas(value, place, patterns),
  ]);

function checkPattern(pattern: string, place: string, patterns: Patterns): string | undefined {
  const read = parsePattern(pattern);
  if (read.kind === "fault") return `${at(place)} ${read.reason}`;
  patterns.steps += read.steps;
  return patterns.steps <= MOST_PATTERN_STEPS
    ? undefined
    : `${at(place)} makes the patterns of the schema too large together (more than ${MOST_PATTERN_STEPS.toLocaleString("en-US")} steps). Use fewer, or smaller counts`;
}

const firstProblem = (checks: readonly (() => string | undefined)[]): string | undefined => {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
};

/** No real extraction needs a schema of more nodes, with every reference expanded. */
const MOST_UNFOLDED = 10_000;

/**
 * The fault of a schema's references, or undefined: a reference without a target, a cycle, or so many nested references that
 * expanding them would take forever. Linear, since each place is counted once.
 */
function findReferenceProblem(root: Readonly<Record<string, unknown>>): string | undefined {
  const sizes = new Map<unknown, number | "open">();
  try {
    return sizeOf(root, { root, sizes }) > MOST_UNFOLDED
      ? `the schema has more than ${MOST_UNFOLDED.toLocaleString("en-US")} parts when its references are written out`
      : undefined;
  } catch (error) {
    if (error instanceof BadReference) return error.message;
    throw error;
  }
}

class BadReference extends Error {}

type Unfolding = {
  readonly root: Readonly<Record<string, unknown>>;
  readonly sizes: Map<unknown, number | "open">;
};

function sizeOf(value: unknown, unfolding: Unfolding): number {
  if (typeof value !== "object" || value === null) return 0;
  const known = unfolding.sizes.get(value);
  if (known === "open") throw new BadReference("a $ref leads back to a schema that it stands in");
  if (known !== undefined) return known;
  unfolding.sizes.set(value, "open");
  let size = 1;
  for (const [key, member] of Object.entries(value)) {
    size +=
      key === "$ref"
        ? sizeOf(targetOf(member, unfolding.root), unfolding)
        : sizeOf(member, unfolding);
  }
  unfolding.sizes.set(value, size);
  return size;
}

function targetOf(reference: unknown, root: Unfolding["root"]): unknown {
  // A property may have the name $ref; its schema is then not a string.
  if (typeof reference !== "string") return reference;
  let target: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const name = nameIn(step);
    target =
      name !== null && (isRecord(target) || Array.isArray(target)) && Object.hasOwn(target, name)
        ? (target as Readonly<Record<string, unknown>>)[name]
        : undefined;
  }
  if (isRecord(target)) return target;
  throw new BadReference(`the $ref ${JSON.stringify(reference.slice(0, 100))} leads to no schema`);
}

/** Decodes one step of a reference; null when its percent-encoding is invalid. */
function nameIn(step: string): string | null {
  try {
    return unescapePointer(decodeURIComponent(step));
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
