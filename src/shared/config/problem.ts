import { Failure } from "../failure.ts";
import type { KeyPath, SourceLocation } from "./config-tree.ts";
import { maskUrl } from "./mask-url.ts";

/** A problem and its place. */
export type Problem = { readonly place: SourceLocation; readonly text: string };

/** A conflict of one key with others; `text` follows the key. */
export type Conflict = { readonly path: KeyPath; readonly text: string };

const MAX_PROBLEMS = 20;
const MAX_QUOTED = 60;

/** All problems as one CONFIG_ERROR, one a line, at most 20. */
export function configFailure(problems: readonly Problem[]): Failure {
  const lines = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ place, text }) => `${formatPlace(place)}: ${text}`);
  const left = problems.length - lines.length;
  if (left > 0) lines.push(`and ${left} more`);
  return new Failure("CONFIG_ERROR", lines.join("\n"));
}

/** `nightdesk.yaml:3:5`, `environment DATABASE_URL`, `flag --log-level`. */
const formatPlace = ({ origin, line, column }: SourceLocation): string =>
  line === undefined ? origin : `${origin}:${line}:${column ?? 1}`;

/** A text of the configuration for a message: in one line, cut after 60 characters, with the password of a URL masked. */
export function quote(text: string): string {
  const masked = maskUrl(text);
  return JSON.stringify(masked.length > MAX_QUOTED ? `${masked.slice(0, MAX_QUOTED)}…` : masked);
}
