import { measureAt } from "./measures.ts";
import { foldWord } from "../../../shared/text/normalise-text.ts";
import type { UnitLanguage } from "../detect-language.ts";

/** How a figure is stated: "exact", "about" ("roughly 5"), "below" ("nearly 5") or "above" ("just over 5"). */
export type Precision = "exact" | "about" | "below" | "above";

const NOUN_AFTER = /^(?:[ \u00A0]|-)(?<first>\p{L}{2,24})/u;
const NO_NOUN =
  /^(?:and|or|to|of|in|at|on|is|was|are|were|per|from|by|for|the|until|than|but|that|which|if|as|und|oder|bis|von|im|in|am|ist|war|sind|waren|pro|der|die|das|mit|ab|auf|für|bei|zu|an|aus|et|ou|à|au|aux|de|des|du|la|le|les|en|par|pour|est|y|o|a|al|del|el|los|las|por|con|para|es|un|una|une|more|less|mehr|weniger|plus|moins|más|menos|times|mal|fois|veces|percent|instead|rather|statt|anstatt|gegenüber|nach|vor|contre|contra|frente)$/iu;

/** The noun that a number counts, folded; null if none follows. */
export function nounAfter(after: string, language: UnitLanguage | null): string | null {
  if (language === "japanese") return /^[人名台個本枚回件軒社点倍番]/u.exec(after)?.[0] ?? null;
  const first = NOUN_AFTER.exec(after)?.groups?.["first"];
  return first === undefined || NO_NOUN.test(first) ? null : foldWord(first);
}

const NOUN_BEFORE =
  /(?<noun>\p{L}{2,24})[ \u00A0](?:no\.? |nr\.? |number |nummer |numéro |número |n[°º] )?$/iu;

/** The noun before a number that numbers it: "kiln 2". */
export const nounBefore = (before: string): string | null => {
  const noun = NOUN_BEFORE.exec(before)?.groups?.["noun"];
  return noun === undefined || NO_NOUN.test(noun) ? null : foldWord(noun);
};

/** Words for "per" anywhere; an article means "per" only behind a figure. */
const PER_WORDS = "per|each|every|pro|je|par|por|cada|chaque";
const RATE = new RegExp(
  String.raw`^(?:[ \u00A0]?\/[ \u00A0]?|[ \u00A0](?:${PER_WORDS}|an?|im|al?) )(?:(?:square|cubic) )?(?<of>[\p{L}²³]{1,24})`,
  "iu",
);

/** The divisor of a figure: `per` as a folded word, and `rate` in a form that languages share if it is a measure. */
export function rateAfter(after: string): {
  readonly rate: string | null;
  readonly per: string | null;
} {
  const of = RATE.exec(after)?.groups?.["of"];
  if (of === undefined) return { rate: null, per: null };
  const measure = measureAt(of);
  const per = foldWord(of);
  return { rate: measure === null ? null : `${measure.dimension}:${measure.factor}`, per };
}

const ABOUT =
  /(?:about|around|roughly|approximately|approx\.?|circa|ca\.|some|rund|etwa|ungefähr|zirka|gegen|environ|à peu près|quelque|aux alentours de|alrededor del?|aproximadamente|unos|unas|cerca de|約|およそ|ほぼ|in the region of|~|≈) ?(?:the |de |d['’]|a |un |una |[€£$])?$/iu;
const BELOW =
  /(?:nearly|almost|just under|just short of|a little under|a little less than|close to|not quite|knapp|fast|beinahe|nahezu|presque|près de|un peu moins de|casi|poco menos de|algo menos de) (?:the |de |d['’]|a |un |una |[€£$])?$/iu;
const ABOVE =
  /(?<!(?:no|not|nicht|pas|nunca) )(?:just over|a little over|a little more than|slightly more than|slightly over|more than|over|a good|gut|etwas mehr als|mehr als|über|un peu plus de|plus de|algo más de|poco más de|más de) (?:the |de |d['’]|a |un |una |[€£$])?$/iu;

/** The precision of a figure, by the words on both sides of it. */
export function precisionAt(before: string, after: string): Precision {
  if (ABOUT.test(before)) return "about";
  if (BELOW.test(before) || /^.{0,4}弱/u.test(after)) return "below";
  return ABOVE.test(before) || /^.{0,4}強/u.test(after) ? "above" : "exact";
}
