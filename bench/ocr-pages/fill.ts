import { readFileSync } from "node:fs";
import { join } from "node:path";

export const LANGUAGES = ["en", "de", "fr", "es", "it"] as const;
export type Language = (typeof LANGUAGES)[number];

type Article = { readonly title: string; readonly paragraphs: readonly string[] };

/** A file of texts/: what pages say in one language, with figures to fill in. */
export type Texts = {
  readonly locale: string;
  readonly currency: string;
  readonly iban: string;
  readonly phone: readonly string[];
  readonly postcode: string;
  readonly section: readonly string[];
  readonly sender: readonly string[];
  readonly recipient: readonly string[];
  readonly regards: readonly string[];
  readonly reference: string;
  readonly place: string;
  readonly page: string;
  readonly stamps: readonly (readonly string[])[];
  readonly letters: readonly {
    readonly subject: string;
    readonly paragraphs: readonly string[];
  }[];
  readonly articles: readonly Article[];
  readonly tables: readonly {
    readonly title: string;
    readonly columns: readonly string[];
    readonly types: readonly string[];
    readonly rows: readonly string[];
  }[];
  readonly invoice: Readonly<Record<InvoiceWord, string>> & Lists<"columns" | "items">;
  readonly receipt: Readonly<Record<ReceiptWord, string>> & Lists<"shops" | "items">;
  readonly form: {
    readonly title: string;
    readonly fields: readonly (readonly [label: string, value: string])[];
    readonly note: string;
  };
};

type Lists<Key extends string> = Readonly<Record<Key, readonly string[]>>;
type InvoiceWord =
  "title" | "number" | "date" | "customer" | "net" | "vat" | "total" | "pay" | "ask";
type ReceiptWord = "sum" | "cash" | "change" | "vat" | "number" | "till" | "thanks" | "ask";

export const readTexts = (language: Language): Texts =>
  JSON.parse(readFileSync(join(import.meta.dirname, "texts", `${language}.json`), "utf8")) as Texts;

export type Fill = {
  /** From 0 to below a number. */
  readonly below: (most: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
  /** A figure of a kind, such as `date`. */
  readonly figure: (kind: string) => string;
  readonly amount: (value: number) => string;
  readonly money: (value: number) => string;
  /** HTML of a text of texts/. */
  readonly html: (text: string) => string;
};

/** A figure is never broken at the end of a line, so that it has one place. */
export const whole = (figure: string): string => `<span class="n">${figure}</span>`;

/** Figures as the language writes them. A no-break space stands where a figure goes on, as in an IBAN. */
export function openFill(texts: Texts, random: () => number): Fill {
  const below = (most: number) => Math.floor(random() * most);
  const between = (least: number, most: number) => least + below(most - least);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const digits = (count: number) => Array.from({ length: count }, () => below(10)).join("");
  const format = (value: number, options: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat(texts.locale, options).format(value).replaceAll("\u202F", "\u00A0");
  const amount = (value: number) =>
    format(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const money = (value: number) => format(value, { style: "currency", currency: texts.currency });
  const expand = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (_, kind: string) => figure(kind));
  const glued = (text: string) => expand(text).replaceAll(" ", "\u00A0");
  const day = () => new Date(Date.UTC(between(2019, 2027), below(12), between(1, 29)));
  const kinds: Readonly<Record<string, () => string>> = {
    amount: () => amount(below(400_000) / 100),
    area: () => `${format(between(12, 900), {})}\u00A0m²`,
    big: () => format(between(1_000, 90_000), { useGrouping: "always" }),
    date: () =>
      random() < 0.15
        ? day().toISOString().slice(0, 10)
        : day().toLocaleDateString(texts.locale, {
            dateStyle: pick(["long", "short", "medium"] as const),
            timeZone: "UTC",
          }),
    dec: () => format(between(11, 999) / 10, { minimumFractionDigits: 1 }),
    digit: () => String(between(2, 10)),
    iban: () => glued(texts.iban),
    int: () => String(between(100, 1_000)),
    money: () => money(pick([40, 900, 20_000, 1_000_000]) * (0.1 + random())),
    no: () =>
      expand(pick(["RE-{year}-0{d4}", "SO-{d4}{d}", "{d4}/{year}", "K{d2}-{d4}B", "{d4}{d4}"])),
    pct: () =>
      format(between(2, 995) / 1_000, { style: "percent", maximumFractionDigits: pick([0, 1]) }),
    phone: () => glued(pick(texts.phone)),
    post: () => expand(texts.postcode),
    section: () => expand(pick(texts.section)),
    small: () => String(between(10, 100)),
    time: () =>
      `${String(between(6, 22)).padStart(2, "0")}:${pick(["00", "05", "17", "30", "48"])}`,
    year: () => String(between(1902, 2027)),
  };
  function figure(kind: string): string {
    const count = /^d(\d?)$/.exec(kind);
    if (count !== null) return digits(Number(count[1] === "" ? 1 : count[1]));
    const write = kinds[kind];
    if (write === undefined) throw new Error(`No figure is named ${kind}.`);
    return write();
  }
  const html = (text: string) =>
    text.replace(/\{(\w+)\}/g, (_, kind: string) => whole(figure(kind)));
  return { below, pick, figure, amount, money, html };
}
