import type { ListedLanguage } from "../../text/word-forms.ts";
import type { Pair } from "./pair.ts";
import type { ClaimLanguage } from "./terms.ts";

/** A participle and, shortly behind it, the word before the agent: "was signed on Monday by". Bounded. */
const PASSIVE: Readonly<Record<ListedLanguage, RegExp>> = {
  english:
    /(?<![\p{L}])\p{L}{1,20}(?:ed|en|wn|ld|nt|ght|pt|ft|de|ut|ne|un|rn)(?:\s[\p{L}\p{N}]{1,20}){0,3}\sby(?=\s)/iu,
  german:
    /(?<![\p{L}])(?:wird|werden|wurden?|worden)(?:\s[\p{L}\p{N}.,-]{1,30}){0,8}\s(?:von|vom|durch)(?=\s)/iu,
  french:
    /\p{L}{2,20}(?:é|ée|és|ées|i|ie|is|ise|ises|it|ite|u|ue|us|ues|ert|erte)(?:\s[\p{L}\p{N}]{1,20}){0,3}\spar(?=\s)/iu,
  spanish:
    /\p{L}{1,20}(?:ado|ada|ados|adas|ido|ida|idos|idas|echo|echa|ito|ita|ierto|ierta|uesto|uesta)(?:\s[\p{L}\p{N}]{1,20}){0,3}\spor(?=\s)/iu,
};

/** A quick test that excludes most sentences. */
const AGENT = /\s(?:by|par|por|von|vom|durch)\s/iu;

/** The offset of the agent behind "by" in a passive sentence; -1 where there is none. */
function agentAt(text: string, language: ClaimLanguage | null): number {
  if (language === "japanese" || !AGENT.test(text)) return -1;
  const found = PASSIVE[language ?? "english"].exec(text);
  return found === null ? -1 : found.index + found[0].length;
}

/** The offsets of the words that claim and unit share, each only once in the unit. */
type Places = readonly { readonly inClaim: number; readonly inUnit: number }[];

const placesOf = ({ met, unit }: Pair): Places =>
  met.flatMap(({ term, places: [place, second] }) =>
    place === undefined || second !== undefined
      ? []
      : [{ inClaim: term.start, inUnit: unit.terms[place]?.start ?? 0 }],
  );

/** Whether only one side is passive, and its agent behind "by" is before the object in the active side: both mean the same. */
export function isInOtherVoice(pair: Pair): boolean {
  const { claim, unit } = pair;
  if (claim.language !== unit.language || unit.kind === "row") return false;
  const [ofClaim, ofUnit] = [
    agentAt(claim.text, claim.language),
    agentAt(unit.text, unit.language),
  ];
  if ((ofClaim === -1) === (ofUnit === -1)) return false;
  const places = placesOf(pair);
  return ofUnit === -1
    ? hasDoerFirst(places, ofClaim, { passive: "inClaim", active: "inUnit" })
    : hasDoerFirst(places, ofUnit, { passive: "inUnit", active: "inClaim" });
}

type Sides = { readonly passive: keyof Places[number]; readonly active: keyof Places[number] };

function hasDoerFirst(places: Places, agent: number, { passive, active }: Sides): boolean {
  const ordered = places.toSorted((one, other) => one[passive] - other[passive]);
  const doer = ordered.find((one) => one[passive] >= agent);
  const [done] = ordered;
  return doer !== undefined && done !== undefined && doer[active] < done[active];
}
