import { normaliseText } from "../../../shared/normalise-text.ts";

export type HeadingRule = {
  readonly headingMatch: "exact" | "prefix" | "ignore";
  /** Headings are compared without double blanks and final punctuation. */
  readonly normalizeHeading: boolean;
};

/**
 * The names by which a citation may call what stands under a heading path (`Trip > Train`), the best first. exact: all
 * of it. prefix: also its first headings, each heading by its own title, and nothing, for the file. ignore: whatever
 * is given, which is nothing here.
 */
export function headingNames(headingPath: string | null, rule: HeadingRule): string[] {
  if (rule.headingMatch === "ignore") return [""];
  const titles = (headingPath ?? "").split(" > ").map((title) => comparable(title, rule));
  const whole = titles.join(" > ");
  if (rule.headingMatch === "exact") return [whole];
  const prefixes = titles.map((_, index) => titles.slice(0, index + 1).join(" > "));
  return [whole, ...prefixes.reverse(), ...titles.reverse(), ""];
}

/** What a citation gives as a heading, as names to look up; segments may also part at `#` and a bare `>`. */
export function givenNames(given: string, rule: HeadingRule): string[] {
  if (rule.headingMatch === "ignore" || /^\s*(?:root\s*)?$/i.test(given)) return [""];
  const parted = (mark: string | RegExp): string =>
    given
      .split(mark)
      .map((title) => comparable(title, rule))
      .join(" > ");
  return [parted(" > "), parted(/[>#]/)];
}

function comparable(title: string, { normalizeHeading }: HeadingRule): string {
  if (!normalizeHeading) return title.trim();
  const text = normaliseText(title).replace(/\s+/g, " ").trim();
  let end = text.length;
  while (end > 0 && ":;,.!? ".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
