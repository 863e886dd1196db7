import { citedRanges, inSquareBrackets } from "./cited-numbers.ts";
import { READ_TOOL } from "../../shared/config/tool-presets.ts";
import { visibleText } from "./clean-text.ts";
import { findEndNotes } from "./end-notes.ts";
import { FOOTER_LABEL, FOOTER_MARK, FOOTER_REST } from "./footer-form.ts";
import { FILLER, foldLookAlikes } from "./plain-form.ts";
import { THOUGHT_MARKS } from "./thought-marks.ts";

/** Characters of the tags block and runs of variation selectors: they carry text that no reader sees. */
const SMUGGLED = /[\u{E0000}-\u{E0FFF}]|(?<=[\uFE00-\uFE0F])[\uFE00-\uFE0F]/gu;

/**
 * Makes evidence safe for a prompt: it visibly changes whatever looks like our own protocol, or like the marks that separate
 * speakers in a chat template, so that a document can't open or close a fence, call the tool, forge a citation or a
 * footer, decline in the model's place, or speak in another role. Look-alikes of other scripts and invisible characters
 * are seen through. Idempotent. Linear in the text.
 */
export const neutraliseText = (text: string): string =>
  neutralise(text, [...MARKS_OF_PROTOCOL, ...MARKS_OF_CITATION, markEndNotes]);

/** The same for words of a model about the evidence, but its citations stay. */
export const neutraliseDraft = (text: string): string => neutralise(text, MARKS_OF_PROTOCOL);

function neutralise(text: string, marks: readonly Finder[]): string {
  let shown = visibleText(text).replace(SMUGGLED, "");
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const folded = foldLookAlikes(shown);
    const edits = marks.flatMap((find) => find(folded, shown));
    const edited = apply(shown, edits);
    if (edited === shown) break;
    shown = edited;
  }
  return shown;
}

/** A changed mark may hold another one, which the next pass finds: "(①]" holds "①". */
const MOST_PASSES = 4;

function apply(text: string, edits: ReturnType<Finder>): string {
  const pieces: string[] = [];
  let position = 0;
  let last = -1;
  for (const { at, removes, inserts } of edits.toSorted((one, other) => one.at - other.at)) {
    // Skips edits within replaced text, and edits that change nothing because an earlier pass made them.
    if (at === last || at < position || text.slice(at, at + removes) === inserts) continue;
    pieces.push(text.slice(position, at), inserts);
    position = at + removes;
    last = at;
  }
  pieces.push(text.slice(position));
  return pieces.join("");
}

/** An edit: how many characters to remove at a position, and the text to insert. */
type Edit = { readonly at: number; readonly removes: number; readonly inserts: string };

/** Shows that something was changed here. The comparison of quotes ignores it. */
const DOT = "·";

const HIDDEN = `${FILLER}{0,3}`;

/** A pattern for a word that allows invisible characters between its letters. */
const word = (letters: string): string => Array.from(letters).join(HIDDEN);
const anyOf = (words: string): string => `(?:${words.split(" ").map(word).join("|")})`;

/** Finds the edits for a text; `folded` is the text after `foldLookAlikes`. */
type Finder = (folded: string, text: string) => readonly Edit[];

/** Puts a dot behind each match. */
function insertDot(source: string, flags = "giu"): Finder {
  const pattern = new RegExp(source, flags);
  return (folded) =>
    Array.from(folded.matchAll(pattern), ({ 0: found, index }) => ({
      at: index + found.length,
      removes: 0,
      inserts: DOT,
    }));
}

/** Replaces single characters within each match. */
function replaceCharacters(source: string, characters: Readonly<Record<string, string>>): Finder {
  const pattern = new RegExp(source, "giu");
  return (folded) =>
    Array.from(folded.matchAll(pattern)).flatMap(({ 0: found, index }) =>
      Array.from(found.matchAll(/[^\p{L}\p{N}]/gu)).flatMap((mark) => {
        const inserts = characters[mark[0]];
        return inserts === undefined ? [] : [{ at: index + mark.index, removes: 1, inserts }];
      }),
    );
}

/** Replaces three or more of a mark in a row. */
function replaceRuns(mark: string, by: string): Finder {
  // Bounded, since a match of millions would exhaust the stack of the matcher.
  const pattern = new RegExp(`${mark}(?:${HIDDEN}${mark}){2,200}`, "gu");
  return (folded) =>
    Array.from(folded.matchAll(pattern), ({ 0: found, index }) => ({
      at: index,
      removes: found.length,
      inserts: by.repeat(found.length - found.replaceAll(mark, "").length),
    }));
}

/** Words in angle brackets that separate speakers, thoughts and calls in the templates of common model families. */
const TAGS = anyOf(
  "tool tools tool_call tool_calls tool_response tool_result function function_call function_calls functions invoke " +
    "parameter system user assistant human model developer instruction instructions start_of_turn " +
    "end_of_turn start_of_image end_of_utterance bos eos pad unk mask sep cls channel message return begin_of_text " +
    "end_of_text endoftext im_start im_end eot_id eom_id fim_prefix fim_middle fim_suffix image reasoning reflection sys",
);
const BRACKETED = anyOf(
  "inst sys tool_calls available_tools tool_results tool_content system_prompt args call_id think img prefix suffix middle",
);
const ROLES = anyOf("system assistant user human developer");
const HEADED_ROLES = anyOf("instruction instructions response input tool function observation");

