import type { EvidenceSpan } from "../../../shared/run-result.ts";
import { findBareLinks } from "./find-bare-links.ts";
import { findMarkupLinks } from "./find-markup-links.ts";
import type { CitableBlock } from "../number-evidence.ts";
import { placesIn } from "./place-in-evidence.ts";
import type { TextSpan } from "../text/split-spans.ts";
import { normaliseText } from "../../../shared/normalise-text.ts";

/**
 * A target as it is compared: scheme and host in small letters, http and https the same, without `mailto:` and a slash
 * at its end.
 */
export function comparableTarget(target: string): string {
  const plain = normaliseText(target.trim(), "NFC").replace(/^(?:https?:\/\/|mailto:)/i, "");
  const host = /^(?:[a-z][a-z0-9+.-]{0,20}:)?(?:\/\/)?[^/?#]*/i.exec(plain)?.[0] ?? "";
  const path = plain.slice(host.length);
  let end = path.length;
  while (end > 0 && path.charAt(end - 1) === "/") end -= 1;
  return host.toLowerCase() + path.slice(0, end);
}

/** The targets of all links, addresses and paths of a text, with the first place of each. */
export function targetsOf(text: string): Map<string, TextSpan> {
  const targets = new Map<string, TextSpan>();
  const add = (target: string, span: TextSpan): void => {
    const key = comparableTarget(target);
    if (!targets.has(key)) targets.set(key, span);
  };
  for (const { target, start, end } of findBareLinks(text)) add(target, { start, end });
  for (const { target, tail } of findMarkupLinks(text)) add(target, tail);
  return targets;
}

/** Where a target stands in the evidence, or null. */
export function linkFinder(
  evidence: readonly CitableBlock[],
): (target: string) => EvidenceSpan | null {
  const pieces = evidence.map((block) => ({
    targets: targetsOf(block.text),
    placeOf: placesIn(block),
  }));
  return (target) => {
    const key = comparableTarget(target);
    const piece = pieces.find(({ targets }) => targets.has(key));
    const span = piece?.targets.get(key);
    return piece === undefined || span === undefined ? null : piece.placeOf(span.start, span.end);
  };
}

/** The names under which an answer may point at what it was shown: paths and their last parts. */
export function ownPaths(evidence: readonly CitableBlock[]): (target: string) => boolean {
  const names = new Set(
    evidence.flatMap(({ path }) => [path, path.slice(path.lastIndexOf("/") + 1)]),
  );
  return (target) => {
    const plain = target.replace(/^\.\//, "");
    const bare = plain.replace(/(\.[\p{L}\p{N}]{1,8})(?:#[^\n]*|:\d{1,9}(?:[-–]\d{1,9})?)$/u, "$1");
    return names.has(plain) || names.has(bare);
  };
}
