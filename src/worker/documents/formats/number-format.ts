/** One section of a number format: a number with words beside it, words alone, a day or time, or a duration. */
type Section =
  | {
      readonly kind: "number";
      readonly before: string;
      readonly after: string;
      /** 100 for per cent; a thousandth for each comma behind the digits. */
      readonly factor: number;
      /** Where each digit of a whole number stands: `000-00-0000`, `"INV-"00000`. Empty if the format has no such mask. */
      readonly mask: string;
    }
  | { readonly kind: "words"; readonly words: string }
  | { readonly kind: "day" | "time" | "day and time" }
  /** A duration in hours, minutes or seconds, which may be more than a day. */
  | { readonly kind: "elapsed"; readonly largest: "h" | "m" | "s"; readonly hasSeconds: boolean };

/** The sections of a format, each with the numbers that it is for. */
export type NumberStyle = readonly {
  readonly section: Section;
  readonly takes: (number: number) => boolean;
  /** False if a section for numbers below zero marks them by words of its own: `50 Cr` has no minus. */
  readonly isSigned: boolean;
}[];

const styles = (code: string, ids: readonly number[]): [number, NumberStyle][] =>
  ids.map((id) => [id, numberStyleOf(code)]);

const ELAPSED = /\[([hms])\1*\]/i;
const CONDITION = /\[([<>]=?|=|<>)(-?[\d.]{1,20})\]/;
/** A quoted text, an escaped character, a currency with its language, a blank or a filling. */
const LITERAL = /"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|[_*]./g;
const UNIT = /[\p{L}\p{Sc}°%‰]/u;

/** The longest format code of Excel. */
const MOST_CODE_CHARS = 255;

/** Literal characters move to a private range, so that no later pattern takes them for codes; `release` moves them back. */
const HELD = /[\uE020-\uE07E]/g;
const HELD_FROM = 0xe0_00;
const hold = (words: string): string =>
  words.replaceAll(/[ -~]/g, (one) => String.fromCharCode(HELD_FROM + one.charCodeAt(0)));
const release = (words: string): string =>
  words.replaceAll(HELD, (one) => String.fromCharCode(one.charCodeAt(0) - HELD_FROM));

/** @param code as a workbook writes it: sections for numbers above, below and at zero, or with conditions */
export function numberStyleOf(code: string): NumberStyle {
  const sections = code
    .slice(0, MOST_CODE_CHARS)
    .replaceAll(LITERAL, (_, ...parts: readonly unknown[]) =>
      hold(parts.slice(0, 3).find((part) => typeof part === "string") ?? " "),
    )
    .split(";")
    .slice(0, 3);
  let first: Section | undefined;
  return sections.map((one, at) => {
    const section = sectionOf(one);
    first ??= section;
    const isOther = unitsOf(section) !== "" && unitsOf(section) !== unitsOf(first);
    return {
      section,
      takes: rangeOf(one, at, sections.length),
      isSigned: /[-(]/.test(one) || !isOther,
    };
  });
}

function rangeOf(section: string, at: number, sections: number): (number: number) => boolean {
  const [, sign = "", limit] = CONDITION.exec(section) ?? [];
  const other = Number(limit);
  if (sign !== "")
    return (number) => sign.includes(number < other ? "<" : number > other ? ">" : "=");
  if (at > 0) return (number) => at === 2 || number < 0;
  return (number) => number > 0 || sections < (number === 0 ? 3 : 2);
}

const unitsOf = (section: Section): string =>
  section.kind === "number" ? `${section.before} ${section.after}`.trim() : "";

function sectionOf(code: string): Section {
  const elapsed = ELAPSED.exec(code)?.[1]?.toLowerCase();
  const shown = code.replaceAll(/\[[^\]]*\]/g, "").replaceAll(/general/gi, "0");
  const letters = shown.replaceAll(HELD, "").toLowerCase();
  if (elapsed === "h" || elapsed === "m" || elapsed === "s") {
    return { kind: "elapsed", largest: elapsed, hasSeconds: letters.includes("s") };
  }
  const hasTime = /[hs]/.test(letters);
  if (/[dy]/.test(letters)) return { kind: hasTime ? "day and time" : "day" };
  if (hasTime) return { kind: "time" };
  if (letters.includes("m")) return { kind: "day" };
  const [, before = "", digits = "", after = ""] = NUMBER.exec(shown) ?? [];
  const words = digits === "" ? unitOf(before) : "";
  if (words !== "") return { kind: "words", words };
  const commas = /^,*/.exec(after)?.[0].length ?? 0;
  return {
    kind: "number",
    before: unitOf(before),
    after: unitOf(after),
    factor: (letters.includes("%") ? 100 : 1) / 1_000 ** commas,
    mask: MASK.test(digits) ? shown.trim() : "",
  };
}

