import type { Block } from "./block.ts";
import { isBlank, isBlankBetween, type LineShape, runLength, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";

export type Fence = { readonly mark: string; readonly length: number };

/**
 * Code between fences of ``` or ~~~, the closing one at least as long. Without a closing fence it goes to the end
 * of the document, or of the list item whose content starts at column `container`.
 */
export function fencedCode(lines: Lines, at: number, container = 0): Block | undefined {
  const fence = openingFence(lines.text, shapeOf(lines, at), container);
  if (fence === undefined) return undefined;
  let lastLine = at;
  for (let line = at + 1; line < lines.count; line += 1) {
    const shape = shapeOf(lines, line);
    if (!isBlank(shape) && shape.indent < container) break;
    lastLine = line;
    if (closesFence(lines.text, shape, fence, container)) break;
  }
  return { firstLine: at, lastLine, cut: "lines" };
}

export function openingFence(
  text: string,
  { indent, first, end }: LineShape,
  container = 0,
): Fence | undefined {
  const mark = text.charAt(first);
  if ((mark !== "`" && mark !== "~") || indent > container + 3) return undefined;
  const length = runLength(text, first, end);
  if (length < 3) return undefined;
  // ``` a ``` on one line is code in a paragraph.
  if (mark === "`" && text.slice(first + length, end).includes("`")) return undefined;
  return { mark, length };
}

export function closesFence(text: string, shape: LineShape, fence: Fence, container = 0): boolean {
  if (shape.indent > container + 3 || text.charAt(shape.first) !== fence.mark) return false;
  const length = runLength(text, shape.first, shape.end);
  return length >= fence.length && isBlankBetween(text, shape.first + length, shape.end);
}
