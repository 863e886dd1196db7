import type { EvidenceBlock } from "../model.ts";
import { addressesTheSorter, parseDocument, sentencesOf } from "./document-items.ts";
import type { DocumentItem } from "./document-items.ts";
import { asName, datesIn, deadlineIn, findPeople, NAME } from "./people.ts";

type Action = {
  readonly quote: string;
  readonly action: string;
  readonly owner: string | null;
  readonly due: string | null;
};

const TASK_MARK =
  /^[*_]{0,3}(?:todo|to[- ]do|action(?: items?)?|next steps?|follow[- ]?up|fixme|open|aufgabe|zu erledigen|offen|nächster? schritte?|wiedervorlage)[*_]{0,3}\s?:[*_]{0,3}\s?/i;
const TASK_HEADING =
  /^(?:open )?(?:actions?|action items?|to[- ]?dos?|next steps?|follow[- ]?ups?|tasks?|(?:offene )?(?:aufgaben|punkte)|nächste schritte|zu erledigen|maßnahmen)\b/i;
const REQUEST = /^(?:please|bitte)\b/i;
const OBLIGATION =
  /\b(?:must(?! be (?!\w{2,20}(?:ed|en|id|ne|nt|ght)\b))|has to|have to|needs? to|shall|should|is to|are to|is due|are due|takes? care of|is responsible|muss|müssen|soll|sollen|ist zu|sind zu|kümmert sich|übernimmt|zuständig)\b/i;
const PROMISE =
  /\b(?:will|offers? to|promises? to|agrees? to|is going to|wird|werden|verspricht)\b/i;
const TO_BE_DONE = /\bto be \p{Ll}{2,20}(?:ed|en|t|ne|de)(?!\p{L})/u;
const PAST = /\b(?:was|were|wurde|wurden|said no)\b/i;
/** What everybody always has to do is a rule, and what was to be done has been. */
const NO_TASK =
  /\?$|\b(?:had to|would have|if|when|whoever|whenever|always|never|nobody|each|every|everybody|falls|wenn|wer|immer|nie|jeder)\b/i;
const DONE = /^(?:done|erledigt|finished|✓|✔|☑)\b/i;

/**
 * What somebody still has to do: boxes that are not ticked, items under a heading of tasks, lines with "TODO:" and the
 * like, requests, and sentences that oblige somebody by name or until a day. What is ticked, and rules for everybody, are
 * left out. English and German.
 */
export function findActions(evidence: readonly EvidenceBlock[]): Action[] {
  const seen = new Set<string>();
  const known = new Set(findPeople(evidence).flatMap(({ name }) => name.split(" ")));
  return evidence
    .flatMap(({ text }) => parseDocument(text).items)
    .flatMap((item) => actionsIn(item, known))
    .filter(({ quote }) => !seen.has(quote) && seen.add(quote));
}

type Known = ReadonlySet<string>;

function actionsIn(item: DocumentItem, known: Known): Action[] {
  const { text, mark, heading, leadIn } = item;
  if (mark === "done" || mark === "row" || mark === "heading" || DONE.test(text)) return [];
  if (addressesTheSorter(text)) return [];
  const marked = TASK_MARK.exec(text)?.[0];
  // "Todo:" alone: the tasks are the items below it.
  if (marked !== undefined && marked.trim() === text) return [];
  if (mark === "open" || (marked !== undefined && !PAST.test(text))) {
    return [actionOf(text, text.slice(marked?.length ?? 0), known)];
  }
  const isListed =
    TASK_HEADING.test(heading) || TASK_MARK.test(`${leadIn}:`) || TASK_HEADING.test(leadIn);
  if (mark === "item" && isListed) return [actionOf(text, text, known)];
  return sentencesOf(item).flatMap((sentence) =>
    isTask(sentence, known) ? [actionOf(sentence, sentence, known)] : [],
  );
}

function isTask(sentence: string, known: Known): boolean {
  if (REQUEST.test(sentence)) return true;
  if (NO_TASK.test(sentence)) return false;
  const isLimited = deadlineIn(sentence) !== null;
  const isDated = isLimited || datesIn(sentence).length > 0;
  if (OBLIGATION.test(sentence)) return isLimited || ownerOf(sentence, known) !== null;
  if (TO_BE_DONE.test(sentence)) return isDated;
  return PROMISE.test(sentence) && ownerOf(sentence, known) !== null && isDated;
}

