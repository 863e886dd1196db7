import type { EvidenceBlock } from "../model.ts";
import { addressesTheSorter, parseDocument, sentencesOf } from "./document-items.ts";
import type { DocumentItem } from "./document-items.ts";
import { RECIPIENT, SENDER } from "../../text/mail-header.ts";
import { wordsOf } from "../../text/content-words.ts";
import { once } from "../../../shared/once.ts";
import { anyOf } from "../../../shared/text/word-lists.ts";
import type { WordFile } from "../../../shared/text/word-lists.ts";
import { datesIn, deadlineIn } from "./dates.ts";
import { asName, findPeople, NAME, TO_DO, WHOLE_NAME } from "./people.ts";

type Action = {
  readonly quote: string;
  readonly action: string;
  readonly owner: string | null;
  readonly due: string | null;
};

const TASK_MARK =
  /^[*_]{0,3}(?:todo|to[- ]do|action(?: items?)?|next steps?|follow[- ]?up|to settle|fixme|open|aufgabe|zu erledigen|offen|nächster? schritte?|wiedervorlage|à faire|reste à faire|pendientes?|por hacer|tarea)[*_]{0,3}(?: ?\([^()]{2,60}\)| \p{Lu}\p{L}{1,20})?\s?:[*_]{0,3}\s?/iu;
const TASK_HEADING =
  /^(?:open )?(?:actions?|action items?|to[- ]?dos?|next steps?|follow[- ]?ups?|tasks?|(?:offene )?(?:aufgaben|punkte)|nächste schritte|zu erledigen|maßnahmen)\b/i;
