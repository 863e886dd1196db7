import { cleanForTerminal } from "../terminal/styled-text.ts";

/** HTML from `markup`, with all other values escaped. */
export class Html {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

export type Fragment = string | number | Html | readonly Html[];

/** Template tag that escapes each value, unless it is Html already. */
export const markup = (strings: TemplateStringsArray, ...values: readonly Fragment[]): Html =>
  new Html(
    strings
      .map((text, index) => `${text}${index < values.length ? textOf(values[index] ?? "") : ""}`)
      .join(""),
  );

function textOf(value: Fragment): string {
  if (value instanceof Html) return value.toString();
  if (typeof value === "string") return escapeHtml(value);
  return typeof value === "number" ? String(value) : value.map(String).join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes a text for content and quoted attributes. Control and bidi characters become visible, and can't reorder the page. */
export const escapeHtml = (text: string): string =>
  cleanForTerminal(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