/** Marks of thoughts except `<think`, which has a rule of its own. An answer that quotes one would end there as a thought. */
const THOUGHTS = THOUGHT_MARKS.flatMap(({ open, close }) => [open, close])
  .map((mark) => Array.from(foldLookAlikes(mark), (char) => char.replace(/[|[\]]/, "\\$&")))
  .map(([first = "", ...rest]) => `${first}(?=${HIDDEN}${rest.join(HIDDEN)})`)
  .join("|");

const LEAD = "^[ \\t>*_`#-]{0,40}";
const BEFORE_COLON = `[ \\t*_\`${FILLER}]{0,8}(?=:)`;
const SCOPE = `${word("scope")}(?:${FILLER}|[*_\\s]){0,8}`;

/** Each finds one kind of mark in a text as `foldLookAlikes` gives it. Every repeat is bounded. */
const MARKS_OF_PROTOCOL: readonly Finder[] = [
  // Our fences, and the calls and literals of our protocol.
  replaceRuns("<", "‹"),
  replaceRuns(">", "›"),
  replaceCharacters("[⋘⋙]", { "⋘": "‹", "⋙": "›" }),
  replaceCharacters(anyOf(`tool_call ${READ_TOOL} insufficient_evidence`), { _: DOT }),
  insertDot(`["'“”]${word("type")}["'“”]\\s{0,20}:(?=\\s{0,20}["'“”]${word("enough")})`),
  // The lookbehind is tested only behind the word, not at every position of the text.
  insertDot(`ENOUGH(?<=^[^\\p{L}\\p{N}\\n]{0,20}ENOUGH)(?=[^\\p{L}\\p{N}\\n${DOT}]{0,20}$)`, "gmu"),
  // JSON may write any letter of a call as an escape.
  insertDot("\\\\(?=u00[2-7][0-9a-f])"),
  // Footers.
  insertDot(`${LEAD}${SCOPE}(?=:)`, "gimu"),
  insertDot(`(?<![\\p{L}\\p{N}])${SCOPE}(?=${FOOTER_MARK}${FOOTER_REST})`),
  insertDot(`${FOOTER_LABEL}(?=${FOOTER_MARK}${FOOTER_REST})`),
  insertDot(`snapshot(?=\\s{0,3}[=:]\\s{0,3}[0-9a-f]{16})`),
  // Speakers of chat templates.
  replaceCharacters(`<(?=${HIDDEN}/?${HIDDEN}${word("think")})`, { "<": "‹" }),
  insertDot(
    `<(?=${HIDDEN}(?:[|]|/?${HIDDEN}${TAGS}${HIDDEN}(?:[^\\p{L}]|$)|/?s>|<${HIDDEN}/?sys>))`,
  ),
  insertDot(`(?!<${HIDDEN}/?${HIDDEN}${word("think")})(?:${THOUGHTS})`),
  insertDot(`\\[(?=${HIDDEN}/?${HIDDEN}${BRACKETED}${HIDDEN}\\])`),
  insertDot(`${LEAD}${ROLES}${BEFORE_COLON}`, "gimu"),
  insertDot(`^[ \\t>]{0,8}#{1,6}[ \\t*_]{0,8}${HEADED_ROLES}${BEFORE_COLON}`, "gimu"),
];

/** The same for the citations of an answer. */
const MARKS_OF_CITATION: readonly Finder[] = [
  findCitationEdits,
  insertDot("\\[(?=\\s{0,4}(?:source|quelle)\\s{0,4}:)"),
  insertDot("\\[(?=\\s{0,4}[0-9a-f]{32}(?:[\\s|#:,;]|\\]))"),
  insertDot("\\[(?!·)(?=[^[\\]\\n]{1,250}\\.[\\p{L}\\p{N}]{1,8}\\s{0,4}(?:#|\\](?!\\()))"),
  insertDot("\\[(?=\\[[\\p{L}\\p{N}][^[\\]\\n]{0,250}\\]\\])"),
  insertDot("(?<=\\[)\\[(?=[\\p{L}\\p{N}][^[\\]\\n]{0,250}\\]\\])"),
];

const NUMBERS = new RegExp(`^[\\p{Nd}\\s,;、–—${FILLER}-]*(?:†|$)`, "iu");

/** Evidence has fewer pieces, so that a larger number cites none. */
const MOST_PIECES = 9_999;

/** Replaces the brackets of `[1]`, `[2, 3]` and the like, which are our citations. */
function findCitationEdits(folded: string): Edit[] {
  return inSquareBrackets(folded)
    .filter(({ inside }) => looksCited(inside))
    .flatMap(({ start, end }) => [
      { at: start, removes: 1, inserts: "(" },
      { at: end - 1, removes: 1, inserts: ")" },
    ]);
}

const looksCited = (inside: string): boolean =>
  (NUMBERS.test(inside) && /\p{Nd}/u.test(inside)) ||
  citedRanges(inside.replaceAll(FILLER, ""), Number.POSITIVE_INFINITY).length > 0;

/** Marks `(1)` and `①` at the end of a sentence, also where `[1]` becomes `(1)`. */
function markEndNotes(folded: string, text: string): Edit[] {
  const rounded = folded.replace(/[[【]/g, "(").replace(/[\]】]/g, ")");
  return findEndNotes(text, rounded, MOST_PIECES).map(({ start, end }) =>
    end - start === 1
      ? { at: end, removes: 0, inserts: DOT }
      : { at: start + 1, removes: 0, inserts: DOT },
  );
}
