import path from "node:path";

/** What the server itself does for a client, because no SQL can. */
export type EmbeddedCommand =
  | { readonly kind: "backup"; readonly file: string }
  | { readonly kind: "checkpoint" }
  | { readonly kind: "invalid" };

const WORDS = /^nightdesk\s+(backup|checkpoint)(?:\s+'((?:[^']|'')*)')?$/i;
const MAX_CHARS = 8_192;

/** `nightdesk backup '<absolute file>'` or `nightdesk checkpoint`, sent as a simple query. */
export function readCommand(sql: string): EmbeddedCommand | undefined {
  if (!/^nightdesk\s/i.test(sql)) return undefined;
  if (sql.length > MAX_CHARS) return { kind: "invalid" };
  const [, verb, quoted] = WORDS.exec(sql.replace(/;$/, "").trim()) ?? [];
  if (verb?.toLowerCase() === "checkpoint" && quoted === undefined) return { kind: "checkpoint" };
  const file = quoted?.replaceAll("''", "'") ?? "";
  if (verb?.toLowerCase() === "backup" && path.isAbsolute(file)) return { kind: "backup", file };
  return { kind: "invalid" };
}
