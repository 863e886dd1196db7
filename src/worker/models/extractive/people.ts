import type { EvidenceBlock } from "../model.ts";
import { once } from "../../../shared/once.ts";
import { allWordFiles, anyOf } from "../../../shared/text/word-lists.ts";
import type { WordFile } from "../../../shared/text/word-lists.ts";
import type { Language } from "../../../shared/text/language.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import { isGivenName } from "./given-names.ts";
import {
  addressesTheSorter,
  MOST_QUOTE_CHARS,
  parseDocument,
  sentencesOf,
} from "./document-items.ts";
import type { DocumentItem, DocumentText } from "./document-items.ts";

/** A name of one to four words, with particles such as "von" between them. */
const WORD = String.raw`\p{Lu}(?:\p{L}|['’](?=\p{Lu})|-(?=\p{L})){1,24}`;
export const NAME = String.raw`(?:\p{Lu}\. ){0,2}${WORD}(?: (?:von|van|de|der|den|del|la|le|di|da|du|zu|bin|al) ${WORD}| ${WORD}){0,3}`;

/** Words that begin sentences, and capitalised words that are nobody's name. */
const noNames = once(() => new Set(allWordFiles().flatMap((file) => file.no_names)));
/** Words in the names of firms, places and organisations. */
const bodies = once(() => new Set(allWordFiles().flatMap((file) => file.people.bodies)));

/** Titles and trades that stand before a name. */
const titles = once(() => new Set(allWordFiles().flatMap((file) => file.titles)));

const isNoName = (word: string): boolean => noNames().has(word.toLowerCase());

/**
 * Removes titles and trades from a name: "Fliesenleger Goran Babic", "M. Sarr" in French. Null if nothing is left.
 *
 * @param before the text before it in its sentence
 */
function personIn(found: string, before: string, language: Language | null): string | null {
  const words = (asName(found) ?? "").split(" ");
  const given = words.findIndex(isGivenName);
  const title = words.findLastIndex((word) => isTitle(word, language));
  const isByOrder = ON_BEHALF.test(before) && isInitial(words[0] ?? "");
  // "Redes Amparo": in a language that does not capitalise common nouns, a capitalised word belongs to the name, unless it
  // begins the sentence.
  const isPart = given > title + 1 && language !== "german" && (given > 1 || before.trim() !== "");
  if (isPart && !isInitial(words[0] ?? "")) return null;
  return asName(words.slice(Math.max(0, given, title + 1, isByOrder ? 1 : 0)).join(" "));
}

const isTitle = (word: string, language: Language | null): boolean =>
  titles().has(word.toLowerCase()) || (language === "french" && word === "M.");
const isInitial = (word: string): boolean => /^\p{Lu}\.$/u.test(word);

/** Turns a run of capitalised words into a person's name by removing words that open a sentence; null if nothing is left. */
export function asName(found: string): string | null {
  const words = found.split(" ");
  while (words[0] !== undefined && isNoName(words[0])) words.shift();
  while (words.length > 0 && isNoName(words.at(-1) ?? "")) words.pop();
  const name = words.join(" ");
  const isTrade = words.length > 2 && /ing$|ers$/.test(name);
  return name === "" ||
    isTrade ||
    words.some((word) => bodies().has(word) || /^\p{Lu}{2,}$/u.test(word))
    ? null
    : name;
}

type Person = { readonly quote: string; readonly name: string; readonly role: string | null };

/** The least score of a person, and the scores of clues; a name of several words needs less than a single one. */
const ENOUGH = 2;
const SEVERAL_WORDS = 1.5;
const TITLED = 3;
const ACTING = 1.5;
const LISTED = 3;
const NEAR_PERSON = 1;
const GIVEN = 2;

