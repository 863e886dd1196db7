import { Parser } from "htmlparser2";
import type { PureWork } from "../offload/offload.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import { listNumber, markShifted } from "../text/list-number.ts";
import type { Shift } from "../text/list-number.ts";
import { parseUrl } from "../../shared/http/parse-url.ts";
import { openLines } from "./page-lines.ts";
import type { PageLines } from "./page-lines.ts";
import { openTables } from "./page-tables.ts";
import type { PageTables } from "./page-tables.ts";

/** The source of a page, and the base URL of its relative links. */
export type HtmlPage = {
  readonly html: string;
  readonly url: string;
  /** Whether `aside` and `footer` are left out, or follow the page in sections of their own. */
  readonly beside?: "left_out" | "kept";
  /** What lines of a `blockquote` begin with, as in a mail that quotes another. */
  readonly quote?: "> ";
  /** From separate style sheets. */
  readonly shifts?: Shifts;
};

/** By CSS class: whether its letters are raised or lowered. */
type Shifts = ReadonlyMap<string, Shift>;

export type PageLink = { readonly url: string; readonly text: string };

/** The visible text of a page, in lines, with Markdown marks for headings and lists. */
export type PageText = {
  readonly kind: "text";
  readonly title: string | null;
  readonly text: string;
  /** The first links, without duplicates. */
  readonly links: readonly PageLink[];
  /** Counts, by kind, of visible content (or content that a reader can unfold) that the text lacks. */
  readonly leftOut: Readonly<Record<string, number>>;
};

/** Nested elements. For each closing tag the parser searches all open elements. */
const MOST_DEPTH = 1_000;
/** In each other, of which the lines of each are marked. */
const MOST_QUOTES = 20;
const MOST_LINKS = 60;
/** Every link is parsed, duplicates too. */
const MOST_LINKS_TRIED = 2_000;
const MOST_LINK_CHARS = 120;
const MOST_URL_CHARS = 2_048;
const MOST_TITLE_CHARS = 300;
/** A `main` element with less text does not hold the page's content. */
const FEWEST_MAIN_CHARS = 200;

