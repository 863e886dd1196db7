import { z } from "zod";
import { editDistance } from "../edit-distance.ts";
import { configSchema } from "./schema.ts";
import type { KeyPath } from "./dotted-key.ts";

const MAX_DISTANCE = 2;

/** The keys that the schema has at a path; none where it takes any key. */
export function keysAt(path: KeyPath): string[] {
  const schema = path.reduce<z.core.$ZodType | undefined>(stepInto, configSchema);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** Every key of the schema that holds a value, dotted; without those of list entries. */
export function schemaKeys(path: readonly string[] = []): string[] {
  const keys = keysAt(path);
  return keys.length === 0 ? [path.join(".")] : keys.flatMap((key) => schemaKeys([...path, key]));
}

/** The key that somebody probably meant: alike at this level, or of the same name elsewhere. */
export function suggestKey(path: KeyPath, key: string): string | null {
  const alike = keysAt(path)
    .map((known) => ({ known, distance: editDistance(plain(known), plain(key), MAX_DISTANCE) }))
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

/** `maxTokens` and `max-tokens` are typed `max_tokens`. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, "");