/** The words around names, of all languages. */
const patterns = once(() => {
  const of = (key: keyof WordFile["people"]): string => anyOf(({ people }) => people[key]);
  const before = String.raw`(?:^|[^\p{L}])`;
  return {
    acts: new RegExp(
      String.raw`^(?:'s|’s)?,? (?:and \p{Lu}\p{L}+ )?(?:${of("acts")})(?!\p{L})`,
      "u",
    ),
    called: new RegExp(String.raw`${before}(?:${of("called")})\.? $`, "u"),
    /** Words before a name in a greeting; `attending`: before a signature, or a list of those who attended. */
    greeted: new RegExp(String.raw`${before}(?:${of("greeted")}|@)[, ]?$`, "iu"),
    attending: new RegExp(String.raw`^(?:${of("attending")})\s?:`, "iu"),
    personBefore: new RegExp(String.raw`${before}(?:${of("beside")}) [*_]{0,3}$|[,:(] $`, "u"),
    personAfter: /^(?:,| and |\))/u,
    place: new RegExp(String.raw`${before}(?:${of("places")}) $`, "u"),
    /** "The Harwick Express", "das Blaue Haus": a name behind an article is a thing or an organisation. */
    article: new RegExp(String.raw`${before}(?:${of("articles")}) $`, "iu"),
    /** "The ferry Anna", "le chat Gaston", "the dog, Bruno". */
    thing: new RegExp(String.raw`(?<!\p{L})(?:${of("things")}),? $`, "iu"),
    /** "Felix Baum & Co". */
    firm: new RegExp(String.raw`^ (?:&|${of("and")}) (?:${of("partners")})(?!\p{L})`, "u"),
    role: new RegExp(
      String.raw`^(?:, (?:the |our |a |an )?(?!(?:${of("no_roles")}|\p{Ll}{2,}ing)(?!\p{L}))(?<role>\p{Ll}[\p{L} ]{2,40}?(?: since \d{4})?)(?=[,.;)]|$)| \((?<aside>\p{Ll}[\p{L} ]{2,40})\))`,
      "u",
    ),
    /** "Priya to add", "Jamal, can you", "Marek looks into it". */
    owns: new RegExp(
      String.raw`^(?:,? (?:${TO_DO}|${of("takes_on")})|, (?:${anyOf(({ tasks }) => tasks.calls)})(?!\p{L}))`,
      "u",
    ),
    members: new RegExp(`^(?:${of("members")})$`),
    nameColumn: new RegExp(`^(?:${of("name_columns")})$`, "i"),
    roleColumn: new RegExp(`^(?:${of("role_columns")})$`, "i"),
  };
});

