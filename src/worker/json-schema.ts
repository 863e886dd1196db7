import type { ValidateFunction } from "ajv/dist/2020.js";
import { compilePattern, parsePattern } from "../shared/schema/linear-pattern.ts";
import type { LinearPattern } from "../shared/schema/linear-pattern.ts";

/** A fault of a value: its place as a JSON pointer, and the expectation. Contains nothing of the value. */
export type SchemaFault = { readonly path: string; readonly message: string };

/** The faults of a value by the schema; empty if it is valid. */
type Validator = (value: unknown) => readonly SchemaFault[];

/** Compiles a JSON schema that `findSchemaProblem` accepts; equal schemas are compiled once. */
export type SchemaCompiler = (schema: Readonly<Record<string, unknown>>) => Promise<Validator>;

/** The most compiled schemas in memory. A batch has one or few. */
const MOST_KEPT = 64;
const MOST_FAULTS = 10;

/** Loads the validator with the first schema: a process that extracts nothing does not load it. */
export function schemaCompiler(): SchemaCompiler {
  const compiled = new Map<string, Promise<Validator>>();
  return (schema) => {
    const key = JSON.stringify(schema);
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const [oldest] = compiled.keys();
    if (compiled.size >= MOST_KEPT && oldest !== undefined) compiled.delete(oldest);
    const validator = compileSchema(schema);
    compiled.set(key, validator);
    return validator;
  };
}

async function compileSchema(schema: Readonly<Record<string, unknown>>): Promise<Validator> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    // The schema was checked when it was queued, and may name a draft that this class does not know.
    meta: false,
    validateSchema: false,
    logger: false,
    formats: FORMATS,
    code: { regExp: Object.assign(linearRegExp, { code: "" }) },
  });
  const draftless = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema"));
  const validate = ajv.compile(draftless);
  return (value) => faultsOf(validate, value);
}

/** Patterns of a user's schema run in an engine without backtracking; the formats below need no backtracking. */
function linearRegExp(pattern: string): LinearPattern {
  const read = parsePattern(pattern);
  if (read.kind === "fault") throw new Error(`the pattern ${read.reason}`);
  return compilePattern(read.source);
}

/** The formats that are checked; other formats are mere documentation. */
const FORMATS = {
  date: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/,
  time: /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:Z|[+-]\d\d:\d\d)?$/,
  "date-time": /^\d{4}-\d\d-\d\d[Tt ][\d:.]{5,18}(?:Z|z|[+-]\d\d:\d\d)?$/,
  email: /^[^\s@]{1,64}@[^\s@]{1,190}$/,
  uri: /^[a-zA-Z][a-zA-Z\d+.-]{0,30}:\S{1,2000}$/,
};

/** The first faults, each once. No text is built for further ones: a list of allowed values may be long. */
function faultsOf(validate: ValidateFunction, value: unknown): readonly SchemaFault[] {
  if (validate(value)) return [];
  const faults = new Map<string, SchemaFault>();
  for (const { instancePath, keyword, params, message } of validate.errors ?? []) {
    const path = instancePath === "" ? "/" : instancePath;
    // Details come from the schema, and nothing from the value, which holds words of the document.
    const allowed =
      keyword === "enum" ? `: ${JSON.stringify(params["allowedValues"]).slice(0, 500)}` : "";
    const fault = { path, message: `${message ?? keyword}${allowed}` };
    faults.set(JSON.stringify(fault), fault);
    if (faults.size === MOST_FAULTS) break;
  }
  return [...faults.values()];
}