const NUMBER = /^([^0#?]*)([0#?](?:.*[0#?])?)?(.*)$/s;
/** Leading zeros, or other marks between digits than those of thousands and decimals. */
const MASK = /^(?:00|0[^?.,e]|#+[^?.,e#\s/])[^?.,e]*$/i;

/** The unit beside a figure, without minus signs, brackets, and the dash that stands for zero: `$ -`. */
export function unitOf(words: string): string {
  const said = release(words.replaceAll(/[()+-]/g, ""));
  return UNIT.test(said) ? said.replaceAll(/^[\s.,]+|(?: -)?[\s.,]*$/g, "") : "";
}

export const GENERAL: NumberStyle = numberStyleOf("General");

/** The formats that every program knows by number. */
export const KNOWN_STYLES: ReadonlyMap<number, NumberStyle> = new Map<number, NumberStyle>([
  ...styles("d", [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]),
  ...styles("h", [18, 19, 20, 21, 32, 33, 34, 35, 45, 47]),
  ...styles("0%", [9, 10]),
  ...styles("d h", [22]),
  ...styles("[h]:mm:ss", [46]),
]);

const DAY_S = 86_400;
/** Day 0. Excel counts 29 February 1900, which never was, so that days above 60 fit this epoch. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const NEVER_WAS = 60;

/** A number as its style shows it. @param start the year from which days are counted */
export function numberText(value: string, style: NumberStyle, start: 1900 | 1904): string {
  const number = Number(value);
  if (value.trim() === "" || !Number.isFinite(number)) return value;
  const chosen = style.find(({ takes }) => takes(number)) ?? style.at(-1);
  if (chosen === undefined) return plain(number);
  const { section, isSigned } = chosen;
  switch (section.kind) {
    case "number": {
      const digits = plain(Math.abs(number) * section.factor);
      if (section.mask !== "" && number >= 0 && /^\d+$/.test(digits))
        return fillMask(section.mask, digits);
      const { before, after } = section;
      const sign = number < 0 && isSigned ? "-" : "";
      const gap = /\p{L}{2}$/u.test(before) ? " " : "";
      return `${before}${gap}${sign}${digits} ${after}`.replace(/ (?=%|$)/, "");
    }
    case "words":
      return section.words;
    case "elapsed":
      return durationText(Math.round(number * DAY_S), section);
    case "day":
    case "time":
    case "day and time":
      return dateText(number, section.kind, start) ?? plain(number);
  }
}

/** Fills a mask from its last digit: missing digits are zeros where the mask has 0, surplus ones go before the first place. */
function fillMask(mask: string, digits: string): string {
  const places = mask.replaceAll(/[^0#]/g, "").length;
  const padded = digits.padStart(places);
  let next = padded.length - places;
  let more = padded.slice(0, next);
  const filled = mask.replaceAll(/[0#]/g, (place) => {
    const digit = `${more}${padded.charAt(next)}`.trim();
    [more, next] = ["", next + 1];
    return digit === "" && place === "0" ? "0" : digit;
  });
  return release(filled).trim();
}

/** Rounds to 15 digits, as programs show them: digits behind these are rests of binary fractions. */
const plain = (number: number): string => String(Number(number.toPrecision(15)));

const two = (part: number): string => String(Math.floor(part)).padStart(2, "0");

/** A duration, such as `36:30`; in minutes and seconds `2190:00`. */
export function durationText(
  seconds: number,
  { largest, hasSeconds }: { largest: "h" | "m" | "s"; hasSeconds: boolean },
): string {
  const all = Math.abs(seconds);
  const sign = seconds < 0 ? "-" : "";
  if (largest === "s") return `${sign}${all}`;
  if (largest === "m") return `${sign}${two(all / 60)}:${two(all % 60)}`;
  const rest = hasSeconds || all % 60 !== 0 ? `:${two(all % 60)}` : "";
  return `${sign}${Math.floor(all / 3_600)}:${two((all % 3_600) / 60)}${rest}`;
}

function dateText(
  days: number,
  kind: "day" | "time" | "day and time",
  start: 1900 | 1904,
): string | undefined {
  const epoch = start === 1904 ? EPOCH_1904 : EPOCH_1900;
  const shift = start === 1900 && days >= 1 && days < NEVER_WAS ? 1 : 0;
  const date = new Date(epoch + Math.round((days + shift) * DAY_S) * 1_000);
  if (days < 0 || Number.isNaN(date.getTime())) return undefined;
  const [day = "", time = ""] = date.toISOString().slice(0, 19).split("T");
  if (kind === "time" || (days < 1 && start === 1900)) return time;
  return kind === "day" ? day : `${day} ${time}`;
}
