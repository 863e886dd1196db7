import MarkdownIt from "markdown-it";
import { markdownQuote, markdownText } from "../../../src/producer/export/markdown.ts";
import { escapeHtml } from "../../../src/shared/views/html-markup.ts";
import { cleanForTerminal } from "../../../src/shared/terminal/styled-text.ts";

/** A renderer that does all that renderers do by default somewhere: HTML as it stands, and links of bare addresses. */
const renderer = new MarkdownIt({ html: true, linkify: true });

export type Rendered = {
  /** Whatever would be loaded or led to, as the renderer's tokens name it. */
  readonly acting: readonly string[];
  /** What a reader sees, and copies. */
  readonly text: string;
};

/** What Markdown becomes in a program that shows it. */
export function rendered(markdown: string): Rendered {
  const tokens = renderer
    .parse(markdown, {})
    .flatMap((token) => [token, ...(token.children ?? [])]);
  return {
    acting: tokens
      .filter(({ type }) => /^(?:image|link_open|html_block|html_inline)$/.test(type))
      .map(({ type, content, attrs }) => `${type} ${content} ${JSON.stringify(attrs)}`),
    text: tokens
      .map(({ type, content }) => {
        if (type === "softbreak" || type === "hardbreak" || type === "paragraph_close") return "\n";
        return /^(?:text|text_special|code_inline|code_block|fence)$/.test(type) ? content : "";
      })
      .join("")
      .trim(),
  };
}

/** What an answer would load, lead to or drive, wherever we show it: in Markdown, in HTML and on a terminal. */
export const actingWhereShown = (answer: string): readonly string[] => [
  ...rendered(markdownQuote(answer)).acting,
  ...rendered(markdownText(answer)).acting,
  ...(escapeHtml(answer).match(/[<>"']/g) ?? []),
  ...(cleanForTerminal(answer).match(/\u001b|\u009b/g) ?? []),
];
