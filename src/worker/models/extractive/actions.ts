import type { EvidenceBlock } from "../model.ts";
import { addressesTheSorter, parseDocument, sentencesOf } from "./document-items.ts";
import type { DocumentItem } from "./document-items.ts";
import { RECIPIENT, SENDER } from "../../text/mail-header.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
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

/** The words of all languages by which a sentence states a task and its owner. */
const patterns = once(() => {
  const of = (key: keyof WordFile["tasks"]): string => anyOf(({ tasks }) => tasks[key]);
  const both = (key: keyof WordFile["tasks"]): string =>
    anyOf(({ tasks }) => tasks[key].flatMap((word) => [word, withCapital(word)]));
  const and = `(?:${anyOf(({ people }) => people.and)}|&)`;
  const owner = String.raw`${NAME}(?: ${and} ${NAME})?`;
  const bound = String.raw`(?:${of("owner_duties")})`;
  /** "Marek looks into it", "Rachid le raccourcit", and the future of French and Spanish. */
  const does = new RegExp(
    String.raw`^(?:(?:${of("titles")}) )?(?<who>${NAME}) (?:le |la |les )?(?:will (?:${of("will_do")})|${of("does")}|\p{Ll}{3,20}(?:era|ira|rá))(?!\p{L})`,
    "u",
  );
  const weekday = anyOf(({ days }) =>
    days.flatMap(([name = ""]) => (name === "" ? [] : [name, withCapital(name)])),
  );
  return {
    mark: new RegExp(
      String.raw`^[*_]{0,3}(?:${of("marks")})[*_]{0,3}(?: ?\([^()]{2,60}\)| \p{Lu}\p{L}{1,20})?\s?:[*_]{0,3}\s?`,
      "iu",
    ),
    heading: new RegExp(String.raw`^(?:${of("headings")})(?!\p{L})`, "iu"),
    request: new RegExp(
      [
        String.raw`^(?!(?:${of("no_requests")})(?!\p{L}))(?:${of("requests")})(?!\p{L})`,
        String.raw`^@[\p{L}\p{N}._-]{2,30}[:,]? `,
        String.raw`^[^,.:;?!]{3,60} (?:${of("request_within")}) (?!(?:${anyOf(({ cues }) => cues.not)})(?!\p{L}))`,
        String.raw`(?:, | )(?:${of("request_ends")})[.!]?$`,
      ].join("|"),
      "iu",
    ),
    /** "Jamal, can you", "Magnus, forward it". */
    spokenTo: new RegExp(
      String.raw`^(?:${anyOf(({ people }) => people.and)} )?\p{Lu}\p{Ll}{1,20}, (?:${of("calls")})(?!\p{L})`,
      "u",
    ),
    promise: new RegExp(
      String.raw`(?<!\p{L})(?:${of("promises")})(?!\p{L})(?! (?:${of("no_promises")})(?!\p{L}))`,
      "iu",
    ),
    does,
    /** "Kofi to book the hall". */
    namedTo: new RegExp(String.raw`^(${NAME}) ${TO_DO}`, "u"),
    agreed: new RegExp(
      String.raw`(?<!\p{L})(?<!(?<!\p{L})(?:I|we) )(?:${of("agreed")})(?!\p{L})`,
      "u",
    ),
    leftOpen: new RegExp(
      String.raw`(?<!\p{L})(?:(?:still )?(?:has|have|is|are|needs?) (?:still )?to be \p{Ll}{2,20}(?:ed|en|t|ne|de)|(?:ist|sind) (?:\p{L}+ ){0,5}?(?:zu \p{Ll}{3,20}en|\p{Ll}{2,8}zu\p{Ll}{3,20}en)|(?:est|sont|restent?) (?:encore )?à \p{Ll}{3,20}(?:er|ir|re)|${of("left_open")})(?!\p{L})`,
      "iu",
    ),
    responsible: new RegExp(String.raw`(?<!\p{L})(?:${of("responsible")})\s?:\s?\p{L}`, "iu"),
    /** A line that names only the owner belongs to the sentence before. */
    ownerOnly: new RegExp(String.raw`^(?:${of("responsible")})\s?:`, "iu"),
    soon: new RegExp(
      String.raw`(?<!\p{L})(?:${of("soon")}|(?:(?:${of("next")}) )?(?:${weekday}))(?!\p{L})`,
      "u",
    ),
    duty: new RegExp(
      String.raw`(?<!\p{L})(?:must(?! be (?!\w{2,20}(?:ed|en|id|ne|nt|ght)\b))|${of("duties")})(?!\p{L})`,
      "iu",
    ),
    intent: new RegExp(String.raw`(?<!\p{L})(?:${of("intents")})(?!\p{L})`, "iu"),
    past: new RegExp(String.raw`(?<!\p{L})(?:${of("past")})(?!\p{L})`, "iu"),
    /** A duty of everybody is a rule, and a duty in the past is done. */
    rule: new RegExp(String.raw`\?$|^should|(?<!\p{L})(?:${of("rules")})(?!\p{L})`, "iu"),
    done: new RegExp(String.raw`^(?:[✓✔☑]|(?:${of("done")})(?!\p{L}))`, "iu"),
    greeting: new RegExp(
      String.raw`^(?:${of("greetings")})(?: (?:${of("greeting_titles")}))?,? (${NAME})[,!.]?(?: |$)`,
      "u",
    ),
    /** "Note for Ada: …", "Frau Tuva Lindqvist, Lindenweg 3". */
    addressed: [
      new RegExp(String.raw`^(?:${of("notes_for")}) (?:${of("for")}) (${NAME}):`, "u"),
      new RegExp(String.raw`^(?:${of("addressed")}) (${NAME}),`, "u"),
    ],
    signed: new RegExp(
      String.raw`^(?:(?:${of("farewells")})(?: (?:${of("from")}))?,? )?(${NAME})(?:, \p{L}[\p{L} -]{2,30})?[,.]?$`,
      "u",
    ),
    /** The keeper of the minutes, as stated: "Taking notes: Arjun Mehta.", "Abdoulaye (toma notas)". */
    notedBy: [
      new RegExp(String.raw`(?:^|[.;,] ?)(?:${of("minutes_by")})\s?: (${NAME})(?=[.,;)]|$)`, "u"),
      new RegExp(String.raw`(${NAME}) \((?:${of("minutes_role")})\)`, "u"),
    ],
    /** "Best,", "Bises", "Hallo Silas": lines that look like a name. */
    closing: new RegExp(String.raw`^(?:${of("closings")})(?!\p{L})`, "u"),
    endsInDuty: new RegExp(String.raw` (?:must|${of("duties")})$`, "u"),
    names: new RegExp(` ${and} `, "u"),
    /** Where a task names its owner, most certain first; `doubtful` may match a common word. Every repeat is bounded. */
    places: [
      String.raw`(?:${both("owner")})[:\s*_]{1,4}(?<who>${NAME})`,
      String.raw`^(?:${both("todo_for")})(?: | ?\()(?<who>${NAME})(?=[:,)])`,
      does.source,
      String.raw`(?:→|->|=>)\s?(?<who>${NAME})`,
      String.raw`(?<![\p{L}\p{N}])@(?<who>[\p{L}\p{N}._-]{2,30})`,
      String.raw`\((?<who>${NAME})(?:[,;][^()]{1,40})?\)[.\s]*$`,
      String.raw`^[*_]{0,3}(?<doubtful>${NAME})[*_]{0,3}:`,
      String.raw`^[*_]{0,3}(?<doubtful>${owner})(?:, [^,]{1,40},)? ${bound}(?!\p{L})`,
      String.raw`^(?:${and} )?(?<who>${NAME})(?: ${TO_DO}|, (?:${of("calls")})(?!\p{L})| (?:${of("agreed")}))`,
      String.raw`(?<=[\p{Ll},:;] )(?<!(?<!\p{L})(?:${both("the")}|${both("articles")}) )(?<who>${owner})(?:, [^,]{1,40},|, (?:${of("who")}))? ${bound}(?!\p{L})`,
      String.raw`(?<!\p{L})(?:${both("the")}) (?<who>(?:\p{Ll}{2,20} )?(?:${of("offices")})) ${bound}`,
    ].map((source) => new RegExp(source, "u")),
  };
});

