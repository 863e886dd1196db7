const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * The reply without what a model thought aloud: `<think>` blocks anywhere, and everything before a `</think>`
 * that nothing opened (some templates open it in the prompt). A block that is never closed swallows the rest.
 */
export function removeThinking(text: string): string {
  const firstClose = text.indexOf(CLOSE);
  const firstOpen = text.indexOf(OPEN);
  const opensBefore = firstOpen !== -1 && firstOpen < firstClose;
  const visible = firstClose !== -1 && !opensBefore ? text.slice(firstClose + CLOSE.length) : text;
  return dropBlocks(visible).trim();
}

function dropBlocks(text: string): string {
  let kept = "";
  let position = 0;
  for (;;) {
    const open = text.indexOf(OPEN, position);
    if (open === -1) return kept + text.slice(position);
    kept += text.slice(position, open);
    const close = text.indexOf(CLOSE, open);
    if (close === -1) return kept;
    position = close + CLOSE.length;
  }
}
