import type { ClaimRecord } from "../../../shared/job/run-result.ts";
import { readClaim } from "../claims/pair.ts";
import type { ReadClaim } from "../claims/pair.ts";
import { areRelated } from "../claims/terms.ts";
import type { ClaimLanguage, Term } from "../claims/terms.ts";

/** A claim that something is nowhere in a set. It rests on all members of the set, not on one sentence. */
export type NegativeClaim = {
  readonly read: ReadClaim;
  /** The noun that is denied ("no penalty", "none of the contracts"); null where the claim names none. */
  readonly head: Term | null;
  /** Words that a member which contradicts the claim would hold. */
  readonly positive: readonly Term[];
};

type Language = ClaimLanguage;
type Patterns = Readonly<Record<Language, RegExp>>;

/** Phrases with a word of denial that deny nothing. */
const HARMLESS: Patterns = {
  english:
    /(?<!\p{L})(?:no (?:later|earlier|more|less|fewer|longer|doubt|sooner|matter|wonder|change)(?!\p{L})(?: than)?|no\. ?\d+|nothing (?:but|other than|else than)|not only|not just|none other than|never ?mind|never before|never-ending|no-one-sided|no-?show|by no means all)(?!\p{L})/giu,
  german:
    /(?<!\p{L})(?:keine?(?:r|s|n|m)? (?:änderung|zweifel|wunder)|nichts (?:anderes als|als)|nicht nur|nie zuvor|kein geringerer|keineswegs alle|keine[rnms]?(?: \d+)? mehr als)(?!\p{L})/giu,
  french:
    /(?<!\p{L})(?:pas seulement|rien (?:que|d['’]autre)|sans aucun doute|aucun doute|jamais auparavant|à jamais|sans rien changer|plus que jamais|ne (?:\p{L}+ )?(?:que|qu['’]))(?!\p{L})/giu,
  spanish:
    /(?<!\p{L})(?:no (?:sólo|solo|solamente|únicamente|obstante)|nada más(?: que)?|sin duda alguna|nunca antes|más que nunca|nada menos que)(?!\p{L})/giu,
  japanese:
    /間違いない|に違いない|だけでなく|のみならず|しかない|かもしれない|ねばならない|なければならない/gu,
};

