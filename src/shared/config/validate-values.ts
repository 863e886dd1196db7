import type { z } from "zod";
import { placeOf, plainValue, treeAt } from "./config-tree.ts";
import type { ConfigTree, Mapping } from "./config-tree.ts";
import { describeExpectation } from "./describe-issue.ts";
import { dottedKey } from "./dotted-key.ts";
import type { KeyPath } from "./dotted-key.ts";
import { configFailure, quote } from "./problem.ts";
import type { Problem } from "./problem.ts";
import { configSchema } from "./schema.ts";
import type { ConfigValues } from "./schema.ts";
import { keysAt, suggestKey } from "./suggest-key.ts";

/** The values of a tree, if they are what the schema says. @throws Failure CONFIG_ERROR with all problems */
export function validateValues(tree: Mapping): ConfigValues {
  // One parse does not repay compiling the schema.
  const result = configSchema.safeParse(plainValue(tree), {
    jitless: true,
    error: describeExpectation,
  });
  if (result.success) return result.data;
  throw configFailure(result.error.issues.flatMap((issue) => describe(tree, issue)));
}

function describe(tree: Mapping, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => describeUnknown(tree, path, key));
  }
  const text = `${dottedKey(path)} ${describeFound(tree, path)}; expected ${issue.message}`;
  return [{ place: placeOf(tree, path), text }];
}

function describeUnknown(tree: Mapping, path: KeyPath, key: string): Problem {
  const suggestion = suggestKey(path, key);
  const expected =
    suggestion === null
      ? `expected one of ${keysAt(path).join(", ")}`
      : `did you mean ${suggestion}?`;
  const text = `${quote([...path, key].join("."))} is not a key; ${expected}`;
  return { place: placeOf(tree, [...path, key]), text };
}

/** What stands at a path, to follow its key. */
export function describeFound(tree: ConfigTree, path: KeyPath): string {
  const part = treeAt(tree, path);
  switch (part?.kind) {
    case undefined:
      return "is missing";
    case "mapping":
      return "is a mapping";
    case "list":
      return part.items.length === 0 ? "is an empty list" : "is a list";
    case "scalar":
      return describeScalar(part.value, path);
  }
}

function describeScalar(value: unknown, path: KeyPath): string {
  if (value === null) return "is empty";
  if (typeof value === "number" || typeof value === "boolean") return `is ${String(value)}`;
  if (typeof value !== "string") throw new Error(`YAML gave a ${typeof value}.`);
  return isSecret(value, path) ? "is a text that is not shown" : `is ${quote(value)}`;
}

/** A connection URL whose form is not known may be a password as a whole. */
const isSecret = (value: string, path: KeyPath): boolean =>
  /^(database|queue)(\.|$)/.test(dottedKey(path)) &&
  path[1] !== "backend" &&
  path[1] !== "prefix" &&
  !(value.includes("://") && URL.canParse(value));
