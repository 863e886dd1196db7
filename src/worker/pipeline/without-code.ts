/** The text with fenced blocks and inline code blanked; what stands in code is no markup. */
export function withoutCode(text: string): string {
  let fence: string | null = null;
  const lines = text.split("\n").map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      if (mark?.startsWith(fence) === true) fence = null;
      return "";
    }
    if (mark === undefined) return line;
    fence = mark;
    return "";
  });
  return lines.join("\n").replace(/`[^`\n]*`/g, " ");
}
