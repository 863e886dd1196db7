import { withoutOwnMarks } from "./own-marks.ts";
import { splitFooters } from "./split-footers.ts";
import type { SplitReply } from "./split-footers.ts";
import { visibleText } from "../text/visible-text.ts";

const OPENING = /^(`{3,8}|~{3,8})(?:markdown|md|text|txt|plaintext)?[ \t]*\n/i;

/**
 * The answer that a reply holds, as a reader sees it, without our own marks, without its footers and without a code fence
 * around all of it.
 */
export function openAnswer(reply: string): SplitReply {
  const text = withoutOwnMarks(visibleText(reply)).trim();
  const outer = splitFooters(insideFence(text) ?? text);
  const fenced = insideFence(outer.body);
  if (fenced === null) return outer;
  const inner = splitFooters(fenced);
  return { body: inner.body, footers: [...inner.footers, ...outer.footers] };
}

/** What stands in a fence that is all of a text, and holds no other; null for any other text. */
function insideFence(text: string): string | null {
  const [opening, fence] = OPENING.exec(text) ?? [];
  if (opening === undefined || fence === undefined || !text.endsWith(`\n${fence}`)) return null;
  const inside = text.slice(opening.length, -fence.length);
  return /^[ \t]{0,3}(?:`{3}|~{3})/m.test(inside) ? null : inside;
}
