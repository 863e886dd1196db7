import type { Block } from "./block.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";

/** Code by four columns of indent, with the blank lines inside it. */
export function indentedCode(lines: Lines, at: number): Block | undefined {
  if (shapeOf(lines, at).indent < 4) return undefined;
  let lastLine = at;
  for (let line = at + 1; line < lines.count; line += 1) {
    const shape = shapeOf(lines, line);
    if (isBlank(shape)) continue;
    if (shape.indent < 4) break;
    lastLine = line;
  }
  return { firstLine: at, lastLine, cut: "lines" };
}