/** Marks of emphasis come in pairs around words; within a word, or in code, they are part of it. */
const withoutEmphasis = (words: string): string =>
  words.replace(
    /`([^`]{1,300})`|(?<![\p{L}\p{N}_*])([*_]{1,3})(?=\S)([^*_`]{1,300}?)(?<=\S)\2(?![\p{L}\p{N}_*])/gu,
    (whole: string, code?: string, _marks?: string, emphasised?: string) =>
      code ?? emphasised ?? whole,
  );

function actionOf(quote: string, words: string, known: Known): Action {
  const action = withoutEmphasis(words).trim();
  const inBrackets = /\(([^()]{3,60})\)[.\s]*$/.exec(words)?.[1] ?? "";
  const isOfFuture = OBLIGATION.test(words) || PROMISE.test(words) || TO_BE_DONE.test(words);
  return {
    quote: quote.slice(0, 1_900),
    action: (action === "" ? words.trim() : action).slice(0, 1_900),
    owner: ownerOf(words, known),
    due:
      deadlineIn(words) ??
      datesIn(inBrackets)[0] ??
      (isOfFuture ? datesIn(words)[0] : null) ??
      null,
  };
}

const VERB =
  "(?:will|must|has to|have to|needs? to|shall|should|is to|are to|offers? to|promises? to|agrees? to|takes? care|is responsible|muss|müssen|soll|sollen|wird|werden|übernimmt|kümmert)";

/** Where a task says whose it is, surest first; behind `doubtful` a common word may stand. Every repeat is bounded. */
const PLACES: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:[Oo]wner|[Rr]esponsible|[Aa]ssigned to|[Aa]ssignee|[Zz]uständig|[Vv]erantwortlich|[Ww]er)[:\s*_]{1,4}(?<who>${NAME})`,
    "u",
  ),
  new RegExp(String.raw`(?:→|->|=>)\s?(?<who>${NAME})`, "u"),
  new RegExp(String.raw`(?<![\p{L}\p{N}])@(?<who>[\p{L}\p{N}._-]{2,30})`, "u"),
  new RegExp(String.raw`\((?<who>${NAME})(?:[,;][^()]{1,40})?\)[.\s]*$`, "u"),
  new RegExp(String.raw`^[*_]{0,3}(?<doubtful>${NAME})[*_]{0,3}:`, "u"),
  new RegExp(
    String.raw`^[*_]{0,3}(?<doubtful>${NAME}(?: (?:and|und|&) ${NAME})?)(?:, [^,]{1,40},)? ${VERB}(?!\p{L})`,
    "u",
  ),
  new RegExp(
    String.raw`(?<=[\p{Ll},:;] )(?<who>${NAME}(?: (?:and|und|&) ${NAME})?)(?:, [^,]{1,40},|, (?:who|der|die))? ${VERB}(?!\p{L})`,
    "u",
  ),
  /(?<!\p{L})(?:The|the|Der|der|Die|die|Das|das) (?<who>(?:\p{Ll}{2,20} )?(?:treasurer|secretary|chair|cook|manager|board|committee|team|crew|technician|engineer|editor|author|auditor|auditors|members?|tenant|landlord|supplier|customer|contractor|Vorstand|Kassier|Leiter(?:in)?|Koch|Köchin|Mieter(?:in)?|Vermieter(?:in)?|Kundin|Kunde|Lieferant)) (?:will|must|has to|have to|shall|should|is to|are to|muss|müssen|soll|sollen|wird)/u,
];

/**
 * Who has to do a task, as it says; null where it names nobody.
 * @param known words of names that the document has elsewhere: a single word that opens a sentence is an owner only there
 */
function ownerOf(text: string, known: ReadonlySet<string>): string | null {
  for (const place of PLACES) {
    const { who, doubtful } = place.exec(text)?.groups ?? {};
    const found = who ?? doubtful;
    if (found === undefined) continue;
    const names = found
      .split(/ (?:and|und|&) /)
      .map((name) => (/^\p{Lu}/u.test(name) ? asName(name) : name));
    const owners = names.flatMap((name) => (name === null ? [] : [name]));
    const isSure =
      doubtful === undefined || owners.every((name) => name.includes(" ") || known.has(name));
    if (owners.length === names.length && isSure) return owners.join(" and ");
  }
  return null;
}
