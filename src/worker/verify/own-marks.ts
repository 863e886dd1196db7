import { applyEdits } from "../text/clean-text.ts";
import { plainForm } from "../text/plain-form.ts";
import type { PlainForm } from "../text/plain-form.ts";
import type { TextSpan } from "../text/spans.ts";

/** A text that resembles a mark around evidence or a draft. whole: it is only a mark, and can be removed. */
type OwnMark = TextSpan & { readonly extent: "whole" | "unknown" };

const KEYWORD = "(?:evidence|end|draft)(?![\\p{L}])";
const NUMBER = "[[【]\\s{0,4}\\d{1,9}\\s{0,4}[\\]】]";
const VALUE = '(?:["“„«][^"”“»\\n]{0,2000}["”“»]?|[^\\s<>‹›"“„«][^\\s<>‹›]{0,2000})';
const MEMBER = `(?:path|heading)\\s{0,3}[=:]\\s{0,3}${VALUE}`;
/** The items of a mark behind its keyword. */
const ITEMS = `(?:[^\\p{L}\\p{N}\\n<>‹›[【"“„«]{0,4}(?:[0-9a-f]{2,64}(?![\\p{L}\\p{N}])|${NUMBER}|${MEMBER})){0,8}`;
const CLOSE = "(?<close>[ \\t\"'”]{0,4}[>›≫⋙](?:\\s{0,2}[>›≫⋙]){0,30})?";

const THREE = "(?:⋘|[<‹≪](?:\\s{0,2}[<‹≪]){2,30})";
const FEW = "[<‹≪](?:\\s{0,2}[<‹≪])?";
const QUOTE = "[«《⟨⟪]";
const GAP = "[^\\p{L}\\p{N}\\n<‹]{0,8}";

/** Beginnings of a mark, in a text in plain form. Every repeat is bounded. */
const BEGINNINGS = [
  `${THREE}${GAP}${KEYWORD}`,
  // Fewer brackets make a mark only together with the items of a mark.
  `${FEW}${GAP}${KEYWORD}(?=${GAP}(?:[0-9a-f]{8,64}(?![\\p{L}\\p{N}])|(?:${NUMBER}\\s{0,3})?path\\s{0,3}[=:]))`,
  `${FEW}${GAP}(?:evidence|draft)(?=${GAP}${NUMBER})`,
  `${QUOTE}${GAP}${KEYWORD}(?=${GAP}(?:[0-9a-f]{8,64}(?![\\p{L}\\p{N}])|(?:${NUMBER}\\s{0,3})?path\\s{0,3}[=:]))`,
  `(?<![\\p{L}\\p{N}])${KEYWORD}(?=[^\\p{L}\\p{N}\\n]{1,6}[0-9a-f]{16,64}(?![\\p{L}\\p{N}]))`,
  `(?<![\\p{L}\\p{N}])(?:evidence|draft)(?=[^\\p{L}\\p{N}\\n]{1,6}(?=[a-f]{0,63}\\d)[0-9a-f]{6,64}[^\\p{L}\\p{N}\\n]{1,6}(?<=[[【]\\s{0,4})\\d)`,
  // A number with its path or heading, also where the front was cut off.
  `(?:[[【]\\s{0,4})?(?<!\\p{L})\\d{1,9}\\s{0,4}[\\]】](?=[^\\p{L}\\p{N}\\n]{0,6}(?:path|heading)\\s{0,3}=|\\s{0,20}(?:path|heading)\\s{0,3}[=:]\\s{0,3}["“„«])\\s{0,20}`,
  // The end of a mark whose front is cut off.
  `(?:path|heading)\\s{0,3}=\\s{0,3}["“][^"”\\n]{0,500}["”](?=\\s{0,3}[>›](?:\\s{0,2}[>›]){1,30})`,
  // Anything else between three brackets that holds a piece's number. ⋘ is excluded inside, so that the search stays linear.
  `${THREE}(?=[^\\n<>‹›⋘]{0,400}(?<![\\p{L}\\p{N}])${NUMBER}[^\\n<>‹›]{0,400}[>›](?:\\s{0,2}[>›]){2,30})`,
];
const MARK = new RegExp(
  `(?:${BEGINNINGS.map((source) => `(?:${source})`).join("|")})${ITEMS}${CLOSE}`,
  "giu",
);
/** The rest of a line without any letter or digit. */
const REST_OF_LINE = /^[^\p{L}\p{N}\n]{0,40}(?:\n|$)/u;
const BY_ITSELF = /(?:path|heading)\s{0,3}[=:]/i;

function findOwnMarks(plain: PlainForm): OwnMark[] {
  return [...plain.text.matchAll(MARK)].map(({ 0: found, index, groups }) => {
    const end = index + found.length;
    const isWhole =
      groups?.["close"] !== undefined ||
      BY_ITSELF.test(found) ||
      REST_OF_LINE.test(plain.text.slice(end, end + 50));
    return {
      start: plain.positionOf(index),
      end: plain.positionOf(end - 1) + 1,
      extent: isWhole ? "whole" : "unknown",
    };
  });
}

/** Replaces a removed mark while its line is checked. */
const GONE = "\uE001";
const EMPHASIS = `[*_\`~\\\\]{0,8}`;
const AROUND = new RegExp(`${EMPHASIS}[ \\t]{0,8}${GONE}[ \\t]{0,8}${EMPHASIS}`, "g");

const LIST_NUMBER = /^[\s>*+•-]{0,20}\d{1,3}[.)]/;
/** Numbers of pieces beside a mark alone cite nothing, because the line holds no statement. */
const NUMBERS = new RegExp(NUMBER, "gu");

/**
 * Removes our marks around evidence, drafts and pieces (`<<<EVIDENCE … [1] path="a.md">>>`, `<<<END …`, `[1] path=…`), which
 * models repeat, anywhere in a line, in any letters, whole or cut; and lines that hold nothing else. A text that only resembles
 * a mark stays, and `holdsOwnMark` finds it. Linear.
 */
export function withoutOwnMarks(reply: string): string {
  const text = reply.replaceAll(GONE, "");
  const whole = findOwnMarks(plainForm(text)).filter(({ extent }) => extent === "whole");
  if (whole.length === 0) return text;
  const edits = whole.map(({ start, end }) => ({ start, end, text: GONE }));
  return applyEdits(text, edits)
    .split("\n")
    .flatMap((line) => {
      if (!line.includes(GONE)) return [line];
      const rest = line.replace(AROUND, " ");
      const said = rest.replace(LIST_NUMBER, "").replace(NUMBERS, "");
      return /[\p{L}\p{N}]/u.test(said) ? [rest] : [];
    })
    .join("\n");
}

/** Whether a text still holds something that resembles one of our marks. */
export const holdsOwnMark = (text: string): boolean => findOwnMarks(plainForm(text)).length > 0;
