import { z } from "zod";
import { editDistance } from "../text/close-names.ts";
import { expectationOf } from "./issue-words.ts";
import { dottedKey, placeOf, plainValue, treeAt } from "./config-tree.ts";
import type { ConfigTree, KeyPath, Mapping } from "./config-tree.ts";
import { configFailure, quote } from "./problem.ts";
import type { Problem } from "./problem.ts";
import { replacementOf } from "./removed-keys.ts";
import { configSchema } from "./schema.ts";
import type { ConfigValues } from "./schema.ts";
import { parseUrl } from "../http/parse-url.ts";

/** The values of a tree, validated by the schema. @throws Failure CONFIG_ERROR with all problems */
export function validateValues(tree: Mapping): ConfigValues {
  // Compiling the schema does not pay off for one parse.
  const result = configSchema.safeParse(plainValue(tree), {
    jitless: true,
    error: expectationOf,
  });
  if (result.success) return result.data;
  throw configFailure(result.error.issues.flatMap((issue) => problemsOf(tree, issue)));
}

function problemsOf(tree: Mapping, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => formatUnknown(tree, path, key));
  }
  const key = dottedKey(path);
  const found = formatFound(tree, path);
  const instead = replacementOf(`${key}: ${wordOf(tree, path)}`);
  const text =
    instead === undefined
      ? `${key} ${found}; expected ${issue.message}`
      : `${key} ${found}, which was removed; use ${instead}`;
  return [{ place: placeOf(tree, path), text }];
}

function wordOf(tree: Mapping, path: KeyPath): string {
  const part = treeAt(tree, path);
  return part?.kind === "scalar" ? String(part.value) : "";
}

function formatUnknown(tree: Mapping, path: KeyPath, key: string): Problem {
  const dotted = [...path, key].join(".");
  const place = placeOf(tree, [...path, key]);
  const instead = replacementOf(dotted);
  if (instead !== undefined) {
    return { place, text: `${quote(dotted)} was removed; use ${instead}` };
  }
  const suggestion = suggestKey(path, key);
  const expected =
    suggestion === null
      ? `expected one of ${keysAt(path).join(", ")}`
      : `did you mean ${suggestion}?`;
  return { place, text: `${quote(dotted)} is not a key; ${expected}` };
}

/** Describes the value at a path, to follow its key. */
export function formatFound(tree: ConfigTree, path: KeyPath): string {
  const part = treeAt(tree, path);
  switch (part?.kind) {
    case undefined:
      return "is missing";
    case "mapping":
      return "is a mapping";
    case "list":
      return part.items.length === 0 ? "is an empty list" : "is a list";
    case "scalar":
      return formatScalar(part.value, path);
  }
}

function formatScalar(value: unknown, path: KeyPath): string {
  if (value === null) return "is empty";
  if (SECRET_KEYS.has(dottedKey(path))) return "is a value that is not shown";
  if (typeof value === "number" || typeof value === "boolean") return `is ${String(value)}`;
  if (typeof value !== "string") throw new Error(`YAML gave a ${typeof value}.`);
  return isSecret(value, path) ? "is a text that is not shown" : `is ${quote(value)}`;
}

const SECRET_KEYS = new Set(["dashboard.token", "on_batch_end.secret"]);

/** A connection URL that does not parse may be a password as a whole. */
const isSecret = (value: string, path: KeyPath): boolean =>
  /^(database|queue)(\.|$)/.test(dottedKey(path)) &&
  path[1] !== "backend" &&
  path[1] !== "prefix" &&
  !(value.includes("://") && parseUrl(value) !== undefined);

const MAX_DISTANCE = 2;

/** The keys of the schema at a path; empty if it takes any key. */
function keysAt(path: KeyPath): string[] {
  const schema = path.reduce<z.core.$ZodType | undefined>(stepInto, configSchema);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** Every dotted key of the schema with a value, without those of list entries. */
export function schemaKeys(path: readonly string[] = []): string[] {
  const keys = keysAt(path);
  return keys.length === 0 ? [path.join(".")] : keys.flatMap((key) => schemaKeys([...path, key]));
}

/** The key that was probably meant: a similar one at this level, or the same name elsewhere. */
function suggestKey(path: KeyPath, key: string): string | null {
  const alike = keysAt(path)
    .map((known) => ({ known, distance: editDistance(foldKey(known), foldKey(key), MAX_DISTANCE) }))
    .filter(({ known, distance }) => distance <= Math.min(MAX_DISTANCE, known.length - 2))
    .sort((a, b) => a.distance - b.distance)[0];
  if (alike !== undefined) return alike.known;
  return schemaKeys().find((dotted) => dotted.endsWith(`.${key}`)) ?? null;
}

function stepInto(
  schema: z.core.$ZodType | undefined,
  step: string | number,
): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
    return Object.hasOwn(shape, step) ? shape[String(step)] : undefined;
  }
  return schema instanceof z.ZodArray ? schema.element : undefined;
}

/** Folds `maxTokens`, `max-tokens` and `max_tokens` into one spelling. */
const foldKey = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, "");
