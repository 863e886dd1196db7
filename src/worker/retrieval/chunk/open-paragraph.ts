import { atxHeading } from "./atx-heading.ts";
import { type Fence, closesFence, openingFence } from "./fenced-code.ts";
import { opensHtml } from "./html-block.ts";
import { isBlank, type LineShape, shapeOf } from "./line-shape.ts";
import { type Lines, splitLines } from "./lines.ts";
import { listMarker } from "./list-marker.ts";
import { isThematicBreak } from "./thematic-break.ts";

/** Enough of a line to see how it begins, and more containers in one line than anybody writes. */
const HEAD_CHARS = 200;
const MOST_CONTAINERS = 16;

/**
 * Follows the lines of a quote or a list and tells whether a paragraph is open after each: only that one goes on in a
 * line outside of its container.
 */
export function trackParagraph(): (line: string) => boolean {
  let isOpen = false;
  let fence: Fence | undefined;
  let isHtml = false;
  const follow = (lines: Lines, shape: LineShape): boolean => {
    if (fence !== undefined) {
      if (closesFence(lines.text, shape, fence)) fence = undefined;
      return false;
    }
    if (isBlank(shape)) return (isHtml = false);
    if (isHtml) return false;
    if (isOpen && /^(?:=+|-+)\s*$/.test(lines.text.slice(shape.first, shape.end))) return false;
    if (!isOpen && shape.indent > 3) return false;
    fence = openingFence(lines.text, shape);
    isHtml = lines.text.charAt(shape.first) === "<" && opensHtml(lines.text.slice(shape.first));
    return (
      fence === undefined &&
      !isHtml &&
      atxHeading(lines, 0) === undefined &&
      !isThematicBreak(lines.text, shape)
    );
  };
  return (line) => {
    const { lines, hasMarker } = withoutContainers(line.slice(0, HEAD_CHARS));
    if (hasMarker) {
      isOpen = false;
      isHtml = false;
    }
    isOpen = follow(lines, shapeOf(lines, 0));
    return isOpen;
  };
}

/** The content of a line behind the marks of quotes and list items; a new item ends what was open. */
function withoutContainers(line: string): { readonly lines: Lines; readonly hasMarker: boolean } {
  let rest = line;
  let hasMarker = false;
  for (let depth = 0; depth < MOST_CONTAINERS; depth += 1) {
    const lines = oneLine(rest);
    const shape = shapeOf(lines, 0);
    if (shape.indent > 3 || isThematicBreak(rest, shape)) break;
    if (rest.charAt(shape.first) === ">") rest = rest.slice(shape.first + 1).replace(/^ /, "");
    else {
      const marker = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/.exec(rest.slice(shape.first))?.[0];
      if (marker === undefined || listMarker(rest, shape) === undefined) break;
      hasMarker = true;
      rest = rest.slice(shape.first + marker.length).replace(/^[ \t]/, "");
    }
  }
  return { lines: oneLine(rest), hasMarker };
}

/** An empty text has no line. */
const oneLine = (text: string): Lines => splitLines(text === "" ? " " : text);
