import { matchAt } from "./cited-numbers.ts";
import { THOUGHT_MARKS } from "./thought-marks.ts";

/** A reply without the wrappers in front of its JSON value. */
export type OpenedReply = {
  /** The reply from the first character that is no white space, thinking, fence or tag. */
  readonly text: string;
  /** Offsets of each fence and tag, and at the end that of `text`. */
  readonly places: readonly number[];
  /** Whether a `<tool_call>` stands before `text`. */
  readonly isTagged: boolean;
};

/** More wrappers than any model writes: a fence inside a tag inside a fence. */
const MAX_WRAPPERS = 4;
const BLANK = /[\s\0-\x1F\x7F-\x9F\u200B-\u200F\u2060-\u2064\uFEFF]*/y;
const FENCE = /(?:`{3,}|~{3,})[ \t]*[\w-]{0,20}/y;
const TAG = /<tool_call>/iy;
const CLOSER = /^(?:`{3,}|~{3,}|<\/tool_call>)\s*/i;

/** Removes thinking, code fences and one tag from the front of a reply. Linear in the reply. */
export function openReply(reply: string): OpenedReply {
  let at = afterThinking(reply);
  let isTagged = false;
  const places = [at];
  while (places.length <= MAX_WRAPPERS) {
    const tag: RegExpExecArray | null = isTagged ? null : matchAt(TAG, reply, at);
    const wrapper = tag ?? matchAt(FENCE, reply, at);
    if (wrapper === null) break;
    isTagged ||= tag !== null;
    at = afterBlanks(reply, at + wrapper[0].length);
    places.push(at);
  }
  return { text: reply.slice(at), places, isTagged };
}

/** The text behind the value of an opened reply, without the ends of the fences and the tag that it opens with. */
export const behindValue = ({ text, places }: OpenedReply, end: number): string =>
  places
    .slice(1)
    .reduce((rest) => rest.replace(CLOSER, ""), text.slice(end).trim())
    .trim();

/** The offset behind all thinking at the front of a reply; the end of the reply if a block is not closed. */
function afterThinking(reply: string): number {
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
