import { wordsOf } from "./words.ts";

/** Those who do things, where they are not named. Also by the endings that names of trades have behind an article. */
const ROLES =
  /(?<!\p{L})(?:team|crew|board|committee|council|company|police|staff|members?|everybody|everyone|nobody|family|parents|people|students|Vorstand|Mannschaft|Polizei|Firma|Familie|Eltern|Mitglieder|Kundin|Kunde|Leitung|Kasse|niemand|alle|équipe|entreprise|mairie|maire|famille|parents|personne|membres|equipo|empresa|alcalde(?:sa)?|policía|familia|padres|nadie|miembros|encargad[oa])(?!\p{L})/iu;
const TRADE =
  /(?<!\p{L})(?:the|an?|der|die|den|dem|des|vom|ein|eine[mnrs]?|le|la|les|un|une|du|au|el|los|las|una|del|al|our|unser(?:e[mnrs]?)?|notre|nuestr[oa]|by|von|par|por) (?:\p{Ll}{2,20} )?(?!number|water|order|paper|letter|other|matter|weather|winter|summer|river|corner|computer|printer|door|floor|colour|color|motor|error|doctor's)\p{L}{2,20}(?:er|ers|or|ors|ist|ists|ian|ians|man|men|woman|keeper|erin|orin|istin|ärtin|innen|eur|eurs|euse|ien|iens|ier|ière|ero|era|eros|ista|istas|dor|dora|dores|tor|tora)(?!\p{L})/u;
/** "A marmot had", "by the neighbours": somebody whom only what he does makes one. */
const DOER =
  /(?<!\p{L})(?:an?|the|une?|un|una) (?:\p{Ll}{2,20} )?\p{Ll}{2,20} (?:had|has|have|did|will|a|ont|avait|ha|han|había) |(?<!\p{L})(?:by|von|par|por) (?:an?|the|our|eine[mr]|de[mnr]|une?|les?|una?|los|las) \p{L}{2,20}/u;
const CAPITALISED = /(?<![\p{L}\p{N}'’])(\p{Lu}[\p{L}\p{N}'’.-]{0,30})/gu;
/** German writes every noun with a capital: behind such a word it is a common one. */
const DETERMINED =
  /(?<!\p{L})(?:de[rmns]|das|die|ein|eine[mnrs]?|kein(?:e[mnrs]?)?|am|im|zum|zur|vom|beim|ins|ans|aufs|mein(?:e[mnrs]?)?|sein(?:e[mnrs]?)?|ihr(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|diese[mnrs]?|jede[mnrs]?|alle[mnr]?|mit|ohne|für|auf|in|an|aus|nach|zu|um|pro|je|\p{Ll}{2,20}(?:e[nrsm]?)|\d[\d.,]*) $/u;
const TITLED = /(?<!\p{L})(?:Herrn?|Frau|Familie|Firma|Dr\.|Prof\.|Pastor|Kapitän) $/u;
const GERMAN =
  /(?<!\p{L})(?:der|die|das|und|ist|ein|eine|nicht|mit|wurde|hat|wird|im|am|auf|von|zu[mr]?)(?!\p{L})/gu;
const NO_NAME = new Set(
  `monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
   november december montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember
   nacht tag tage woche monat jahr uhr euro eur prozent stunden minuten the a an this that these those it he she they we you i in
   on at by for from to with as if when while after before there here his her their its our my your some all each every no not
   der die das ein eine es er sie wir ich ihr im am bei mit von nach vor seit wenn als und oder aber auch nur le la les un une des
   il elle ils elles on nous vous je dans pour par sur avec mais et ou el los las una unos en con por para sin su sus se ya`.split(
    /\s+/,
  ),
);

/**
 * Whether a sentence names somebody or something that the question does not: a name by its capitals (in a German sentence
 * also by what stands before it). The first word of a sentence alone proves nothing.
 */
export function holdsNewName(text: string, asked: ReadonlySet<string>): boolean {
  const isGerman = [...text.slice(0, 400).matchAll(GERMAN)].length >= 2;
  for (const match of text.matchAll(CAPITALISED)) {
    const found = match[1] ?? "";
    const [first = ""] = wordsOf(found);
    if (first.length < 2 || asked.has(first) || NO_NAME.has(first)) continue;
    const before = text.slice(Math.max(0, match.index - 40), match.index);
    const isFirst = /(?:^|[.!?:] |["“„«(*_-] ?)$/u.test(before);
    const after = text.slice(match.index + found.length, match.index + found.length + 40);
    const isFollowed = /^ \p{Lu}/u.test(after);
    if (isFirst && !isFollowed && !ACTS.test(after)) continue;
    if (isGerman && !TITLED.test(before) && !isFollowed && DETERMINED.test(before)) continue;
    return true;
  }
  return false;
}

const ACTS =
  /^(?:'s|’s)?,? (?:\p{Ll}{2,20}(?:s|ed|t|te|é|ait|a|ó)|will|can|did|took|made|won|led|ran|wrote|began|gave|built|and|und|et|y|hat|wird)(?!\p{L})/u;

/** Whether it names somebody, or tells whose trade or part it is. */
export const holdsPerson = (text: string, asked: ReadonlySet<string>): boolean =>
  holdsNewName(text, asked) ||
  withoutAsked(text, asked).some((part) => [ROLES, TRADE, DOER].some((shape) => shape.test(part)));

/** A role that the question itself names is none that it asks for. */
const withoutAsked = (text: string, asked: ReadonlySet<string>): string[] => {
  const words = text.split(" ");
  const kept = words.map((word) => (asked.has(wordsOf(word)[0] ?? "") ? "|" : word));
  return kept.join(" ").split("|");
};
