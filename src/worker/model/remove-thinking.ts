type Marks = { readonly open: string; readonly close: string };

/** What models write around their thinking where the host does not take it out. */
const BLOCKS: readonly Marks[] = [
  { open: "<think>", close: "</think>" },
  { open: "<thinking>", close: "</thinking>" },
  { open: "<reasoning>", close: "</reasoning>" },
  { open: "<thought>", close: "</thought>" },
  { open: "<seed:think>", close: "</seed:think>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  { open: "<|thought_start|>", close: "<|thought_end|>" },
];
/** A channel of gpt-oss; the mark that ends it also ends an answer, so that alone it says nothing. */
const ANALYSIS: Marks = { open: "<|channel|>analysis<|message|>", close: "<|end|>" };
const ANSWER_MARKS = ["<|start|>assistant", "<|channel|>final<|message|>", "<|return|>"];

/**
 * The reply without what a model thought aloud: blocks between marks anywhere, and everything before a closing
 * mark that nothing opened (some templates open it in the prompt). A block that is never closed swallows the rest.
 */
export function removeThinking(text: string): string {
  const visible = BLOCKS.reduce(
    (rest, marks) => dropBlocks(afterFirstClose(rest, marks), marks),
    text,
  );
  if (!visible.includes("<|channel|>")) return visible.trim();
  return ANSWER_MARKS.reduce(
    (rest, mark) => rest.replaceAll(mark, ""),
    dropBlocks(visible, ANALYSIS),
  ).trim();
}

function afterFirstClose(text: string, { open, close }: Marks): string {
  const firstClose = text.indexOf(close);
  if (firstClose === -1) return text;
  const firstOpen = text.indexOf(open);
  const opensBefore = firstOpen !== -1 && firstOpen < firstClose;
  return opensBefore ? text : text.slice(firstClose + close.length);
}

function dropBlocks(text: string, { open, close }: Marks): string {
  let kept = "";
  let position = 0;
  for (;;) {
    const start = text.indexOf(open, position);
    if (start === -1) return kept + text.slice(position);
    kept += text.slice(position, start);
    const end = text.indexOf(close, start);
    if (end === -1) return kept;
    position = end + close.length;
  }
}
