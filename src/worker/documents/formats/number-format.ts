/** What a format of numbers says of a cell: whether its number is a day, a share or a duration, and the unit that stands beside it. */
export type NumberStyle =
  | { readonly kind: "number"; readonly before: string; readonly after: string }
  | { readonly kind: "percent" }
  /** Leading zeros, as of a postcode. */
  | { readonly kind: "padded"; readonly digits: number }
  | { readonly kind: "day" | "time" | "day and time" }
  /** A duration in hours, minutes or seconds, which may be more than a day. */
  | { readonly kind: "elapsed"; readonly largest: "h" | "m" | "s"; readonly hasSeconds: boolean };

export const GENERAL: NumberStyle = { kind: "number", before: "", after: "" };

const styles = (kind: "day" | "time", ids: readonly number[]): [number, NumberStyle][] =>
  ids.map((id) => [id, { kind }]);

/** The formats that every program knows by number. */
export const KNOWN_STYLES: ReadonlyMap<number, NumberStyle> = new Map<number, NumberStyle>([
  ...styles("day", [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]),
  ...styles("time", [18, 19, 20, 21, 32, 33, 34, 35, 45, 47]),
  [9, { kind: "percent" }],
  [10, { kind: "percent" }],
  [22, { kind: "day and time" }],
  [46, { kind: "elapsed", largest: "h", hasSeconds: true }],
]);

const ELAPSED = /\[([hms])\1*\]/i;
/** A quoted text, an escaped character, a currency with its language, or another mark in brackets, a blank or a filling. */
const LITERAL = /"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*]./g;
const UNIT = /[\p{L}\p{Sc}°]/u;

/** The longest that Excel keeps. */
const MOST_CODE_CHARS = 255;

/** @param code as a workbook writes it, of which the first section, for positive numbers, is taken */
export function numberStyleOf(code: string): NumberStyle {
  const section = /^(?:"[^"]*"|\\.|[^;])*/.exec(code.slice(0, MOST_CODE_CHARS))?.[0] ?? "";
  const elapsed = ELAPSED.exec(section)?.[1]?.toLowerCase();
  const letters = section
    .replaceAll(LITERAL, "")
    .replaceAll(/general/gi, "0")
    .toLowerCase();
  if (elapsed === "h" || elapsed === "m" || elapsed === "s") {
    return { kind: "elapsed", largest: elapsed, hasSeconds: letters.includes("s") };
  }
  const hasTime = /[hs]/.test(letters);
  if (/[dy]/.test(letters)) return { kind: hasTime ? "day and time" : "day" };
  if (hasTime) return { kind: "time" };
  if (letters.includes("m")) return { kind: "day" };
  if (letters.includes("%")) return { kind: "percent" };
  if (/^0{2,}$/.test(letters.trim())) return { kind: "padded", digits: letters.trim().length };
  const said = section
    .replaceAll(/general/gi, "0")
    .replaceAll(LITERAL, (_, ...parts: readonly unknown[]) =>
      parts
        .slice(0, 3)
        .map((part) => (typeof part === "string" ? part.replaceAll(/[0#?]/g, "") : ""))
        .join(""),
    );
  const [, before = "", after = ""] = /^([^0#?]*)[0#?](?:.*[0#?])?(.*)$/.exec(said) ?? [];
  return { kind: "number", before: unitOf(before), after: unitOf(after) };
}

const unitOf = (words: string): string =>
  UNIT.test(words) ? words.replaceAll(/^[\s.,]+|[\s.,]+$/g, "") : "";

const DAY_S = 86_400;
/** With a day that never was, 29 February 1900, before all that is counted from here. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const NEVER_WAS = 60;

/** @param start the year that days are counted from */
export function numberText(value: string, style: NumberStyle, start: 1900 | 1904): string {
  const number = Number(value);
  if (value.trim() === "" || !Number.isFinite(number)) return value;
  switch (style.kind) {
    case "number": {
      const unit = style.after === "" ? "" : ` ${style.after}`;
      const space = /\p{L}$/u.test(style.before) ? " " : "";
      return `${style.before}${space}${plain(number)}${unit}`;
    }
    case "percent":
      return `${plain(number * 100)}%`;
    case "padded":
      return plain(number).padStart(style.digits, "0");
    case "elapsed":
      return durationText(Math.round(number * DAY_S), style);
    case "day":
    case "time":
    case "day and time":
      return dateText(number, style.kind, start) ?? plain(number);
  }
}

/** Programs show 15 digits: what binary fractions leave behind them is nobody's figure. */
const plain = (number: number): string => String(Number(number.toPrecision(15)));

const two = (part: number): string => String(Math.floor(part)).padStart(2, "0");

/** `36:30`, of minutes alone `2190:00`. */
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
