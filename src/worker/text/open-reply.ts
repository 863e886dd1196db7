import { THOUGHT_MARKS } from "./thought-marks.ts";

/** A reply without what may stand around a call. */
type OpenedReply = {
  /** From the first character on that is no white space, thinking, fence or tag. */
  readonly text: string;
  /** Marks that close what was opened, innermost first. */
  readonly closers: readonly string[];
};

/** More wrappers than any model writes: thinking aside, a fence inside a tag inside a fence. */
const MAX_WRAPPERS = 4;
const BLANK = /[\s\0-\x1F\x7F-\x9F\u200B-\u200F\u2060-\u2064\uFEFF]*/y;
const FENCE = /(`{3,}|~{3,})[ \t]*[\w-]{0,20}/y;
const TAG = /<(\|?)(tool_calls?|function_call)\|?>|\[TOOL_CALLS\]|<\|python_tag\|>/iy;

/** Takes thinking, one code fence and one tag off the front of a reply. Linear in the reply. */
export function openReply(reply: string): OpenedReply {
  let position = afterThinking(reply);
  const closers: string[] = [];
  for (let wrappers = 0; wrappers < MAX_WRAPPERS; wrappers += 1) {
    const fence = matchAt(FENCE, reply, position);
    const tag = fence === null ? matchAt(TAG, reply, position) : null;
    const opener = fence ?? tag;
    if (opener === null) break;
    const closer = fence === null ? closerOf(opener) : opener[1];
    if (closer !== undefined) closers.unshift(closer);
    position = afterBlanks(reply, position + opener[0].length);
  }
  return { text: reply.slice(position), closers };
}

/** `</tool_call>`, or `<|/tool_call|>`; the other tags are closed by nothing. */
function closerOf([, pipe, name]: RegExpExecArray): string | undefined {
  if (name === undefined) return undefined;
  return pipe === "|" ? `<|/${name}|>` : `</${name}>`;
}

/** Behind the code fence that opens at a position, and the blanks behind it; null where none does. */
export function afterFence(reply: string, position: number): number | null {
  const fence = matchAt(FENCE, reply, position);
  return fence === null ? null : afterBlanks(reply, position + fence[0].length);
}

/** Behind all thinking that the reply opens with; its end where a block is never closed. */
export function afterThinking(reply: string): number {
  let position = afterBlanks(reply, afterUnopenedThinking(reply));
  for (;;) {
    const marks = THOUGHT_MARKS.find(({ open }) => reply.startsWith(open, position));
    if (marks === undefined) return position;
    const end = reply.indexOf(marks.close, position);
    if (end === -1) return reply.length;
    position = afterBlanks(reply, end + marks.close.length);
  }
}

/** Some templates open the block in the prompt, so that a reply begins inside of it. */
function afterUnopenedThinking(reply: string): number {
  if (/[[{]/.test(reply.charAt(afterBlanks(reply, 0)))) return 0;
  const ends = THOUGHT_MARKS.map(({ open, close }) => {
    const [from, to] = [reply.indexOf(open), reply.indexOf(close)];
    return to !== -1 && (from === -1 || from > to) ? to + close.length : 0;
  });
  return Math.max(...ends);
}

const afterBlanks = (text: string, position: number): number =>
  position + (matchAt(BLANK, text, position)?.[0].length ?? 0);

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}
