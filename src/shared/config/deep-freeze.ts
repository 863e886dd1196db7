/** Freezes a value of plain objects, lists and maps, and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) closeMap(value);
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}

/** Object.freeze leaves a Map's entries open. */
function closeMap(map: Map<unknown, unknown>): void {
  const refuse = () => {
    throw new TypeError("The configuration is frozen.");
  };
  Object.assign(map, { set: refuse, delete: refuse, clear: refuse });
}
