import { normaliseText } from "../../../shared/normalise-text.ts";

/**
 * The values that a number may be meant as, as plain decimals: "1,200", "1 200", "1'200" and "1200.0" are 1200,
 * "1.200" is 1.2 or 1200, "3,5" is 3.5; "4.2.1" stands for itself. Signs are kept. Text, so that no digits are lost.
 */
export function readNumber(spelled: string): string[] {
  const text = normaliseText(spelled).replace(/[−–]/g, "-").replace(/\s/g, " ");
  const sign = text.startsWith("-") ? "-" : "";
  const digits = text.slice(sign.length);
  const marks = digits.replace(/\d/g, "");
  const parts = digits.split(/[.,'’ ]/);
  return valuesOf(parts, marks).map((value) => sign + value);
}

function valuesOf(parts: readonly string[], marks: string): string[] {
  const [first = "", ...rest] = parts;
  const last = rest.at(-1);
  if (last === undefined) return [plain(first, "")];
  const mark = marks.slice(-1);
  const isGrouped = rest.every((part) => part.length === 3) && first.length <= 3;
  if (rest.length === 1) {
    if (mark === " " || mark === "'" || mark === "’") return [plain(first + last, "")];
    if (!isGrouped || first === "0") return [plain(first, last)];
    return mark === "," ? [plain(first + last, "")] : [plain(first, last), plain(first + last, "")];
  }
  const isOneMark = marks === mark.repeat(marks.length);
  if (isOneMark) {
    const isIndian = mark === "," && last.length === 3 && rest.slice(0, -1).every(isPair);
    return isGrouped || isIndian ? [plain(parts.join(""), "")] : [parts.join(mark)];
  }
  const whole = parts.slice(0, -1).join("");
  return marks.indexOf(mark) === marks.length - 1 ? [plain(whole, last)] : [parts.join(".")];
}

const isPair = (part: string): boolean => part.length === 2;

/** Without zeros that mean nothing. */
function plain(whole: string, fraction: string): string {
  let start = 0;
  while (start < whole.length - 1 && whole.charAt(start) === "0") start += 1;
  let end = fraction.length;
  while (end > 0 && fraction.charAt(end - 1) === "0") end -= 1;
  const decimals = fraction.slice(0, end);
  return whole.slice(start) + (decimals === "" ? "" : `.${decimals}`);
}

/** A number times ten to a power, as a plain decimal. */
export function scaleNumber(value: string, power: number): string {
  const sign = value.startsWith("-") ? "-" : "";
  const [whole = "", fraction = "", ...more] = value.slice(sign.length).split(".");
  if (more.length > 0) return value;
  const digits = fraction.padEnd(power, "0");
  return sign + plain(whole + digits.slice(0, power), digits.slice(power));
}
