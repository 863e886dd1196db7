import { isRecord } from "../json-value.ts";

/** A schema of 10,000 nodes with every reference written out is more than any document is asked for. */
const MOST_UNFOLDED = 10_000;

/**
 * What is wrong with the references of a schema, or undefined: one that leads nowhere, one that leads back to itself, or
 * so many into one another that following them all would not end in time. Linear, since each place is counted once.
 */
export function unfoldedProblem(root: Readonly<Record<string, unknown>>): string | undefined {
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
  // A property may be called $ref; its schema is then no text.
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

/** The name that a step of a reference spells; null where it is no part of an address. */
function nameIn(step: string): string | null {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