const REQUEST =
  /^(?:please|kindly|bitte|merci de|veuillez(?! (?:agréer|recevoir|croire))|rogamos|por favor|pense[zs]? à|remember to|wir bitten um|(?:would|could|can|will) you (?:please )?(?!believe|imagine|hear|see|say)|kannst du|könntest du|können sie|peux-tu|pouvez-vous|¿?puedes|¿?podrías)(?!\p{L})|^@[\p{L}\p{N}._-]{2,30}[:,]? |^[^,.:;?!]{3,60} bitte (?!nicht)|(?:, | )(?:please|por favor|s['’]il (?:te|vous) plaît)[.!]?$/iu;
/** "Jamal, can you", "Magnus, forward it". */
const SPOKEN_TO =
  /^(?:and )?\p{Lu}\p{Ll}{1,20}, (?:can|could|would|will|please|do|kannst|könntest|bitte|peux|pourrais|puedes|podrías|trae|bring|forward|send|I need)(?!\p{L})/u;
/** Promises of the writer. */
const OWN_PROMISE =
  /(?<!\p{L})(?:I['’]ll|I will|I still (?:owe|have to|need to)|we['’]ll|ich (?:kümmere|hole?|bringe?|schicke?|liefere|rufe)|(?:liefere|schicke|bringe) ich|je (?:préviens|m['’]occupe)|j['’](?:envoie|apporte|appelle)|nous vous enverrons|yo (?:mando|llevo|traigo|envío))(?!\p{L})(?! (?:be|have|not|never)(?!\p{L}))/iu;
/** "Kofi to book the hall". */
const NAMED_TO = new RegExp(String.raw`^(${NAME}) to (?!the |a |an |our |my |be )\p{Ll}`, "u");
/** "Marek looks into it", "Rachid le raccourcit", and the future of French and Spanish. */
const DOINGS =
  "look|take|send|bring|order|collect|confirm|book|review|check|pay|write|call|ask|buy|prepare|phone|ring|fetch|tell|draft|repair|replace|contact|print|post|mail|email|supply|inform|update|clean|paint|finish|deliver|arrange|organise|organize|invite|report|sign|forward";
const NAMED_DOES = new RegExp(
  String.raw`^(?:(?:Herr|Frau|Mr|Mrs|Ms|Mme|M\.|Hausmeister) )?(?<who>${NAME}) (?:le |la |les )?(?:will (?:${DOINGS})|(?:${DOINGS.replace("fetch", "fetche")})s|schickt|bringt|prüft|holt|fragt|legt|schreibt|besorgt|bestellt|sieht|liefert|ruft|kauft|envoie|apporte|prévient|raccourcit|prépare|appelle|achète|manda|trae|prepara|compra|llama|pide|envía|\p{Ll}{3,20}(?:era|ira|rá))(?!\p{L})`,
  "u",
);
const AGREED =
  /(?<!\p{L})(?:has (?:agreed|promised|offered) to|(?<!(?<!\p{L})(?:I|we) )(?:promised|agreed) to|hat (?:versprochen|zugesagt)|s['’]est engagée? à|se ha comprometido a)(?!\p{L})/u;
/** Tasks that are left open, whoever does them. */
const LEFT_OPEN =
  /(?<!\p{L})(?:(?:still )?(?:has|have|is|are|needs?) (?:still )?to be \p{Ll}{2,20}(?:ed|en|t|ne|de)|muss(?:en)? noch|müssen noch|(?:ist|sind) (?:\p{L}+ ){0,5}?(?:zu \p{Ll}{3,20}en|\p{Ll}{2,8}zu\p{Ll}{3,20}en)|(?:est|sont|restent?) (?:encore )?à \p{Ll}{3,20}(?:er|ir|re)|il faut encore|hay que|tiene que|est[áa]n? por)(?!\p{L})/iu;
const RESPONSIBLE =
  /(?<!\p{L})(?:responsible|owner|assigned to|verantwortlich|zuständig|kümmert sich|responsable)\s?:\s?\p{Lu}/iu;
/** A day relative to the day of reading. */
const SOON = new RegExp(
  String.raw`(?<!\p{L})(?:(?:on|am|le|el|bis|by|until|before|avant|pour|d['’]ici|antes del) )?(?<day>today|tonight|tomorrow|next (?:week|time|month|\p{Lu}\p{Ll}+day)|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|heute|morgen|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tag|Mittwoch|demain|ce soir|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|mañana|lunes|martes|miércoles|jueves|viernes|sábado|domingo)(?!\p{L})`,
  "u",
);
const OBLIGATION =
  /\b(?:must(?! be (?!\w{2,20}(?:ed|en|id|ne|nt|ght)\b))|has to|have to|needs? to|shall|should|is to|are to|is due|are due|takes? care of|is responsible|muss|müssen|soll|sollen|ist zu|sind zu|kümmert sich|übernimmt|zuständig)\b/i;
const PROMISE =
  /\b(?:will|offers? to|promises? to|agrees? to|is going to|wird|werden|verspricht)\b/i;
const TO_BE_DONE = /\bto be \p{Ll}{2,20}(?:ed|en|t|ne|de)(?!\p{L})/u;
const PAST = /\b(?:was|were|wurde|wurden|said no)\b/i;
/** A duty of everybody is a rule, and a duty in the past is done. */
const NO_TASK =
  /\?$|^should|\b(?:had to|would have|if|when|whoever|whenever|always|never|nobody|each|every|everybody|falls|wenn|wer|immer|nie|jeder)\b/i;
/** The clause of a contract, which applies permanently. */
const SECTION = /^(?:§|\d+\.\d)/;

/**
 * Finds what somebody still has to do: open checkboxes, items under a heading of tasks, lines with "TODO:" and similar,
 * requests, and sentences that oblige a named person or set a deadline. Ticked boxes and rules for everybody are skipped.
 * English and German, and the most common forms of French and Spanish.
 */
export function findActions(evidence: readonly EvidenceBlock[]): Action[] {
  const seen = new Set<string>();
  const known = new Set(findPeople(evidence).flatMap(({ name }) => name.split(" ")));
  return evidence
    .flatMap(({ text }) => {
      const { items, about } = parseDocument(text);
      const letter = letterOf(items, about);
      return items
        .flatMap((item) => actionsIn(item, known))
        .map((action) => withOwner(action, letter));
    })
    .filter(({ quote }) => !seen.has(quote) && seen.add(quote));
}

/** Writer and reader of a letter, from its first and last lines. */
type Letter = { readonly writer: string | null; readonly reader: string | null };

const GREETING = new RegExp(
  String.raw`^(?:[Dd]ear|Hi|Hello|Hey|Hallo|Liebe[r]?|Sehr geehrter? (?:Herr|Frau)|Bonjour|Salut|Ch[eè]re?|Hola|Querid[oa]|Estimad[oa])(?: (?:Mr|Mrs|Ms|Dr|Madame|Monsieur|Sra?\.?))?,? (${NAME})[,!.]?(?: |$)`,
  "u",
);
/** "Note for Ada: …", "Frau Tuva Lindqvist, Lindenweg 3". */
const ADDRESSED: readonly RegExp[] = [
  new RegExp(
    String.raw`^(?:Notiz|Nachricht|Note|Message|Mot|Nota|Mensaje) (?:für|an|for|to|pour|à|para) (${NAME}):`,
    "u",
  ),
  new RegExp(
    String.raw`^(?:Herrn?|Frau|Mr|Mrs|Ms|Mme|Madame|Monsieur|M\.|Señora?|Sra?\.) (${NAME}),`,
    "u",
  ),
];
const SIGNED = new RegExp(
  String.raw`^(?:(?:Best|Kind regards|Regards|Love|Thanks|Viele Grüße|Lieben Gruß|Gruß|Dein|Deine|Cordialement|Bises|Saludos|Un abrazo)(?: (?:from|von|de))?,? )?(${NAME})(?:, \p{L}[\p{L} -]{2,30})?[,.]?$`,
  "u",
);
/** The writer of minutes: "Taking notes: Arjun Mehta.", "Abdoulaye (toma notas)". */
const NOTED_BY: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:^|[.;,] ?)(?:[Tt]aking notes|[Nn]otes(?: by)?|[Mm]inutes(?: by)?|[Mm]inute[- ]taker|[Pp]rotokoll(?:führung)?|[Ss]chriftführer(?:in)?|[Vv]erfasst von|[Rr]édaction|[Rr]édigé par|[Ss]ecrétaire|[Aa]cta|[Rr]edacta|[Tt]oma notas)\s?: (${NAME})(?=[.,;)]|$)`,
    "u",
  ),
  new RegExp(
    String.raw`(${NAME}) \((?:taking notes|minutes|notes|Protokoll|toma notas|acta|secrétaire|compte rendu)\)`,
    "u",
  ),
];
/** Closings and greetings that look like a name: "Best,", "Bises", "Hallo Silas". */
const CLOSING =
  /^(?:Best|Bises|Love|Cheers|Thanks|Regards|Gruß|Grüße|Viele|Liebe[nr]?|Hallo|Hi|Hola|Bonjour|Merci|Gracias|Nächste)(?!\p{L})/u;
/** A signature stands in the last lines, and an address in the first. */
const LAST_LINES = 4;
const FIRST_LINES = 3;
/** The lines of minutes that list who attended. */
const HEAD_LINES = 20;

function letterOf(items: readonly DocumentItem[], about: ReadonlyMap<string, string>): Letter {
  const named = (list: readonly DocumentItem[], shapes: readonly RegExp[]): string | null =>
    list
      .flatMap(({ text }) => shapes.map((shape) => asName(shape.exec(text)?.[1] ?? "")))
      .find((name) => name !== null && !CLOSING.test(name)) ?? null;
  // With several recipients nobody is the only reader.
  const inHeader = (member: RegExp): string | null =>
    [...about]
      .map(([key, value]) => (member.test(key) ? asName(WHOLE_NAME.exec(value)?.[0] ?? "") : null))
      .find((name) => name !== null) ?? null;
  return {
    reader:
      named(items, [patterns().greeting]) ??
      inHeader(RECIPIENT) ??
      named(items.slice(0, FIRST_LINES), patterns().addressed),
    writer:
      inHeader(SENDER) ??
      named(items.slice(0, HEAD_LINES), patterns().notedBy) ??
      named(items.slice(1).slice(-LAST_LINES), [patterns().signed]),
  };
}

/** "I'll send it" is a task of the writer, and "please send it" one of the reader. */
function withOwner(action: Action, { writer, reader }: Letter): Action {
  if (action.owner !== null) return action;
  if (patterns().promise.test(action.quote)) return { ...action, owner: writer };
  return patterns().request.test(action.quote) ? { ...action, owner: reader } : action;
}

type KnownNames = ReadonlySet<string>;

function actionsIn(item: DocumentItem, known: KnownNames): Action[] {
  const { text, mark, heading, leadIn } = item;
  if (mark === "done" || mark === "row" || mark === "heading" || patterns().done.test(text))
    return [];
  if (addressesTheSorter(text)) return [];
  const marked = TASK_MARK.exec(text)?.[0];
  // "Todo:" alone is no task: the items below it are.
  if (marked !== undefined && marked.trim() === text) return [];
  if (mark === "open") return [actionOf(text, text.slice(marked?.length ?? 0), known)];
  if (marked !== undefined) return markedActions(item, marked, known);
  const isListed =
    patterns().heading.test(heading) ||
    patterns().mark.test(`${leadIn}:`) ||
    patterns().heading.test(leadIn);
  if (mark === "item" && isListed) return [actionOf(text, text, known)];
  return clausesOf(item).flatMap((clause) =>
    isTask(clause, known) ? [actionOf(clause, clause, known)] : [],
  );
}

/** "TODO: …" is a task whatever it says; each further sentence of its paragraph is tested by itself. */
function markedActions(item: DocumentItem, marked: string, known: KnownNames): Action[] {
  return clausesOf(item).flatMap((clause, at) => {
    if (at > 0) return isTask(clause, known) ? [actionOf(clause, clause, known)] : [];
    const words = clause.startsWith(marked) ? clause.slice(marked.length) : clause;
    const isTold = patterns().past.test(clause) || wordsOf(words).length < 2;
    return isTold
      ? []
      : [
          {
            ...actionOf(clause, words, known),
            owner: ownerOf(words, known) ?? ownerOf(clause, known),
          },
        ];
  });
}

/** A sentence that only names who is responsible belongs to the sentence before. */
const OWNER_ONLY = /^(?:responsible|owner|verantwortlich|zuständig|kümmert sich|responsable)\s?:/i;

/** The sentences of an item, split at semicolons. */
function clausesOf(item: DocumentItem): string[] {
  const clauses: string[] = [];
  for (const sentence of sentencesOf(item).flatMap((one) => one.split(/(?<=;) /))) {
    const last = clauses.at(-1);
    if (last === undefined || !patterns().ownerOnly.test(sentence)) clauses.push(sentence);
    else clauses[clauses.length - 1] = `${last} ${sentence}`;
  }
  return clauses;
}

function isTask(sentence: string, known: KnownNames): boolean {
  if (REQUEST.test(sentence) || SPOKEN_TO.test(sentence)) return true;
  if (NO_TASK.test(sentence) || SECTION.test(sentence)) return false;
  if (RESPONSIBLE.test(sentence)) return true;
  if (NAMED_TO.test(sentence) && asName(NAMED_TO.exec(sentence)?.[1] ?? "") !== null) return true;
  if (AGREED.test(sentence) || OWN_PROMISE.test(sentence)) return true;
  if (LEFT_OPEN.test(sentence)) return true;
  const isLimited = deadlineIn(sentence) !== null;
  const isDated = isLimited || datesIn(sentence).length > 0 || patterns().soon.test(sentence);
  if (patterns().does.test(sentence)) return isDated;
  if (patterns().duty.test(sentence)) {
    return isLimited || patterns().soon.test(sentence) || ownerOf(sentence, known) !== null;
  }
  if (TO_BE_DONE.test(sentence)) return isDated;
  return patterns().intent.test(sentence) && ownerOf(sentence, known) !== null && isDated;
}

/** Removes marks of emphasis, which come in pairs around words; within a word, or in code, they are part of it. */
const withoutEmphasis = (words: string): string =>
  words.replace(
    /`([^`]{1,300})`|(?<![\p{L}\p{N}_*])([*_]{1,3})(?=\S)([^*_`]{1,300}?)(?<=\S)\2(?![\p{L}\p{N}_*])/gu,
    (whole: string, code?: string, _marks?: string, emphasised?: string) =>
      code ?? emphasised ?? whole,
  );

function actionOf(quote: string, words: string, known: KnownNames): Action {
  const action = withoutEmphasis(words).trim();
  const inBrackets = /\(([^()]{3,60})\)[.\s]*$/.exec(words)?.[1] ?? "";
  const named = patterns().does.test(words);
  const isOfFuture =
    named || patterns().duty.test(words) || patterns().intent.test(words) || TO_BE_DONE.test(words);
  return {
    quote: quote.slice(0, 1_900),
    action: (action === "" ? words.trim() : action).slice(0, 1_900),
    owner: ownerOf(words, known),
    due:
      deadlineIn(words) ??
      datesIn(inBrackets)[0] ??
      (isOfFuture ? datesIn(words)[0] : null) ??
      patterns().soon.exec(words)?.[0] ??
      null,
  };
}

const VERB =
  "(?:will|must|has to|have to|needs? to|shall|should|is to|are to|offers? to|promises? to|agrees? to|takes? care|is responsible|muss|müssen|soll|sollen|wird|werden|übernimmt|kümmert|tiene que|tienen que|debe|deben|doit|doivent)";

/** Where a task names its owner, the surest places first; a `doubtful` group may match a common word. Every repeat is bounded. */
const PLACES: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:[Oo]wner|[Rr]esponsible|[Aa]ssigned to|[Aa]ssignee|[Zz]uständig|[Vv]erantwortlich|[Ww]er)[:\s*_]{1,4}(?<who>${NAME})`,
    "u",
  ),
  new RegExp(String.raw`(?:[Rr]esponsable|[Kk]ümmert sich)[:\s*_]{1,4}(?<who>${NAME})`, "u"),
  new RegExp(String.raw`^(?:TODO|[Aa]ction)(?: | ?\()(?<who>${NAME})(?=[:,)])`, "u"),
  NAMED_DOES,
  new RegExp(String.raw`(?:→|->|=>)\s?(?<who>${NAME})`, "u"),
  new RegExp(String.raw`(?<![\p{L}\p{N}])@(?<who>[\p{L}\p{N}._-]{2,30})`, "u"),
  new RegExp(String.raw`\((?<who>${NAME})(?:[,;][^()]{1,40})?\)[.\s]*$`, "u"),
  new RegExp(String.raw`^[*_]{0,3}(?<doubtful>${NAME})[*_]{0,3}:`, "u"),
  new RegExp(
    String.raw`^[*_]{0,3}(?<doubtful>${NAME}(?: (?:and|und|&) ${NAME})?)(?:, [^,]{1,40},)? ${VERB}(?!\p{L})`,
    "u",
  ),
  new RegExp(
    String.raw`^(?:(?:and|und|et|y) )?(?<who>${NAME})(?: to (?!the |a |our )\p{Ll}|, (?:can|could|would|will|please|kannst|könntest|bitte|peux|puedes|trae|bring|forward|send|I need)(?!\p{L})| (?:has agreed|has promised|promised|agreed))`,
    "u",
  ),
  new RegExp(
    String.raw`(?<=[\p{Ll},:;] )(?<!(?<!\p{L})(?:[Tt]he|an?|[Dd]er|[Dd]ie|[Dd]as|den|dem|[Aa]m|[Ii]m|zum|zur|[Ee]ine?) )(?<who>${NAME}(?: (?:and|und|&) ${NAME})?)(?:, [^,]{1,40},|, (?:who|der|die))? ${VERB}(?!\p{L})`,
    "u",
  ),
  /(?<!\p{L})(?:The|the|Der|der|Die|die|Das|das) (?<who>(?:\p{Ll}{2,20} )?(?:treasurer|secretary|chair|cook|manager|board|committee|team|crew|technician|engineer|editor|author|auditor|auditors|members?|tenant|landlord|supplier|customer|contractor|Vorstand|Kassier|Leiter(?:in)?|Koch|Köchin|Mieter(?:in)?|Vermieter(?:in)?|Kundin|Kunde|Lieferant)) (?:will|must|has to|have to|shall|should|is to|are to|muss|müssen|soll|sollen|wird)/u,
];

/** "The toe board must be mounted", "die Matte muss ersetzt werden": the subject of a passive does nothing itself. */
const PASSIVE =
  /^ (?:be|\p{Ll}+ be) \p{Ll}|^(?: [^;,]{1,80})? (?:\p{Ll}*ge\p{Ll}{2,}|(?:be|er|ver|zer|ent)\p{Ll}{2,}(?:t|en)|\p{Ll}+iert) werden(?!\p{L})/u;
const ENDS_IN_DUTY =
  / (?:must|has to|have to|needs? to|shall|should|is to|are to|muss|müssen|soll|sollen)$/;

const isDoneTo = (text: string, { 0: words, index }: RegExpExecArray): boolean =>
  patterns().endsInDuty.test(words) && PASSIVE.test(text.slice(index + words.length));

/**
 * The person who has to do a task; null if the task names nobody.
 * @param known words of names elsewhere in the document: a `doubtful` single word is an owner only if it is one of them
 */
function ownerOf(text: string, known: ReadonlySet<string>): string | null {
  for (const place of patterns().places) {
    const match = place.exec(text);
    const { who, doubtful } = match?.groups ?? {};
    const found = who ?? doubtful;
    if (match === null || found === undefined) continue;
    if (isDoneTo(text, match)) continue;
    const names = found
      .split(patterns().names)
      .map((name) => (/^\p{Lu}/u.test(name) ? asName(name) : name));
    const owners = names.flatMap((name) => (name === null ? [] : [name]));
    const isSure =
      doubtful === undefined || owners.every((name) => name.includes(" ") || known.has(name));
    if (owners.length === names.length && isSure) return owners.join(" and ");
  }
  return null;
}
