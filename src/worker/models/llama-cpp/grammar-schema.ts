import { isRecord } from "../../../shared/json-value.ts";

/** Words of a schema that say more than the library's grammars can hold a reply to, and change what its others mean. */
const BEYOND = ["allOf", "not", "if", "patternProperties", "dependentSchemas", "$dynamicRef"];
/** Words that it knows. All others only narrow what they leave, which whoever reads the reply checks. */
const SCALARS = ["type", "const", "enum", "minLength", "maxLength", "minItems", "maxItems", "$ref"];
const FORMATS = ["date-time", "time", "date"];
const MOST_LEVELS = 64;

/**
 * The nearest schema that node-llama-cpp makes a grammar of; "json" where only that is near. Its grammars ask for all properties that an object
 * names and for no other, and leave out what narrows a text or a number further: whoever reads the reply checks it.
 */
export function grammarSchemaOf(
  schema: Readonly<Record<string, unknown>>,
): "json" | Readonly<Record<string, unknown>> {
  const { $defs, definitions, ...rest } = schema;
  const defs = isRecord($defs) ? $defs : isRecord(definitions) ? definitions : undefined;
  const made = convert(rest, 0);
  if (made === null) return "json";
  if (defs === undefined) return made;
  const converted = Object.entries(defs).map(([name, part]) => [name, convert(part, 1)] as const);
  return converted.some(([, part]) => part === null)
    ? "json"
    : { ...made, $defs: Object.fromEntries(converted) };
}

type Converted = Readonly<Record<string, unknown>>;

/** Null where a part can't be expressed. */
function convert(schema: unknown, level: number): Converted | null {
  if (!isRecord(schema) || level > MOST_LEVELS || BEYOND.some((word) => word in schema))
    return null;
  const choices = schema["oneOf"] ?? schema["anyOf"];
  if (choices !== undefined) {
    const oneOf = convertAll(choices, level);
    return oneOf === null ? null : { oneOf };
  }
  if (typeof schema["$ref"] === "string") return reference(schema["$ref"]);
  const { type } = schema;
  // Several types at once it knows of scalars alone.
  if (Array.isArray(type) && type.some((one) => one === "object" || one === "array")) {
    const oneOf = convertAll(
      type.map((one: unknown) => ({ ...schema, type: one })),
      level,
    );
    return oneOf === null ? null : { oneOf };
  }
  const made: Record<string, unknown> = {};
  for (const word of SCALARS) if (word in schema) made[word] = schema[word];
  if (FORMATS.includes(String(schema["format"]))) made["format"] = schema["format"];
  if (isRecord(schema["properties"])) {
    const properties = Object.entries(schema["properties"]).map(
      ([name, part]) => [name, convert(part, level + 1)] as const,
    );
    if (properties.some(([, part]) => part === null)) return null;
    made["properties"] = Object.fromEntries(properties);
  } else if (schema["type"] === "object") {
    made["additionalProperties"] = true;
  }
  if (schema["items"] !== undefined) {
    const items = convert(schema["items"], level + 1);
    if (items === null) return null;
    made["items"] = items;
  }
  return isMeant(made) ? made : null;
}

function convertAll(choices: unknown, level: number): readonly Converted[] | null {
  if (!Array.isArray(choices)) return null;
  const converted = choices.map((choice) => convert(choice, level + 1));
  return converted.some((choice) => choice === null) ? null : (converted as Converted[]);
}

const reference = ($ref: string): Converted | null => {
  const [, name] = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec($ref) ?? [];
  return name === undefined ? null : { $ref: `#/$defs/${name}` };
};

/** What says nothing of a value would be taken for `null` by the library. */
const isMeant = (made: Converted): boolean =>
  ["type", "const", "enum"].some((word) => word in made);
