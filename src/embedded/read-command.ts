import path from "node:path";
import type { Existing } from "../shared/atomic-file.ts";

/** What the server itself does for a client, because no SQL can. */
export type EmbeddedCommand =
  | { readonly kind: "backup"; readonly file: string; readonly existing: Existing }
  | { readonly kind: "checkpoint" }
  | { readonly kind: "invalid" };

const WORDS = /^nightdesk\s+(backup|checkpoint|backup\s+replace)(?:\s+'((?:[^']|'')*)')?$/i;
const MAX_CHARS = 8_192;

/** `nightdesk backup '<absolute file>'`, `nightdesk backup replace '…'` or `nightdesk checkpoint`, sent as a simple query. */
export function readCommand(sql: string): EmbeddedCommand | undefined {
  if (!/^nightdesk\s/i.test(sql)) return undefined;
  if (sql.length > MAX_CHARS) return { kind: "invalid" };
  const [, words = "", quoted] = WORDS.exec(sql.replace(/;$/, "").trim()) ?? [];
  const [verb, replace] = words.toLowerCase().split(/\s+/);
  if (verb === "checkpoint" && quoted === undefined) return { kind: "checkpoint" };
  const file = quoted?.replaceAll("''", "'") ?? "";
  if (verb !== "backup" || !path.isAbsolute(file)) return { kind: "invalid" };
  return { kind: "backup", file, existing: replace === undefined ? "keep" : "replace" };
}
