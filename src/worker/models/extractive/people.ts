import type { EvidenceBlock } from "../model.ts";
import { once } from "../../../shared/once.ts";
import { allWordFiles, anyOf } from "../../../shared/text/word-lists.ts";
import type { WordFile } from "../../../shared/text/word-lists.ts";
import type { Language } from "../../../shared/text/language.ts";
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
const NO_PERSON =
  /(?:^| )(?:Hut|House|Hotel|Street|Road|Square|Valley|Mountain|Lake|River|Church|School|Bank|Company|Cooperative|Club|Board|Assembly|Meeting|Contract|Committee|Council|Office|Department|Station|Airport|University|Institute|Association|Society|Group|Team|Room|Store|Kitchen|GmbH|AG|Ltd|Inc|LLC|Sankt|Saint|San|Santa|St|Bad|Ober|Unter|Mühle|Sennerei|Rösterei|Elektro|Seilbau|Luftfracht|Handel|Insurance|Versicherung|Genossenschaft|Verein|Museum|Foundation|Stiftung|Verlag|Werft|Reederei|Ministry|Ministerium|Amt|Gericht|Kanzlei|Klinik|Clinic|Hospital|Krankenhaus|Praxis|Apotheke|Pharmacy|Bakery|Bäckerei|Brewery|Brauerei|Logistics|Logistik|Shipping|Freight|Spedition|Solutions|Systems|Software|Technologies|Technik|Industries|Industrie|Services|Partners|Consulting|Holding|Energy|Energie|Electric|Media|Press|Times|Union|Federation|Verband|League|Party|Choir|Chor|Orchestra|Orchester|Theatre|Theater|Cinema|Kino|Library|Bibliothek|Café|Cafe|Restaurant|Inn|Pension|Harbour|Harbor|Port|Hafen|Marina|Shipyard|Works|Werke|Stadtwerke|Sons|Söhne|Brothers|Gebrüder|SA|SL|SARL|SAS|BV|NV|KG|OHG|SpA|Srl|Corp|Corporation|Trust|Fund|Agency|Agentur|Authority|Behörde|Bureau|Centre|Center|Zentrum|Academy|Akademie|College|Instituto|Institut|Escuela|École|Mairie|Ayuntamiento|Rathaus|Gemeinde|Republic|Express|Lines|Airlines|Railway|Ferry|Fähre|Straße|Gasse|Platz|Weg|Act|Law|Solicitors|Notaries|Publishing|Publishers|Robotics|Instruments|Tours|Charters|Security|Refrigeration|Supplies|Foods|Nurseries|Nursery|Court|Keramik|Reisen|Netze|Hofladen|Blumen|Firma|Busfirma|Hostal|Librería|Editorial|Asociación|Traiteur|Timber|Cloud|Data|Project|Projekt|Proyecto|Projet|Mount|Cape|Farm|Gardens?|Salon|Kita|Translation|Catering|Büro|Rigging|Plumbing|Engineering|Printing|Roofing|Gardening|Lighting|Rigging|Plumbing|Engineering|Printing|Büro|Panadería|Boulangerie|Garage|Ferretería|Carpintería|Talleres|Transportes?|Construcciones|Seguros|Assurances?|Immobilien|Bau|Druck|Druckerei|Schreinerei|Tischlerei|Gärtnerei|Metzgerei|Autohaus|Workshop|Studio|Studios|Design|Designs|Gallery|Galerie|Stores?|Shop|Market|Markt|Foundry|Mills?|Motors|Marine|Laboratories|Labs?|Labor)(?: |$)/u;

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