/** An English infinitive, and no place: "to the hall". */
export const TO_DO = String.raw`to (?!(?:the|an?|our|my|be) )\p{Ll}`;
/** A number behind a name, as places have. */
const NUMBERED = /^ \d/u;
const IN_QUOTES = /['"“„«‘‚‹] ?$/u;
/** "i. A.", German for "on behalf of". */
const ON_BEHALF = /(?:^|\s)i\. ?$/u;

type Sighting = {
  readonly name: string;
  readonly quote: string;
  readonly role: string | null;
  readonly score: number;
};

/**
 * Finds people by the form of their names and by the words around them: a title, what they do or say, a role behind a comma, a
 * table of names, the members of the frontmatter. It guesses: a firm named like a person is taken for one.
 */
export function findPeople(evidence: readonly EvidenceBlock[]): Person[] {
  const sightings = evidence.flatMap(({ text }) => {
    const document = parseDocument(text);
    const small = new Set(text.match(/(?<![\p{L}\p{N}])\p{Ll}{3,}/gu) ?? []);
    const words = { small, language: detectLanguage(text) };
    return [
      ...inFrontmatter(document, text),
      ...peopleInTable(document.items).map(asListed),
      ...inText(document, words),
    ];
  });
  return [...byName(sightings).values()];
}

/** Words that the text writes in lower case, and its language. */
type TextWords = { readonly small: ReadonlySet<string>; readonly language: Language | null };

const asListed = (person: Person): Sighting => ({ ...person, score: LISTED });

/** A name and nothing else. */
export const WHOLE_NAME = new RegExp(`^${NAME}$`, "u");

function inFrontmatter({ about }: DocumentText, text: string): Sighting[] {
  return [...about].flatMap(([key, value]) => {
    // Few members name somebody; only for those are the lines searched.
    const whole = patterns().members.test(key) ? WHOLE_NAME.exec(value)?.[0] : undefined;
    const name = whole === undefined ? null : asName(whole);
    if (name === null) return [];
    const quote = text
      .split(/\r\n|\n|\r/)
      .find((line) => line.toLowerCase().startsWith(`${key}:`) && line.includes(value));
    if (quote === undefined) return [];
    return [{ name, quote: quote.trim(), role: key.replaceAll("_", " "), score: LISTED }];
  });
}

/** The first line is the title of the document, and the first line of a longer item may be one: a name there is not "alone". */
function inText({ items }: DocumentText, words: TextWords): Sighting[] {
  return items.flatMap((item, at) => {
    if (item.mark === "heading" || item.mark === "row" || addressesTheSorter(item.text)) return [];
    const sentences = sentencesOf(item);
    const place = at === 0 || sentences.length > 1 ? "among others" : "alone";
    return sentences.flatMap((sentence) => namesIn(sentence, words, place));
  });
}

function namesIn(
  sentence: string,
  { small, language }: TextWords,
  place: "alone" | "among others",
): Sighting[] {
  const around = patterns();
  return [...sentence.matchAll(new RegExp(NAME, "gu"))].flatMap((match) => {
    const name = personIn(match[0], sentence.slice(0, match.index), language);
    if (name === null) return [];
    const start = match.index + match[0].indexOf(name);
    const before = sentence.slice(0, start);
    const after = sentence.slice(start + name.length).replace(/^[*_]{1,3}/, "");
    const words = name.split(" ");
    // The text also writes this word in lower case, so it is a common word.
    if (words.every((word) => small.has(word.toLowerCase()))) return [];
    const groups = around.role.exec(after)?.groups;
    const role = groups?.["role"] ?? groups?.["aside"] ?? null;
    const isPlace = words.length === 1 && around.place.test(before);
    const isThing = words.length > 1 && around.article.test(before);
    const hasNameOfItsOwn =
      around.thing.test(before) || IN_QUOTES.test(before) || around.firm.test(after);
    if (isPlace || isThing || hasNameOfItsOwn || NUMBERED.test(after)) return [];
    const isGreeted =
      around.greeted.test(sentence.slice(0, match.index)) ||
      isTitle(match[0].split(" ")[0] ?? "", language);
    const isListed = around.attending.test(sentence) && /[:,;(] ?$/.test(before);
    const isAlone =
      place === "alone" && sentence.trim().replace(/[,.!]$/, "") === name && words.length < 4;
    const isGiven = isGivenName(words[0] ?? "");
    // German writes all nouns with a capital.
    const isSeveral = words.length > 1 && (language !== "german" || isGiven);
    const isFirst = /^[\s*_"“„(]*$/.test(before) && words.length === 1;
    const score =
      (isSeveral ? SEVERAL_WORDS - 0.5 : 0) +
      (isGiven ? GIVEN : 0) +
      (isInitial(words[0] ?? "") ? SEVERAL_WORDS : 0) +
      (around.called.test(before) || isGreeted ? TITLED : 0) +
      (isListed ? LISTED : 0) +
      (isAlone ? (isSeveral ? SEVERAL_WORDS : NEAR_PERSON) : 0) +
      (isFirst && around.owns.test(after) ? TITLED : 0) +
      (around.acts.test(after) ? (isFirst ? ACTING / 2 : ACTING) : 0) +
      (around.personBefore.test(before) || (words.length > 1 && around.personAfter.test(after))
        ? NEAR_PERSON / 2
        : 0) +
      (role === null ? 0 : NEAR_PERSON) +
      (/^[*_]{0,3}:/.test(after) && isFirst ? NEAR_PERSON : 0);
    return [{ name, quote: firstCodePoints(sentence, MOST_QUOTE_CHARS), role, score }];
  });
}

/** Each person once, in order of appearance; a first name alone is merged into the person with that first name. */
function byName(sightings: readonly Sighting[]): Map<string, Person> {
  const scores = new Map<string, number>();
  for (const { name, score } of sightings) scores.set(name, (scores.get(name) ?? 0) + score);
  const inFullNames = new Set(
    [...scores].flatMap(([name, score]) =>
      name.includes(" ") && score >= SEVERAL_WORDS ? name.split(" ") : [],
    ),
  );
  const people = new Map<string, Person>();
  for (const { name, quote, role } of sightings) {
    const isSingle = !name.includes(" ");
    if ((scores.get(name) ?? 0) < (isSingle ? ENOUGH : SEVERAL_WORDS)) continue;
    if (isSingle && inFullNames.has(name)) continue;
    const known = people.get(name);
    if (known === undefined) people.set(name, { quote, name, role });
    else if (known.role === null && role !== null) people.set(name, { quote, name, role });
  }
  return people;
}

/** The people of tables that have a column for their names. */
const peopleInTable = (items: readonly DocumentItem[]): Person[] =>
  items.flatMap(({ block: { names, cells } }) => {
    const column = names.findIndex((cell) => patterns().nameColumn.test(cell));
    const cell = cells[column] ?? "";
    const name = WHOLE_NAME.test(cell) ? asName(cell) : null;
    const role = cells[names.findIndex((one) => patterns().roleColumn.test(one))] ?? "";
    return name === null ? [] : [{ quote: cell, name, role: role === "" ? null : role }];
  });
