/** A day and all that follows it, or numbers at the end: what tells one night's batch from the next. */
const DAY = /[\s._-]*\d{4}-\d{2}-\d{2}(?!\d).*$/s;
const NUMBER = /[\s._-]*\d+$/;

/** What the names of a nightly batch have in common: `minutes 2026-11-21T22:00:00Z` and `minutes-2` are of `minutes`. */
export function nameStem(name: string): string {
  const stem = name.replace(DAY, "");
  const bare = stem === name ? name.replace(NUMBER, "") : stem;
  return bare === "" ? name : bare;
}
