import { holdsFamilyMark } from "./call-families.ts";
import { holdsCallMark } from "./find-call-marks.ts";
import { parseToolCall } from "./parse-tool-call.ts";
import { visibleText } from "../text/visible-text.ts";

/**
 * Whether a text holds a tool call, wherever it stands: at its start as the parser knows it, or after any text,
 * fenced, in single quotes, escaped, or as any family of models writes it. Evidence never shows a model one, so that there is
 * nothing to quote; an answer that talks about tool calls holds none. Pure, linear in the text.
 */
export function detectToolCall(text: string): boolean {
  if (parseToolCall(text) !== null) return true;
  const plain = withoutEscapes(visibleText(text));
  return holdsCallMark(plain) || holdsFamilyMark(plain);
}

/** JSON may write any letter as an escape. */
const withoutEscapes = (text: string): string =>
  text.replace(/\\{1,4}u00([2-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