const ACTS =
  /^(?:'s|’s)?,? (?:and \p{Lu}\p{L}+ )?(?:says?|said|asks?|asked|answers?|answered|writes?|wrote|thinks?|thought|tells?|told|called|calls|opens?|opened|offers?|offered|loads?|walked?|walks|wishes|will|has|had|is|was|knows?|knew|found|takes?|took|signs?|signed|gave|gives|wants?|sagt|sagte|fragt|fragte|schreibt|schrieb|meint|wird|hat|hatte|ist|war|a|est|doit|va|dit|demande|écrit|propose|envoie|signe|apporte|prépare|pense|ha|es|está|debe|dice|dijo|pide|escribe|propone|envía|firma|trae|prepara|avisa|tiene)(?!\p{L})/u;
const TITLE_BEFORE =
  /(?:^|[^\p{L}])(?:Dr|Prof|Mr|Mrs|Ms|Herr|Frau|Hr|Fr|M|Mme|Mlle|Sr|Sra|Srta|Dña|Don|Doña|se llama|s['’]appelle|heißt|is called)\.? $/u;
/** Words before a name in a greeting. ATTENDING: before a signature, or a list of those who attended. */
const GREETED =
  /(?:^|[^\p{L}])(?:dear|hi|hello|hey|hallo|lieber?|sehr geehrter?(?: herr| frau)?|bonjour|salut|chère?|hola|querid[oa]|estimad[oa]|buenos días|guten (?:tag|morgen)|@)[, ]?$/iu;
const ATTENDING =
  /^(?:present|attending|attendees|in attendance|anwesend|teilnehmer(?:innen)?|présents?|asistentes|presentes|apologies|signed|author|contact|owner|responsible|verantwortlich|ansprechpartner(?:in)?|responsable|approved|client|patient(?:in)?|traveller|tenant|borrower|name)\s?:/iu;
const PERSON_BEFORE =
  /(?:^|[^\p{L}])(?:by|with|ask|asks|call|and|from|von|mit|und) [*_]{0,3}$|[,:(] $/u;
const PERSON_AFTER = /^(?:,| and |\))/u;
/** Words before a place. NUMBERED: a number behind a name. */
const PLACE_BEFORE = /(?:^|[^\p{L}])(?:in|at|near|from|to|above|below|of|aus|nach|bei|in|zu|ab) $/u;
/** "The Harwick Express", "das Blaue Haus": a name behind an article is a thing or an organisation. */
const ARTICLE_BEFORE = /(?:^|[^\p{L}])(?:the|a|an|das|les|los|las|el|la|le|unser|unsere|our) $/iu;
const NUMBERED = /^ \d/u;
/** "The ferry Anna", "calle Elena Duarte", "le chat Gaston", "the dog, Bruno": the name of a thing, a place or an animal. */
const NAMED_THING_BEFORE = new RegExp(
  String.raw`(?<!\p{L})(?:${[
    "ship|boat|yacht|ferry|vessel|trawler|tug|schooner|barge|house|villa|cottage|hut|cabin|hall|school|club|street|road|bridge|square|prize|trophy|cup|project|model|brand|variety|novel|book|film|storm|hurricane|dog|cat|kitten|puppy|horse|pony|donkey|goat|cow|sheep|parrot|bakery|nursery|workshop|firm|company|printer",
    "Schiff|Boot|Jolle|Fähre|Kutter|Haus|Villa|Hütte|Halle|Schule|Verein|Straße|Brücke|Platz|Preis|Pokal|Projekt|Modell|Marke|Sorte|Roman|Buch|Film|Sturm|Hund|Katze|Kater|Pferd|Pony|Esel|Ziege|Kuh|Schaf|Bäckerei|Druckerei|Gärtnerei|Werkstatt|Firma|Übersetzungsbüro|Praxis",
    "navire|bateau|voilier|yacht|ferry|péniche|maison|villa|salle|école|lycée|collège|club|pétanque|rue|avenue|boulevard|pont|place|quai|stade|prix|trophée|coupe|projet|modèle|marque|variété|roman|livre|film|tempête|chien|chienne|chat|chatte|cheval|poney|âne|chèvre|vache|boulangerie|librairie|menuiserie|pépinière|atelier|société|entreprise|garage",
    "barco|buque|velero|yate|ferry|casa|villa|sala|escuela|colegio|instituto|club|calle|avenida|puente|plaza|paseo|estadio|premio|trofeo|copa|proyecto|modelo|marca|variedad|novela|libro|película|tormenta|perro|perra|gato|gata|caballo|yegua|burro|cabra|vaca|oveja|panadería|librería|carpintería|taller|empresa|imprenta",
  ].join("|")}),? $`,
  "iu",
);
const IN_QUOTES = /['"“„«‘‚‹] ?$/u;
/** "Felix Baum & Co". */
const FIRM_AFTER =
  /^ (?:&|und|and|et|y) (?:Co|Cie|Söhne|Sons|Sohn|Son|Fils|Hijos|Partner|Brothers)(?!\p{L})/u;
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
    return [{ name, quote: sentence.slice(0, MOST_QUOTE_CHARS), role, score }];
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

const NAME_COLUMN = /^(?:name|who|person|wer|people|contact|kontakt)$/i;
const ROLE_COLUMN = /^(?:role|does|function|job|position|rolle|aufgabe|funktion|task)$/i;

/** People in tables that have a column of names. */
const peopleInTable = (items: readonly DocumentItem[]): Person[] =>
  items.flatMap(({ block: { names, cells } }) => {
    const column = names.findIndex((cell) => patterns().nameColumn.test(cell));
    const cell = cells[column] ?? "";
    const name = WHOLE_NAME.test(cell) ? asName(cell) : null;
    const role = cells[names.findIndex((one) => patterns().roleColumn.test(one))] ?? "";
    return name === null ? [] : [{ quote: cell, name, role: role === "" ? null : role }];
  });
