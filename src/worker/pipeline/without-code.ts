/**
 * The text with fenced blocks and inline code blanked; what stands in code is no markup. A fence that nothing
 * closes hides nothing.
 */
export function withoutCode(text: string): string {
  const lines = text.split("\n");
  let open: { readonly fence: string; readonly line: number } | null = null;
  const fenced = new Set<number>();
  lines.forEach((line, index) => {
    if (open === null) {
      const fence = OPENING.exec(line)?.[1];
      if (fence !== undefined) open = { fence, line: index };
    } else if (CLOSING.exec(line)?.[1]?.startsWith(open.fence) === true) {
      for (let inside = open.line; inside <= index; inside += 1) fenced.add(inside);
      open = null;
    }
  });
  const shown = lines.map((line, index) => (fenced.has(index) ? "" : line));
  return shown.join("\n").replace(/`[^`\n]*`/g, " ");
}

const OPENING = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
