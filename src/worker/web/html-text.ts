import { Parser } from "htmlparser2";
import type { PureWork } from "../offload/offload.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import { parseUrl } from "../../shared/parse-url.ts";

/** A page as its bytes give it, and where relative links in it lead from. */
export type HtmlPage = {
  readonly html: string;
  readonly url: string;
  /** What becomes of `aside` and `footer`: left out, or told apart behind the page. */
  readonly beside?: "left_out" | "kept";
};

export type PageLink = { readonly url: string; readonly text: string };

/** What people read of a page, in lines, with the marks of Markdown for headings and lists. */
export type PageText = {
  readonly kind: "text";
  readonly title: string | null;
  readonly text: string;
  /** Of its first links, each once. */
  readonly links: readonly PageLink[];
};

/** Elements in each other. The parser looks through all that are open for each that is closed. */
const MOST_DEPTH = 1_000;
const MOST_LINKS = 60;
/** Each is parsed, also where it is one that was found before. */
const MOST_LINKS_TRIED = 2_000;
const MOST_LINK_CHARS = 120;
const MOST_URL_CHARS = 2_048;
const MOST_TITLE_CHARS = 300;
/** A main element with less holds no page. */
const FEWEST_MAIN_CHARS = 200;

/** What shows nothing, or nothing of the page itself. */
const UNREAD: ReadonlySet<string> = new Set([
  ...["script", "style", "noscript", "template", "iframe", "object", "svg", "math", "canvas"],
  ...["audio", "video", "nav", "footer", "aside", "button", "select", "textarea", "dialog"],
]);
/** Text of its own that stands beside the page, as notes and imprints. Navigation is the same on all pages of a site. */
const BESIDE: ReadonlySet<string> = new Set(["aside", "footer"]);
const BLOCKS: ReadonlySet<string> = new Set([
  ...["address", "article", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt"],
  ...["fieldset", "figcaption", "figure", "form", "header", "hr", "legend", "li", "main", "ol"],
  ...["p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul"],
  ...["h1", "h2", "h3", "h4", "h5", "h6"],
]);
/** Those with an empty line around them. */
const APART: ReadonlySet<string> = new Set([
  ...["blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre"],
  ...["table", "ul"],
]);

class TooDeep extends Error {}

/**
 * The words of a page, without a document tree: one pass over its tags, in a time and with a memory that are those of its
 * length. Nothing is left out for its looks but navigation, what is hidden, and what stands beside the page unless it is kept.
 */
export function htmlText({
  html,
  url,
  beside = "left_out",
}: HtmlPage): PageText | { readonly kind: "too_deep" } {
  const reader = openReader(url, beside);
  const parser = new Parser(reader.handler, { decodeEntities: true, lowerCaseTags: true });
  try {
    parser.end(html);
  } catch (error) {
    if (error instanceof TooDeep) return { kind: "too_deep" };
    throw error;
  }
  return reader.page();
}

export const HTML_TEXT: PureWork<HtmlPage, ReturnType<typeof htmlText>> = {
  home: import.meta.url,
  run: htmlText,
};

type Handler = {
  onopentag(name: string, attributes: Readonly<Record<string, string>>): void;
  ontext(text: string): void;
  onclosetag(name: string): void;
};

function openReader(
  pageUrl: string,
  beside: "left_out" | "kept",
): { readonly handler: Handler; page(): PageText } {
  const pageLines = openLines();
  const besideLines = openLines();
  /** Elements that are open from the outermost one on that stands beside the page; 0 for none. */
  let besideDepth = 0;
  const isKept = (name: string): boolean => beside === "kept" && BESIDE.has(name);
  let lines = pageLines;
  const links = openLinks(pageUrl);
  /** Of the elements that are open: how many of them are not read. */
  const open: number[] = [];
  let title = "";
  let inTitle = false;
  let preformatted = 0;
  let main: { readonly from: number; readonly to: number } | null = null;
  let mainFrom = -1;
  // Those beside the page are below the one that says so.
  const headingMark = (level: number): string =>
    "#".repeat(lines === pageLines ? level : Math.min(6, level + 2));
  const isUnread = (): boolean => (open.at(-1) ?? 0) > 0;
  const handler: Handler = {
    onopentag(name, attributes) {
      if (open.length >= MOST_DEPTH) throw new TooDeep();
      const isLeftOut = (UNREAD.has(name) && !isKept(name)) || isHidden(attributes);
      open.push((open.at(-1) ?? 0) + (isLeftOut ? 1 : 0));
      if (name === "title" && title === "") inTitle = true;
      if (name === "base") links.rebase(attributes["href"]);
      if (isUnread()) return;
      if (isKept(name) && lines === pageLines) {
        lines = besideLines;
        besideDepth = open.length;
        lines.break(2);
        lines.add(`## Beside the page: ${name}`);
        lines.break(2);
      }
      if (name === "a") links.open(attributes["href"]);
      if (name === "br") lines.end();
      if (BLOCKS.has(name)) lines.break(APART.has(name) ? 2 : 1);
      if (name === "pre") preformatted += 1;
      if (name === "li") lines.add("- ");
      if (name === "td" || name === "th") lines.cell();
      if (/^h[1-6]$/.test(name)) lines.add(`${headingMark(Number(name[1]))} `);
      if (name === "main" && lines === pageLines && main === null && mainFrom === -1)
        mainFrom = lines.length();
    },
    ontext(text) {
      if (inTitle) title += text;
      if (inTitle || isUnread()) return;
      links.text(text);
      if (preformatted > 0) lines.preformatted(text);
      else lines.add(text.replaceAll(/\s+/g, " "));
    },
    onclosetag(name) {
      if (name === "title") inTitle = false;
      const wasUnread = isUnread();
      open.pop();
      if (wasUnread) return;
      if (open.length < besideDepth) {
        lines = pageLines;
        besideDepth = 0;
      }
      if (name === "a") links.close();
      if (name === "pre") preformatted = Math.max(0, preformatted - 1);
      if (BLOCKS.has(name)) lines.break(APART.has(name) ? 2 : 1);
      if (name === "main" && mainFrom !== -1 && lines === pageLines) {
        main ??= { from: mainFrom, to: lines.length() };
      }
    },
  };
  return {
    handler,
    page() {
      const whole = pageLines.text(0, pageLines.length());
      const inMain = main === null ? "" : pageLines.text(main.from, main.to);
      const shown = inMain.length >= FEWEST_MAIN_CHARS ? inMain : whole;
      const apart = besideLines.text(0, besideLines.length());
      const words = firstCodePoints(title.replaceAll(/\s+/g, " ").trim(), MOST_TITLE_CHARS);
      return {
        kind: "text",
        title: words === "" ? null : words,
        text: [shown, apart].filter((text) => text !== "").join("\n\n"),
        links: links.found(),
      };
    },
  };
}

const HIDING = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

const isHidden = (attributes: Readonly<Record<string, string>>): boolean =>
  "hidden" in attributes ||
  attributes["aria-hidden"] === "true" ||
  attributes["role"] === "navigation" ||
  HIDING.test((attributes["style"] ?? "").slice(0, 2_000));

/** Pieces of text, with as many line feeds between blocks as the larger of two neighbours asks for. */
function openLines() {
  const pieces: string[] = [];
  let breaks = 0;
  let atStart = true;
  const put = (text: string): void => {
    if (breaks > 0 && pieces.length > 0) pieces.push("\n".repeat(breaks));
    breaks = 0;
    atStart = false;
    pieces.push(text);
  };
  return {
    length: (): number => pieces.length,
    /** Blanks at the start of a line are nothing. */
    add(text: string): void {
      const shown = atStart || breaks > 0 ? text.trimStart() : text;
      if (shown !== "") put(text.startsWith(" ") && !atStart && breaks === 0 ? text : shown);
    },
    preformatted(text: string): void {
      if (text !== "") put(text);
    },
    cell(): void {
      if (breaks === 0 && !atStart) pieces.push(" | ");
    },
    end(): void {
      breaks = Math.max(breaks, 1);
    },
    break(least: number): void {
      breaks = Math.max(breaks, least);
    },
    text: (from: number, to: number): string =>
      pieces
        .slice(from, to)
        .join("")
        // Not by a pattern, which would look through a long run of blanks again and again.
        .split("\n")
        .map((line) => line.trimEnd())
        .join("\n")
        .replaceAll(/\n{3,}/g, "\n\n")
        .trim(),
  };
}

/** Each is resolved against the other. */
const isLink = (to: string | undefined): to is string =>
  to !== undefined && to.length <= MOST_URL_CHARS;

function openLinks(pageUrl: string) {
  const found = new Map<string, string>();
  let base = pageUrl;
  let tried = 0;
  let href: string | undefined;
  let words = "";
  return {
    rebase(to: string | undefined): void {
      tried += 1;
      if (tried > MOST_LINKS_TRIED) return;
      if (isLink(to)) base = parseUrl(to, pageUrl)?.href ?? base;
    },
    open(to: string | undefined): void {
      href = isLink(to) ? to : undefined;
      words = "";
    },
    text(text: string): void {
      if (href !== undefined && words.length < MOST_LINK_CHARS) words += text;
    },
    close(): void {
      tried += 1;
      if (href === undefined || found.size >= MOST_LINKS || tried > MOST_LINKS_TRIED) return;
      const url = parseUrl(href, base);
      if (url === undefined) return;
      href = undefined;
      url.hash = "";
      const isWeb = url.protocol === "http:" || url.protocol === "https:";
      if (!isWeb || url.username !== "" || url.password !== "" || found.has(url.href)) return;
      found.set(url.href, words.replaceAll(/\s+/g, " ").trim().slice(0, MOST_LINK_CHARS));
    },
    found: (): readonly PageLink[] => [...found].map(([url, text]) => ({ url, text })),
  };
}
