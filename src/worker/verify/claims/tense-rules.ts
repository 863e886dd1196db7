import type { ListedLanguage } from "../../text/word-forms.ts";
import type { Finding, Pair } from "./pair.ts";

/** Forms of the past, folded, each with the one of the present. */
const PAST: Readonly<Record<ListedLanguage, string>> = {
  english:
    "was is|were are|could can|had has|froze freezes|broke breaks|rose rises|fell falls|grew grows|ran runs|came comes|went goes|took takes|gave gives|lost loses|kept keeps|held holds|stood stands|left leaves|led leads|paid pays|sold sells|drove drives|spoke speaks|wore wears|slept sleeps|lay lies",
  german:
    "galt gilt|galten gelten|durfte darf|durften durfen|konnte kann|konnten konnen|musste muss|mussten mussen|war ist|waren sind|gab gibt|kam kommt|kamen kommen|fuhr fahrt|fuhren fahren|lief lauft|hielt halt|stand steht|lag liegt|nahm nimmt",
  french:
    "etait est|etaient sont|pouvait peut|pouvaient peuvent|coutait coute|coutaient coutent|devait doit|devaient doivent|fallait faut",
  spanish:
    "era es|eran son|estaba esta|estaban estan|tenia tiene|tenian tienen|podia puede|podian pueden|costaba cuesta|costaban cuestan|habia hay",
};
/** Endings of regular verbs: of the past as it is written, and of the present of the same verb, folded. */
const ENDINGS: Readonly<Record<ListedLanguage, readonly [past: RegExp, present: RegExp] | null>> = {
  english: [/\p{Ll}ed$/u, /s$/u],
  german: [/\p{Ll}te$/u, /t$/u],
  french: null,
  spanish: [/(?:ó|aron|ieron)$/u, /(?:[ae]|[ae]n)$/u],
};

const NOW: ReadonlySet<string> = new Set(["is", "are", "be"]);

/**
 * "Dogs may run free", where the sentence says that they formerly might; "the train arrives late", where it arrived late: what was is told
 * as what is. A claim that has a form of the past, too, tells of it.
 */
export function compareTense({ claim, unit, met }: Pair): Finding | null {
  const { language } = claim;
  if (language !== unit.language || language === "japanese" || unit.kind === "row") return null;
  const listed = language ?? "english";
  const forms = PAST[listed].split("|").map((group) => group.split(" "));
  const [past, present] = ENDINGS[listed] ?? [null, null];
  const said = new Set(claim.terms.map(({ word }) => word));
  const held = new Set(unit.terms.map(({ word }) => word));
  const isPast = ({ start, end }: { start: number; end: number }, text: string): boolean =>
    past?.test(text.slice(start, end)) ?? false;
  if (forms.some(([form = ""]) => said.has(form))) return null;
  // "Is rotated" is of now.
  const isOfPast = (at: number): boolean =>
    !NOW.has(claim.terms[at - 1]?.word ?? "") &&
    claim.terms.slice(at, at + 1).some((term) => isPast(term, claim.text));
  if (claim.terms.some((_, at) => isOfPast(at))) return null;
  const [was, is] =
    forms.find(([form = "", now = ""]) => held.has(form) && said.has(now) && !held.has(now)) ?? [];
  if (was !== undefined && is !== undefined) return toldAsNow(is, was);
  const verb = met.find(
    ({ term, places }) =>
      present?.test(term.word) === true &&
      places.length > 0 &&
      places.every((place) => {
        const other = unit.terms[place];
        return other !== undefined && other.word !== term.word && isPast(other, unit.text);
      }),
  );
  return verb === undefined
    ? null
    : toldAsNow(verb.term.word, unit.terms[verb.places[0] ?? -1]?.word ?? "");
}

const toldAsNow = (now: string, past: string): Finding => ({
  grade: "partly",
  reason: "cue",
  detail: `"${now}", where it says "${past}"`,
});
