import type { TextSpan } from "../../text/spans.ts";
import type { ListedLanguage } from "../../text/word-forms.ts";
import type { Finding, Pair } from "./pair.ts";

/** Forms of the past, folded, each with those of the present. */
const PAST: Readonly<Record<ListedLanguage, readonly (readonly string[])[]>> = {
  english: formsOf(
    "was is|were are|could can|had has|froze freezes freeze|broke breaks break|rose rises rise|fell falls fall|grew grows grow|ran runs run|came comes come|went goes go|took takes take|gave gives give|lost loses lose|kept keeps keep|held holds hold|stood stands stand|left leaves leave|led leads lead|paid pays pay|sold sells sell|drove drives drive|spoke speaks speak|wore wears wear|slept sleeps sleep|lent lends lend|sent sends send|made makes make|met meets meet|brought brings bring|got gets get",
  ),
  german: formsOf(
    "galt gilt|galten gelten|durfte darf|durften durfen|konnte kann|konnten konnen|musste muss|mussten mussen|war ist|waren sind|gab gibt geben|kam kommt kommen|kamen kommen|fuhr fahrt fahren|fuhren fahren|lief lauft laufen|hielt halt halten|stand steht stehen|lag liegt liegen|nahm nimmt nehmen|brach bricht brechen|fiel fallt fallen|ging geht gehen|blieb bleibt bleiben|begann beginnt beginnen|schloss schliesst schliessen",
  ),
  french: formsOf(
    "etait est|etaient sont|pouvait peut|pouvaient peuvent|coutait coute|coutaient coutent|devait doit|devaient doivent|fallait faut",
  ),
  spanish: formsOf(
    "era es|eran son|estaba esta|estaban estan|tenia tiene|tenian tienen|podia puede|podian pueden|costaba cuesta|costaban cuestan|habia hay",
  ),
};
function formsOf(listed: string): readonly (readonly string[])[] {
  return listed.split("|").map((group) => group.split(" "));
}

/** Endings of regular verbs: of the past as it is written, and of the present of the same verb, folded. */
const ENDINGS: Readonly<Record<ListedLanguage, readonly [past: RegExp, present: RegExp]>> = {
  english: [/\p{Ll}ed$/u, /s$/u],
  german: [/^\p{Ll}+te$/u, /t$/u],
  french: [/\p{Ll}(?:ait|aient)$/u, /(?:e|ent)$/u],
  spanish: [/(?:ó|aron|ieron)$/u, /(?:[ae]|[ae]n)$/u],
};

const NOW: ReadonlySet<string> = new Set(["is", "are", "be"]);

/**
 * "Dogs may run free", where the sentence says that they formerly might; "the train arrives late", where it arrived late: what was is told
 * as what is. A claim that has a form of the past, too, tells of it.
 */
export function compareTense(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  const { language } = claim;
  if (language !== unit.language || language === "japanese" || unit.kind === "row") return null;
  const listed = language ?? "english";
  const forms = PAST[listed];
  const [past, present] = ENDINGS[listed];
  const said = new Set(claim.terms.map(({ word }) => word));
  const held = new Set(unit.terms.map(({ word }) => word));
  const isPast = ({ start, end }: TextSpan, text: string): boolean =>
    past.test(text.slice(start, end));
  if (forms.some(([form = ""]) => said.has(form))) return null;
  // "Is rotated" is of now.
  const isNow = (at: number): boolean => NOW.has(claim.terms[at - 1]?.word ?? "");
  if (claim.terms.some((term, at) => isPast(term, claim.text) && !isNow(at))) return null;
  const former = formerly(pair);
  if (former !== null) return former;
  for (const [was = "", ...now] of forms) {
    const is = held.has(was) ? now.find((form) => said.has(form) && !held.has(form)) : undefined;
    if (is !== undefined && !isInfinitive(is, pair)) return toldAsNow(is, was);
  }
  const verb = met.find(
    ({ term, places }) =>
      !isInfinitive(term.word, pair) &&
      places.length > 0 &&
      places.every((place) => {
        const other = unit.terms[place];
        return (
          other !== undefined &&
          other.word !== term.word &&
          isPast(other, unit.text) &&
          (present.test(term.word) || [`${term.word}d`, `${term.word}ed`].includes(other.word))
        );
      }),
  );
  return verb === undefined
    ? null
    : toldAsNow(verb.term.word, unit.terms[verb.places[0] ?? -1]?.word ?? "");
}

/** "To arrive", "did not arrive", "the talk" */
const isInfinitive = (word: string, { claim }: Pair): boolean => {
  const at = claim.terms.findIndex((term) => term.word === word);
  return NO_PRESENT.has(claim.terms[at - 1]?.word ?? "");
};
const NO_PRESENT: ReadonlySet<string> = new Set(
  "to will would did does do can could may might must should not shall is are be of the a an no any in for with by on at".split(
    " ",
  ),
);

/** What a sentence begins with that tells of former times. */
const FORMER =
  /(?:^\P{L}{0,4}|:[ \u00A0])(?:(?:until|up to|bis|hasta)[ \u00A0](?:[^,.;]|(?<=\d)\.){0,30}(?:\d{4}|last|letzt|pasad)|jusqu[^,.;]{0,30}(?:\d{4}|derni[eè]re?)|(?:formerly|früher|damals|autrefois|jadis|antiguamente)(?!\p{L}))/iu;

/** "Until 2021 the museum lent them": a claim without the time tells it of now. */
function formerly({ claim, unit }: Pair): Finding | null {
  const match = FORMER.exec(unit.text);
  if (match === null || FORMER.test(claim.text)) return null;
  const { 0: former, index } = match;
  const times = unit
    .figures()
    .filter(({ start }) => start >= index && start < index + former.length);
  const isNamed = claim.figures.some(({ asks }) =>
    times.some(({ offers }) => asks.some((one) => offers.includes(one))),
  );
  return isNamed ? null : { grade: "partly", reason: "cue", detail: `it was so: "${former}"` };
}

const toldAsNow = (now: string, past: string): Finding => ({
  grade: "partly",
  reason: "cue",
  detail: `"${now}", where it says "${past}"`,
});

/** Endings of the future in Spanish and French, without accents. */
const FUTURE = {
  spanish: /(?:[aei]r|dr|br)(?:a|an|emos)$/u,
  french: /(?:[ei]r|dr|tr|vr|ur)(?:a|ont|ons)$/u,
} as const;

/** "Ha cambiado", where the sentence says "cambiará": the same verb, in the future there alone. */
export function laterVerb({ claim, unit, met }: Pair): string | null {
  if (claim.language !== unit.language) return null;
  if (claim.language !== "spanish" && claim.language !== "french") return null;
  const future = FUTURE[claim.language];
  for (const { term, places } of met) {
    if (future.test(term.word)) continue;
    const words = places.map((place) => unit.terms[place]?.word ?? "");
    const [later] = words;
    if (later !== undefined && words.every((word) => future.test(word))) return later;
  }
  return null;
}