const withCapital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
/** "The toe board must be mounted", "die Matte muss ersetzt werden": what stands before the verb does nothing. */
const PASSIVE =
  /^ (?:be|\p{Ll}+ be) \p{Ll}|^(?: [^;,]{1,80})? (?:\p{Ll}*ge\p{Ll}{2,}|(?:be|er|ver|zer|ent)\p{Ll}{2,}(?:t|en)|\p{Ll}+iert) werden(?!\p{L})/u;
const TO_BE_DONE = /\bto be \p{Ll}{2,20}(?:ed|en|t|ne|de)(?!\p{L})/u;
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

/** A signature is one of the last lines, and an address one of the first. */
const LAST_LINES = 4;
const FIRST_LINES = 3;
/** The lines of minutes that list who attended. */
const HEAD_LINES = 20;

function letterOf(items: readonly DocumentItem[], about: ReadonlyMap<string, string>): Letter {
  const named = (list: readonly DocumentItem[], shapes: readonly RegExp[]): string | null =>
    list
      .flatMap(({ text }) => shapes.map((shape) => asName(shape.exec(text)?.[1] ?? "")))
      .find((name) => name !== null && !patterns().closing.test(name)) ?? null;
  // Of several recipients none is meant alone.
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
  const marked = patterns().mark.exec(text)?.[0];
  // "Todo:" alone: the tasks are the items below it.
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

/** The sentences of an item and what stands between semicolons in them. */
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
  if (patterns().request.test(sentence) || patterns().spokenTo.test(sentence)) return true;
  if (patterns().rule.test(sentence) || SECTION.test(sentence)) return false;
  if (patterns().responsible.test(sentence)) return true;
  if (
    patterns().namedTo.test(sentence) &&
    asName(patterns().namedTo.exec(sentence)?.[1] ?? "") !== null
  )
    return true;
  if (patterns().agreed.test(sentence) || patterns().promise.test(sentence)) return true;
  if (patterns().leftOpen.test(sentence)) return true;
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
    quote: firstCodePoints(quote, 1_900),
    action: firstCodePoints(action === "" ? words.trim() : action, 1_900),
    owner: ownerOf(words, known),
    due:
      deadlineIn(words) ??
      datesIn(inBrackets)[0] ??
      (isOfFuture ? datesIn(words)[0] : null) ??
      patterns().soon.exec(words)?.[0] ??
      null,
  };
}

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