/** Elements that show nothing, or nothing of the page's own content. */
const UNREAD: ReadonlySet<string> = new Set([
  ...["script", "style", "noscript", "template", "iframe", "object", "svg", "math", "canvas"],
  ...["audio", "video", "nav", "footer", "aside", "button", "select", "textarea", "dialog"],
]);
/** Text beside the main content, such as notes and imprints. Navigation is not here: it repeats on all pages of a site. */
const BESIDE: ReadonlySet<string> = new Set(["aside", "footer"]);
const BLOCKS: ReadonlySet<string> = new Set([
  ...["address", "article", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt"],
  ...["fieldset", "figcaption", "figure", "form", "header", "hr", "legend", "li", "main", "ol"],
  ...["p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul"],
  ...["h1", "h2", "h3", "h4", "h5", "h6"],
]);
/** As the first block of a list item, they stand behind its mark. */
const IN_ITEM_LINE: ReadonlySet<string> = new Set(["div", "p"]);
/** Counted as left out. */
const PICTURES: ReadonlySet<string> = new Set(["canvas", "object", "audio", "video"]);
/** Blocks that get an empty line before and after. */
const SPACED_BLOCKS: ReadonlySet<string> = new Set([
  ...["blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre"],
  ...["table", "ul"],
]);

class TooDeep extends Error {}

/**
 * Extracts the text of a page in one pass over its tags, without a document tree: time and memory grow linearly with its
 * length. It leaves out navigation, hidden text, and the elements of `BESIDE` unless `beside` is "kept".
 */
export function htmlText({
  html,
  url,
  beside = "left_out",
  shifts = new Map<string, Shift>(),
  quote,
}: HtmlPage): PageText | { readonly kind: "too_deep" } {
  const reader = openReader(url, beside, shifts, quote);
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

type Part = { readonly lines: PageLines; readonly tables: PageTables };

const openPart = (): Part => {
  const lines = openLines();
  return { lines, tables: openTables(lines) };
};

/** An open element and its effect on nested text: the text is not read, its letters have size zero, are raised or lowered. */
type Open = { readonly isUnread: boolean; readonly isHidden: boolean; readonly shift: Shift };

function openReader(
  pageUrl: string,
  beside: "left_out" | "kept",
  sheet: Shifts,
  quote: string | undefined,
): { readonly handler: Handler; page(): PageText } {
  const page = openPart();
  const apart = openPart();
  /** The nesting depth of the outermost open element of `BESIDE`; 0 outside of one. */
  let besideDepth = 0;
  const isKept = (name: string): boolean => beside === "kept" && BESIDE.has(name);
  let part = page;
  const links = openLinks(pageUrl);
  const open: Open[] = [];
  const lists: NumberedList[] = [];
  const leftOut = { pictures: 0, "hidden passages": 0, "embedded pages": 0, formulas: 0 };
  let isInHidden = false;
  let title = "";
  let inTitle = false;
  let inStyle = false;
  /** Classes whose letters stand above or below the line. */
  const shifts = new Map(sheet);
  let preformatted = 0;
  /** Those that are open. */
  const quotes: (() => void)[] = [];
  const openQuote = ({ lines }: Part, mark: string): void => {
    const held = quotes.length < MOST_QUOTES ? lines.hold() : undefined;
    quotes.push(() => {
      const quoted = held === undefined ? "" : lines.take(held);
      if (quoted !== "") lines.preformatted(quoted.replaceAll(/^/gm, mark));
    });
  };
  let afterTerm = false;
  /** The open figure; its alt text is used only if it has no caption. */
  let figure: { words?: string; hasCaption: boolean } | undefined;
  let main: string | null = null;
  let mainFrom = -1;
  // Headings beside the page are nested below "## Beside the page".
  const headingMark = (level: number): string =>
    "#".repeat(part === page ? level : Math.min(6, level + 2));
  const top = (): Open => open.at(-1) ?? { isUnread: false, isHidden: false, shift: undefined };
  const openBeside = (name: string): void => {
    part = apart;
    besideDepth = open.length;
    apart.lines.break(2);
    apart.lines.add(`## Beside the page: ${name}`);
    apart.lines.break(2);
  };
  const addPicture = ({ alt = "", width, height }: Readonly<Record<string, string>>): void => {
    const words = alt.replaceAll(/\s+/g, " ").trim().slice(0, MOST_ALT_CHARS);
    // A tracking pixel.
    if (width === "1" || height === "1") return;
    if (words === "") leftOut.pictures += 1;
    else if (figure === undefined) addWords(words);
    else figure.words ??= words;
  };
  const addWords = (words: string): void => {
    links.text(words);
    part.lines.add(words);
  };
  const openRead = (name: string, attributes: Readonly<Record<string, string>>): void => {
    const { lines, tables } = part;
    if (name === "a") links.open(attributes["href"]);
    if (name === "br") lines.break(1);
    if (name === "img") addPicture(attributes);
    if (name === "input") lines.add(valueOf(attributes));
    if (BLOCKS.has(name)) lines.break(SPACED_BLOCKS.has(name) ? 2 : 1);
    if (BLOCKS.has(name) && !IN_ITEM_LINE.has(name)) lines.leaveMark();
    tables.open(name, attributes);
    if (name === "blockquote" && quote !== undefined) openQuote(part, quote);
    if (name === "dd" && afterTerm) lines.joinNext();
    if (name === "dd" || name === "dt") afterTerm = false;
    if (name === "figure") figure = { hasCaption: false };
    if (name === "figcaption" && figure !== undefined) figure.hasCaption = true;
    if (name === "pre") preformatted += 1;
    if (name === "ul" || name === "ol") lists.push(listOf(name, attributes));
    if (name === "li") lines.openItem(markOf(lists.at(-1), attributes["value"]));
    if (/^h[1-6]$/.test(name)) lines.add(`${headingMark(Number(name[1]))} `);
    if (name === "main" && part === page && main === null && mainFrom === -1)
      mainFrom = lines.length();
  };
  const handler: Handler = {
    onopentag(name, attributes) {
      if (open.length >= MOST_DEPTH) throw new TooDeep();
      const outer = top();
      const isUnread =
        outer.isUnread || (UNREAD.has(name) && !isKept(name)) || isRepeatedContent(attributes);
      const isHidden = hasZeroSize(attributes) ?? outer.isHidden;
      const isFaint = isHidden && !outer.isHidden;
      if ((isFaint || isHiddenBy(attributes)) && !outer.isUnread && !UNREAD.has(name))
        isInHidden = true;
      const own = SHIFTS.get(name) ?? shiftOf(styleOf(attributes));
      const shift = own ?? shiftByClass(attributes["class"], shifts) ?? outer.shift;
      open.push({ isUnread: isUnread || isHiddenBy(attributes), isHidden, shift });
      inStyle = name === "style";
      if (!outer.isUnread && PICTURES.has(name)) leftOut.pictures += 1;
      if (!outer.isUnread && name === "math") leftOut.formulas += 1;
      if (!outer.isUnread && name === "iframe") leftOut["embedded pages"] += 1;
      if (name === "title" && title === "") inTitle = true;
      if (name === "base") links.rebase(attributes["href"]);
      if (top().isUnread) return;
      if (isKept(name) && part === page) openBeside(name);
      openRead(name, attributes);
    },
    ontext(text) {
      if (inTitle) title += text;
      if (inStyle) for (const [name, shift] of shiftsIn(text)) shifts.set(name, shift);
      const { isUnread, isHidden, shift } = top();
      if (inTitle) return;
      if (isUnread || isHidden) {
        if (!isInHidden || text.trim() === "") return;
        leftOut["hidden passages"] += 1;
        isInHidden = false;
        return;
      }
      links.text(text);
      const shown = markShifted(text, shift);
      if (preformatted > 0) part.lines.preformatted(shown);
      else part.lines.add(shown.replaceAll(/\s+/g, " "));
    },
    onclosetag(name) {
      if (name === "title") inTitle = false;
      inStyle = false;
      const wasUnread = top().isUnread;
      open.pop();
      if (!top().isUnread && !top().isHidden) isInHidden = false;
      if (wasUnread) return;
      if (open.length < besideDepth) {
        part = page;
        besideDepth = 0;
      }
      const { lines, tables } = part;
      if (name === "a") links.close();
      if (name === "pre") preformatted = Math.max(0, preformatted - 1);
      if (name === "ul" || name === "ol") lists.pop();
      if (name === "figure") {
        if (figure?.hasCaption === false) addWords(figure.words ?? "");
        figure = undefined;
      }
      if (name === "dt") afterTerm = true;
      if (name === "dd") lines.separate();
      if (name === "li") lines.leaveMark();
      tables.close(name);
      if (name === "blockquote") quotes.pop()?.();
      if (BLOCKS.has(name)) lines.break(SPACED_BLOCKS.has(name) ? 2 : 1);
      if (name === "main" && mainFrom !== -1 && part === page)
        main ??= lines.text(mainFrom, lines.length());
    },
  };
  return {
    handler,
    page() {
      const inMain = main ?? "";
      const shown =
        inMain.length >= FEWEST_MAIN_CHARS ? inMain : page.lines.text(0, page.lines.length());
      const aside = apart.lines.text(0, apart.lines.length());
      const words = firstCodePoints(title.replaceAll(/\s+/g, " ").trim(), MOST_TITLE_CHARS);
      return {
        kind: "text",
        title: words === "" ? null : words,
        text: [shown, aside].filter((text) => text !== "").join("\n\n"),
        links: links.found(),
        leftOut: Object.fromEntries(Object.entries(leftOut).filter(([, count]) => count > 0)),
      };
    },
  };
}

const MOST_ALT_CHARS = 300;

type NumberedList = { next: number; readonly mark: (value: number) => string };

function listOf(
  name: string,
  { start, type = "1" }: Readonly<Record<string, string>>,
): NumberedList {
  const first = Number(start ?? 1);
  return {
    next: Number.isInteger(first) ? first : 1,
    mark: name === "ol" ? (value) => `${listNumber(value, type)}. ` : () => "- ",
  };
}

function markOf(list: NumberedList | undefined, value: string | undefined): string {
  if (list === undefined) return "- ";
  const own = Number(value ?? NaN);
  const number = Number.isInteger(own) ? own : list.next;
  list.next = number + 1;
  return list.mark(number);
}

/** The value of a form field. */
function valueOf({ type = "text", value = "", ...rest }: Readonly<Record<string, string>>): string {
  if (/^(?:checkbox|radio)$/i.test(type)) return "checked" in rest ? "☑ " : "☐ ";
  return /^(?:text|email|tel|url|number|date|time|month|week|datetime-local)$/i.test(type)
    ? value.slice(0, MOST_ALT_CHARS)
    : "";
}

const HIDING = /(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)/i;
const SIZE = /font-size\s*:\s*(?:(0*(?:\.0*)?)(?:[a-z]{1,4}|%)?(?![\d.])|\S)/i;

/** The rule of a class in a style sheet. */
const RULES = /\.([\w-]{1,60})\s{0,9}\{([^{}]{0,1000})\}/g;

const SHIFTS: ReadonlyMap<string, Shift> = new Map([
  ["s", "struck"],
  ["strike", "struck"],
  ["del", "struck"],
  ["sup", "raised"],
  ["sub", "lowered"],
]);

/** The classes of a style sheet, each with raised, lowered, struck or none. */
export const shiftsIn = (sheet: string): readonly (readonly [name: string, Shift])[] =>
  [...sheet.matchAll(RULES)].map(([, name = "", rule = ""]) => [name, shiftOf(rule)]);

const shiftByClass = (classes: string | undefined, shifts: Shifts): Shift =>
  classes === undefined || shifts.size === 0
    ? undefined
    : classes
        .slice(0, 2_000)
        .split(/\s+/)
        .map((one) => shifts.get(one))
        .find(Boolean);

/** Whether a style raises or lowers letters; LibreOffice does it with `top` and a part of their height. */
function shiftOf(style: string): Shift {
  if (/\btext-decoration(?:-line)?\s*:[^;]*\bline-through\b/i.test(style)) return "struck";
  const place = /vertical-align\s*:\s*(super|sub)\b|\btop\s*:\s*(-?)[\d.]+em\b/i.exec(style);
  if (place === null) return undefined;
  return place[1] === "super" || place[2] === "-" ? "raised" : "lowered";
}

const styleOf = (attributes: Readonly<Record<string, string>>): string =>
  (attributes["style"] ?? "").slice(0, 2_000);

/** Whether the element is invisible to readers. */
const isHiddenBy = (attributes: Readonly<Record<string, string>>): boolean =>
  "hidden" in attributes || HIDING.test(styleOf(attributes));

/** Whether the element repeats other text, or is the same on every page. */
const isRepeatedContent = (attributes: Readonly<Record<string, string>>): boolean =>
  attributes["aria-hidden"] === "true" || attributes["role"] === "navigation";

/** Whether letters of an element have size zero; undefined if it sets no size. A nested element may set one again. */
function hasZeroSize(attributes: Readonly<Record<string, string>>): boolean | undefined {
  const size = SIZE.exec(styleOf(attributes));
  return size === null ? undefined : /\d/.test(size[1] ?? "");
}

/** Bounds the length, because each href is resolved against the base. */
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