/** Words that deny something of every member of a set, or for all times. */
const NONE: Patterns = {
  english:
    /(?<!\p{L})(?:none|no|neither|nobody|no one|nothing|nowhere|never|not (?:a single|one of|any|a) (?=\p{L})|not one(?= )|n[o']t ever|zero(?= \p{L}{3}))(?!\p{L})/giu,
  german:
    /(?<!\p{L})(?:kein(?:e|er|en|em|es|erlei)?|niemand(?:en|em)?|nichts|nie|niemals|nirgend(?:s|wo)|weder|nicht ein(?:e|er|en|em)? einzige[rnms]?)(?!\p{L})/giu,
  french:
    /(?<!\p{L})(?:aucun(?:e|s|es)?|nul(?:le)?(?= \p{L})|personne(?= n(?:e |['’]))|rien|jamais|nulle part|pas un(?:e)? seul(?:e)?|ni l['’]un ni l['’]autre)(?!\p{L})/giu,
  spanish:
    /(?<!\p{L})(?:ning[uú]n(?:o|a|os|as)?|nadie|nada|nunca|jamás|en ninguna parte|ni un(?:o|a)? sol[oa]|tampoco ning\p{L}{2,4})(?!\p{L})/giu,
  japanese:
    /一つも|ひとつも|一件も|一人も|誰も|だれも|何も|どこにも|決して|一切|いずれも(?=[^。]{0,40}ない)|どの\p{L}{1,10}も|一度も/gu,
};

/** Phrases that something does not exist, or that a document does not mention it: only true if everything was read. */
const ABSENT: Patterns = {
  english:
    /(?<!\p{L})(?:there (?:is|are|was|were) (?:no|not any)|there (?:isn|aren|wasn|weren)['’]t (?:any|an?)|(?:do|does|did) not (?:mention|contain|include|list|refer|specify|state|name|provide for|cover|address|say|offer any)|(?:don|doesn|didn)['’]t (?:mention|contain|include|list|refer|specify|state|name|provide for|cover|address|say)|(?:is|are|was|were) not (?:mentioned|listed|named|specified|recorded|documented|referred to|contained|included in any)|(?:makes?|made) no (?:mention|reference)|(?:says?|said) nothing)(?!\p{L})/iu,
  german:
    /(?<!\p{L})(?:es gibt keine?[nrs]?|gibt es keine?[nrs]?|(?:erwähn|nenn|enthäl|führ|liste|regel|behandel)(?:t|te|en|ten)(?: \p{L}+){0,6} nicht|nicht (?:erwähnt|genannt|enthalten|aufgeführt|geregelt|verzeichnet|dokumentiert)|schweig(?:t|en))(?!\p{L})/iu,
  french:
    /(?<!\p{L})(?:il n['’]y (?:a|avait|en a) (?:pas|aucune?)|ne (?:mentionne|contient|comporte|prévoit|cite|indique|précise|comprend)(?:nt)? pas|n['’](?:est|étai[te]n?t?|apparaît|sont) pas (?:mentionnée?s?|citée?s?|indiquée?s?|précisée?s?|prévue?s?)|ne (?:mentionnent|contiennent|comportent|prévoient|citent|indiquent) pas|ne (?:dit|disent) rien|ne fait (?:pas|aucune) mention)(?!\p{L})/iu,
  spanish:
    /(?<!\p{L})(?:no (?:hay|había|existen?|existía)|no (?:menciona|contiene|incluye|cita|indica|prevé|especifica|recoge|dice)n?|no (?:está|están|es|son|se) (?:mencionad|citad|indicad|recogid|menciona|cita|indica)[oa]?[sn]?|no hacen? mención|no figuran?|no aparecen?)(?!\p{L})/iu,
  japanese:
    /(?:記載|言及|記述|規定|該当|存在)(?:し|され|は|が|も)?(?:て)?(?:い)?(?:ない|ません|なかった|なし)|見当たら(?:ない|ません|なかった)|含まれて(?:い)?(?:ない|ません)/u,
};

/** Words of a question whether any member of a set does something. */
const ASKS_FOR_ANY: Patterns = {
  english:
    /(?<!\p{L})(?:any|anyone|anybody|anything|ever|which of|who of|is there|are there|was there|were there|do all|does every|none|some of|(?:mention|contain)(?:s|ed)?)(?!\p{L})/iu,
  german:
    /(?<!\p{L})(?:irgend\p{L}{1,10}|jemals|gibt es|gab es|welche[rs]? (?:von|der)|eine[rs]? de[rs]|kein\p{L}{0,3}|jemand|alle|erwähn\p{L}{1,4}|enthält|enthalten)(?!\p{L})/iu,
  french:
    /(?<!\p{L})(?:un(?:e)? des|l['’]un(?:e)? des|y a-t-il|existe-t-il|quelqu['’]un|lequel|lesquels|laquelle|certains|aucune?|tous les|toutes les|mentionne(?:nt)?|contien(?:t|nent)|jamais)(?!\p{L})/iu,
  spanish:
    /(?<!\p{L})(?:alg[uú]n(?:o|a|os|as)?|hay|existen?|alguien|alguna vez|cu[aá]l(?:es)? de|ning[uú]n(?:o|a)?|todos los|todas las|menciona(?:n)?|contiene(?:n)?)(?!\p{L})/iu,
  japanese: /ありますか|いますか|あるか|いずれか|どれか|誰か|どの|記載|言及/u,
};

const PLAIN_NOT: Patterns = {
  english: /(?<!\p{L})(?:not|cannot|\p{L}{2,6}n['’]t)(?!\p{L})/iu,
  german: /(?<!\p{L})nicht(?!\p{L})/iu,
  french: /(?<!\p{L})(?:n['’]\p{L}{1,20}|ne \p{L}{1,20})(?: \p{L}{1,20}){0,2} pas(?!\p{L})/iu,
  spanish: /(?<!\p{L})no \p{L}/iu,
  japanese: /ない|ません|なかった/u,
};

/** "No, the fee is due": the opening "No" denies nothing that follows. */
const VERDICT = /^\s{0,4}(?:no|nein|non|いいえ)\s{0,2}(?:[,:;.!–—、。-])\s{0,4}(?=\S)/iu;

/** The words between a denial and its set: "none of the contracts", "keiner der Verträge". */
const OF =
  /^\s{0,2}(?:(?:of|among|from|der|von|des|d['’]entre|parmi|de|de entre)\s{1,2})?(?:(?:the|these|our|all|their|its|my|den|diesen|unseren|les|ces|nos|los|las|estos|estas|nuestros|single|einzige[rnms]?|other|andere[rnms]?|autre|otro|otra|seule?|solo|sola|\d{1,4})\s{1,2}){0,3}/iu;

/**
 * Finds a claim that denies something of all members of a set, so that no sentence can support it. Null for another claim, and
 * for a denial that a sentence of the evidence states itself.
 *
 * @param mode on: also denials that a sentence states, and plain denials
 */
export function findNegative(
  task: string,
  { text, ...found }: Pick<ClaimRecord, "text" | "grade" | "reason" | "carrier">,
  mode: "auto" | "on",
): NegativeClaim | null {
  const asked = readClaim(task, null);
  const said = text.replace(VERDICT, "");
  const read = readClaim(said, asked.language);
  const language = read.language ?? languageOfDenial(said);
  const plain = read.text.replace(HARMLESS[language], blankOf);
  const none = [...plain.matchAll(NONE[language])][0] ?? null;
  const isAbsent = ABSENT[language].test(plain);
  const isPlain = PLAIN_NOT[language].test(plain);
  if (mode === "on") return none !== null || isAbsent || isPlain ? negativeOf(read, none) : null;
  const asksForAny = ASKS_FOR_ANY[asked.language ?? language].test(asked.text);
  if (none === null && !isAbsent && !(isPlain && asksForAny)) return null;
  const negative = negativeOf(read, none);
  const isOfWords = found.grade === "supported" || (!asksForAny && OPEN.has(found.reason));
  const isOfAll = asksForAny && none !== null && none.index <= MOST_BEFORE_NONE;
  return isOfWords && isCarried(found.carrier, negative, { language, isOfAll }) ? null : negative;
}

/** The language of a text that is too short to detect, by its word of denial; "no" is English and Spanish. */
const languageOfDenial = (text: string): ClaimLanguage =>
  (["german", "french", "spanish"] as const).find(
    (language) => text.search(NONE[language]) !== -1 || ABSENT[language].test(text),
  ) ?? "english";

/** A denial at most this far from the start opens the sentence: "No branch opens". */
const MOST_BEFORE_NONE = 3;

const blankOf = (text: string): string => " ".repeat(text.length);

const MOST_POSITIVE = 12;

function negativeOf(read: ReadClaim, none: RegExpExecArray | null): NegativeClaim {
  const from = none === null ? 0 : none.index + none[0].length;
  const behind = none === null ? "" : read.text.slice(from, from + 80);
  const at = from + (OF.exec(behind)?.[0].length ?? 0);
  const next = none === null ? undefined : read.terms.find(({ start }) => start >= at);
  const head = next !== undefined && next.start - at <= 1 && next.isContent ? next : null;
  const denying = read.cues.filter(({ name }) => name === "not");
  const positive = read.content.filter(
    (term) =>
      !term.isLight && !denying.some(({ start, end }) => start <= term.start && term.end <= end),
  );
  return { read, head, positive: positive.slice(0, MOST_POSITIVE) };
}

/** Reasons of claims that no rule contradicts. */
const OPEN: ReadonlySet<ClaimRecord["reason"]> = new Set(["not_asked", "unclear"]);

type Denial = {
  readonly language: ClaimLanguage;
  /** Whether the question asks about any member of a set, and the claim denies it of each. */
  readonly isOfAll: boolean;
};

/** Whether a sentence denies the same thing, and not only a part of it: "the branch is not open" is about one branch. */
function isCarried(
  carrier: string | null,
  { read, head }: NegativeClaim,
  { language, isOfAll }: Denial,
): boolean {
  if (carrier === null) return false;
  const sentence = readClaim(carrier, language);
  const own = sentence.language ?? language;
  const plain = sentence.text.replace(HARMLESS[own], blankOf);
  const isOfNone = plain.search(NONE[own]) !== -1;
  if (!isOfNone && !sentence.cues.some(({ name }) => name === "not")) return false;
  const isOfEach = isOfNone || sentence.cues.some(({ name }) => name === "all");
  if (isOfAll && !isOfEach && head !== null && isOfOne(sentence, head)) return false;
  if (head !== null && !sentence.terms.some(({ stem }) => areRelated(stem, head.stem)))
    return false;
  const isNarrower = sentence.names.some(
    ({ isWeak, words }) =>
      !isWeak && !words.every((word) => read.terms.some((term) => term.word === word)),
  );
  return !isNarrower;
}

const DEFINITE =
  /(?<!\p{L})(?:the|this|that|our|der|die|das|diese[rs]?|unsere?|le|la|l['’]|ce(?:tte)?|el|est[ea])[ \u00A0]?$/iu;

/** Whether a sentence is about one thing ("the branch") while the claim denies all ("no branch"). The form must be equal. */
const isOfOne = ({ text, terms }: ReadClaim, head: Term): boolean =>
  terms.some(
    ({ word, start }) =>
      word === head.word && DEFINITE.test(text.slice(Math.max(0, start - 12), start)),
  );
