import { createHash } from "node:crypto";
import { countLines } from "../evidence-piece.ts";
import type { CitableBlock } from "../number-evidence.ts";
import { countCodePoints } from "../text/code-points.ts";

/** Something that a digest is made of: what a child said, or a line about some of them. */
export type DigestItem = {
  readonly text: string;
  readonly path: string;
  /** Numbers of the children that it stands for, ascending. */
  readonly children: readonly number[];
  /** 0: the answer of a child. 1: a line about answers, and so on up. */
  readonly level: number;
};

/** The items as numbered evidence, from 1. Nothing in it depends on job ids or times: equal answers make equal prompts. */
export const blocksOf = (items: readonly DigestItem[]): CitableBlock[] =>
  items.map(({ text, path, level }, index) => ({
    number: index + 1,
    path,
    text,
    sha256: sha256Of(text),
    title: null,
    headingPath: null,
    chunkKey: null,
    startChar: 0,
    endChar: countCodePoints(text),
    lineStart: 1,
    lineEnd: countLines(text),
    summaryLevel: level,
  }));

export const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Marks, path and number around each piece. */
const FENCE_CHARS = 200;

const lengthOf = ({ text, path }: DigestItem): number => text.length + path.length + FENCE_CHARS;

/** Whether they fit one prompt, in UTF-16 units. */
export const fits = (items: readonly DigestItem[], room: number): boolean =>
  items.reduce((total, item) => total + lengthOf(item), 0) <= room;

/** Neighbours together, as many as fit one prompt; one that does not fit by itself is cut to what does. */
export function groupItems(items: readonly DigestItem[], room: number): DigestItem[][] {
  const groups: DigestItem[][] = [];
  let length = 0;
  for (const item of items.map((one) => cutToFit(one, room))) {
    const open = groups.at(-1);
    if (open !== undefined && length + lengthOf(item) <= room) {
      open.push(item);
      length += lengthOf(item);
    } else {
      groups.push([item]);
      length = lengthOf(item);
    }
  }
  return groups;
}

/** The answer of a job is short, but that of an extraction may be long: its first lines stand for it. */
function cutToFit(item: DigestItem, room: number): DigestItem {
  const most = Math.max(0, room - item.path.length - FENCE_CHARS);
  if (item.text.length <= most) return item;
  const end = item.text.lastIndexOf("\n", most);
  return {
    ...item,
    text: item.text.slice(0, end > 0 ? end : most).replace(/[\uD800-\uDBFF]$/, ""),
  };
}
