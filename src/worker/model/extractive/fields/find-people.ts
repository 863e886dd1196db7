import type { EvidenceBlock } from "../../../models/model.ts";
import { datesIn } from "./dates-in-text.ts";
import { addressesTheSorter, readDocument, sentencesOf } from "./document-items.ts";
import type { DocumentItem, DocumentText } from "./document-items.ts";
import { asName, NAME } from "./person-names.ts";
import { peopleInTable } from "./people-in-table.ts";

export type Person = {
  readonly quote: string;
  readonly name: string;
  readonly role: string | null;
};
export type NamedDate = { readonly quote: string; readonly date: string; readonly what: string };

/** What speaks for a person; a name of several words needs less than a single one. */
const ENOUGH = 2;
const SEVERAL_WORDS = 1.5;
const TITLED = 3;
const ACTING = 1.5;
const LISTED = 3;
const NEAR_PERSON = 1;

const ACTS =
  /^(?:'s|’s)?,? (?:and \p{Lu}\p{L}+ )?(?:says?|said|asks?|asked|answers?|answered|writes?|wrote|thinks?|thought|tells?|told|called|calls|opens?|opened|offers?|offered|loads?|walked?|walks|wishes|will|has|had|is|was|knows?|knew|found|takes?|took|signs?|signed|gave|gives|wants?|sagt|sagte|fragt|fragte|schreibt|schrieb|meint|wird|hat|hatte|ist|war)(?!\p{L})/u;
const TITLE_BEFORE =
  /(?:^|[^\p{L}])(?:Dr|Prof|Mr|Mrs|Ms|Herr|Frau|Hr|Fr|M|Mme|Mlle|Sr|Sra|Srta|Dña|Don|Doña|se llama|s['’]appelle|heißt|is called)\.? $/u;
const PERSON_BEFORE =
  /(?:^|[^\p{L}])(?:by|with|ask|asks|call|and|from|von|mit|und) [*_]{0,3}$|[,:(] $/u;
const PERSON_AFTER = /^(?:,| and |\))/u;
/** Where something is, and what is numbered. */
const PLACE_BEFORE = /(?:^|[^\p{L}])(?:in|at|near|from|to|above|below|of|aus|nach|bei|in|zu|ab) $/u;
/** "The Harwick Express", "das Blaue Haus": what has an article before its name is a thing or a body. */
const ARTICLE_BEFORE = /(?:^|[^\p{L}])(?:the|a|an|das|les|los|las|el|la|le|unser|unsere|our) $/iu;
const NUMBERED = /^ \d/u;
const ROLE_AFTER =
  /^(?:, (?:the |our |a |an )?(?!(?:who|which|that|with|without|in|on|at|and|or|but|one|two|three|four|now|then|so|for|to|from|because|as|where|when|also|not|no|if|be|\p{Ll}{2,}ing)(?!\p{L}))(?<role>\p{Ll}[\p{L} ]{2,40}?(?: since \d{4})?)(?=[,.;)]|$)| \((?<aside>\p{Ll}[\p{L} ]{2,40})\))/u;

type Sighting = {
  readonly name: string;
  readonly quote: string;
  readonly role: string | null;
  readonly score: number;
};

/**
 * People by the shape of their names and what stands around them: a title, what they do or say, a role behind a comma, a
 * table of names, the members of the frontmatter. It guesses; a firm that is called like a person is taken for one.
 */
export function findPeople(evidence: readonly EvidenceBlock[]): Person[] {
  const sightings = evidence.flatMap(({ text }) => {
    const document = readDocument(text);
    const small = new Set(text.match(/(?<![\p{L}\p{N}])\p{Ll}{3,}/gu) ?? []);
    return [
      ...inFrontmatter(document, text),
      ...peopleInTable(document.items).map(listed),
      ...inText(document, small),
    ];
  });
  return [...byName(sightings).values()];
}

const listed = (person: Person): Sighting => ({ ...person, score: LISTED });

const NAMING_KEYS =
  /^(?:author|owner|keeper|contact|chair|written_by|minutes_by|filed_by|by|from|to|autor|verfasser|von|an|de|para|expéditeur|remitente|absender)$/;

const WHOLE_NAME = new RegExp(`^${NAME}$`, "u");

function inFrontmatter({ about }: DocumentText, text: string): Sighting[] {
  return [...about].flatMap(([key, value]) => {
    // Of all members few name somebody, and the lines are looked through for those alone.
    const whole = NAMING_KEYS.test(key) ? WHOLE_NAME.exec(value)?.[0] : undefined;
    const name = whole === undefined ? null : asName(whole);
    if (name === null) return [];
    const quote = text
      .split(/\r\n|\n|\r/)
      .find((line) => line.toLowerCase().startsWith(`${key}:`) && line.includes(value));
    if (quote === undefined) return [];
    return [{ name, quote: quote.trim(), role: key.replaceAll("_", " "), score: LISTED }];
  });
}

function inText({ items }: DocumentText, small: ReadonlySet<string>): Sighting[] {
  return items
    .filter(({ mark, text }) => mark !== "heading" && mark !== "row" && !addressesTheSorter(text))
    .flatMap(sentencesOf)
    .flatMap((sentence) => namesIn(sentence, small));
}

function namesIn(sentence: string, small: ReadonlySet<string>): Sighting[] {
  return [...sentence.matchAll(new RegExp(NAME, "gu"))].flatMap((match) => {
    const name = asName(match[0]);
    if (name === null) return [];
    const start = match.index + match[0].indexOf(name);
    const before = sentence.slice(0, start);
    const after = sentence.slice(start + name.length).replace(/^[*_]{1,3}/, "");
    const words = name.split(" ");
    // A word that the text also writes small is a common one.
    if (words.every((word) => small.has(word.toLowerCase()))) return [];
    const groups = ROLE_AFTER.exec(after)?.groups;
    const role = groups?.["role"] ?? groups?.["aside"] ?? null;
    const isPlace = words.length === 1 && PLACE_BEFORE.test(before);
    const isThing = words.length > 1 && ARTICLE_BEFORE.test(before);
    if (isPlace || isThing || NUMBERED.test(after)) return [];
    const isFirst = /^[\s*_"“„(]*$/.test(before) && words.length === 1;
    const score =
      (words.length > 1 ? SEVERAL_WORDS - 0.5 : 0) +
      (TITLE_BEFORE.test(before) ? TITLED : 0) +
      (ACTS.test(after) ? (isFirst ? ACTING / 2 : ACTING) : 0) +
      (PERSON_BEFORE.test(before) || (words.length > 1 && PERSON_AFTER.test(after))
        ? NEAR_PERSON / 2
        : 0) +
      (role === null ? 0 : NEAR_PERSON) +
      (/^[*_]{0,3}:/.test(after) && isFirst ? NEAR_PERSON : 0);
    return [{ name, quote: sentence.slice(0, MOST_QUOTE_CHARS), role, score }];
  });
}

/** Each person once, in the order in which they come; a first name alone is the one who has a last name too. */
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

/** The days that a document names, with the sentence that says what happens then. */
export function findDates(evidence: readonly EvidenceBlock[]): NamedDate[] {
  const seen = new Set<string>();
  return evidence
    .flatMap(({ text }) => readDocument(text).items)
    .filter(({ text }) => !addressesTheSorter(text))
    .flatMap((item) => sentencesOf(item).flatMap((sentence) => datesOf(item, sentence)))
    .filter(({ date, quote }) => {
      const key = `${date} ${quote}`;
      return !seen.has(key) && seen.add(key);
    });
}

const MOST_QUOTE_CHARS = 600;
const MOST_WHAT_CHARS = 300;

const datesOf = ({ mark }: DocumentItem, sentence: string): NamedDate[] =>
  datesIn(sentence).map((date) => ({
    quote: sentence.slice(0, MOST_QUOTE_CHARS),
    date,
    what: (mark === "row" ? cellsOf(sentence) : sentence).slice(0, MOST_WHAT_CHARS),
  }));

const cellsOf = (row: string): string =>
  row
    .split("|")
    .map((cell) => cell.trim())
    .filter((cell) => cell !== "")
    .join(", ");
