/** A `\` escape of JSON: a NUL, half of a surrogate pair, or any other. */
const ESCAPE = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g;

/** A value as JSON that Postgres stores: no NUL, no lone surrogate, and no number that JSON does not know. */
export function metadataJson(value: object): string {
  const json = JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "number" && !Number.isFinite(item) ? String(item) : item,
  );
  return json.replace(ESCAPE, (escape) =>
    escape.length > 2 && isUnstorable(escape) ? "�" : escape,
  );
}

const isUnstorable = (escape: string): boolean => escape === "\\u0000" || escape.startsWith("\\ud");
