import { doubt, ruleOf } from "./cue-rules.ts";
import type { Cue } from "./cues/find-cues.ts";
import { ratesIn } from "./figure-words.ts";
import type { ClaimFigure } from "./figures.ts";
import { measureAt } from "./measures.ts";
import { alignedCues, claimCues } from "./pair.ts";
import type { Finding, Pair } from "./pair.ts";

const compareQuantities = ruleOf(["all", "only", "most"], "either");

/** "Only 30 minutes", "three of each": beside a figure these say how much it is, and not of what. */
export const compareQuantifier = (pair: Pair): Finding | null =>
  everyNth(pair) ??
  everyDay(pair) ??
  otherDays(pair) ??
  nearlyAll(pair) ??
  shareOfNone(pair) ??
  compareQuantities(withoutMeasuring(pair));

const NEARLY =
  /(?<!\p{L})(?:almost|nearly|virtually|practically|fast|nahezu|beinahe|presque|quasiment|casi|prácticamente)[ \u00A0]$/iu;
const MOST_NEARLY_CHARS = 16;

/** "Almost all" is not all. */
function nearlyAll(pair: Pair): Finding | null {
  const isNearly = ({ text }: { readonly text: string }, { start }: Cue): boolean =>
    NEARLY.test(text.slice(Math.max(0, start - MOST_NEARLY_CHARS), start));
  const [said, held] = [claimCues(pair, "all"), alignedCues(pair, "all")];
  if (said.length === 0 || held.length === 0) return null;
  const isSaid = said.some((cue) => isNearly(pair.claim, cue));
  const isHeld = held.some((cue) => isNearly(pair.unit, cue));
  return isSaid === isHeld ? null : doubt('"almost all" stands on one side alone');
}

/** So much of a share it may be off: "about a third" is 3 of 10, too. */
const MOST_OFF = 0.02;
const MOST_OFF_ABOUT = 0.15;
/** Each is held against each other one. */
const MOST_NUMBERS = 100;
/** "A minute and a quarter" */
const AND_A = /(?<!\p{L})(?:and|und|et|y)[ \u00A0]$/iu;

/** "More than half", where no figure of the sentence is such a share, and no two of them make it. */
function shareOfNone({ claim, unit }: Pair): Finding | null {
  if (claim.language !== unit.language) return null;
  const numbers = unit
    .figures()
    .filter(({ kind, base }) => kind === "number" && base > 0)
    .slice(0, MOST_NUMBERS);
  const isLike = (share: number, wanted: number, precision: ClaimFigure["precision"]): boolean =>
    precision === "above"
      ? share > wanted
      : precision === "below"
        ? share < wanted
        : Math.abs(share - wanted) <= (precision === "about" ? MOST_OFF_ABOUT : MOST_OFF) * wanted;
  const missing = claim.figures.find(
    ({ isSoft, measure, base, precision, start }) =>
      isSoft &&
      !AND_A.test(claim.text.slice(0, start)) &&
      measure?.dimension === "percent" &&
      numbers.length > 0 &&
      !numbers.some((one) => one.measure?.dimension === "percent") &&
      !numbers.some((one) =>
        numbers.some(
          (other) =>
            other.base > one.base && isLike((100 * one.base) / other.base, base, precision),
        ),
      ),
  );
  return missing === undefined || unit.cues().some(({ name }) => name === "most" || name === "some")
    ? null
    : doubt(`"${missing.text}" stands on one side alone`);
}

/** "Every Sunday", where the sentence tells of one. */
function everyDay(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  if (claim.language !== unit.language || unit.kind === "row") return null;
  const cue = claim.cues.find(
    ({ word, end }) =>
      SHARING.has(word) &&
      claim.figures.some(({ start, offers }) => start === end + 1 && offers.some(isDay)),
  );
  const isRegularThere =
    unit.cues().some(({ word }) => SHARING.has(word) || ALWAYS.has(word)) ||
    REGULAR_DAY.test(unit.text);
  const isHeld = unit.figures().some(({ offers }) => offers.some(isDay));
  return cue !== undefined && isHeld && !isRegularThere
    ? doubt(`"${cue.word}" stands on one side alone`)
    : null;
}
const ALWAYS: ReadonlySet<string> = new Set(["always", "immer", "toujours", "siempre"]);
/** "On Sundays", "montags", "le lundi", "los lunes" */
const REGULAR_DAY =
  /(?<!\p{L})(?:\p{L}+days|\p{L}+tags|mittwochs|les?[ \u00A0](?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?|los[ \u00A0]\p{L}+)(?!\p{L})/iu;

const isDay = (offer: string): boolean => /^w:\d$/.test(offer);

/** "Every day", where the sentence names Tuesday and Thursday. */
function otherDays({ claim, unit }: Pair): Finding | null {
  const group = claim.figures.find(({ offers: [first] }) => /^w:\D/.test(first ?? ""));
  const held = new Set(unit.figures().flatMap(({ offers }) => offers.filter(isDay)));
  if (group === undefined || held.size === 0) return null;
  const missing = group.offers.filter(isDay).some((day) => !held.has(day));
  return missing ? doubt(`the sentence does not name all days of "${group.text}"`) : null;
}

/** "Every fiftieth page" is not each page. */
function everyNth({ unit, claim }: Pair): Finding | null {
  const counted = unit.cues().flatMap(({ name, end }) => {
    const next = name === "all" ? unit.figures().find(({ start }) => start === end + 1) : undefined;
    return next?.isSoft === true && next.measure === null ? [next] : [];
  });
  const other = counted.find(({ base }) => !claim.figures.some((one) => one.base === base));
  return other === undefined ? null : doubt(`only every ${other.text.trim()} is meant`);
}
const wordsOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));
const MEASURING = wordsOf("only just nur lediglich seulement solo solamente");
const SHARING = wordsOf("each every je jede jeder jedes jeden chaque chacun chacune cada");

function withoutMeasuring(pair: Pair): Pair {
  const { claim, unit } = pair;
  const ofUnit = unit.cues().filter((cue) => !isMeasuring(cue, unit.figures(), unit.text));
  const isAlone = !ofUnit.some(({ name }) => name === "all");
  return {
    ...pair,
    claim: {
      ...claim,
      cues: claim.cues.filter(
        (cue) =>
          !isMeasuring(cue, claim.figures, claim.text) &&
          !(isAlone && isRegular(cue, claim.text, unit.text)),
      ),
    },
    unit: { ...unit, cues: () => ofUnit },
  };
}

const NIGHT = /^(?:night|nacht|nuit|noche)$/iu;
const WEEKDAY =
  /^(?:\p{L}+day|\p{L}+tag|mittwoch|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)$/iu;
const NIGHTLY = /(?<!\p{L})(?:nightly|nächtlich)/iu;

/** "Every month", where the sentence says "monthly". */
function isRegular({ word, end }: Cue, text: string, held: string): boolean {
  if (!SHARING.has(word)) return false;
  const [, period = ""] = /^[ \u00A0](\p{L}{3,12})/u.exec(text.slice(end, end + 16)) ?? [];
  if (NIGHT.test(period)) return NIGHTLY.test(held);
  if (WEEKDAY.test(period)) return REGULAR_DAY.test(held);
  const measure = measureAt(period);
  return measure !== null && ratesIn(held).has(`${measure.dimension}:${measure.factor}`);
}

const isMeasuring = (
  { word, start, end }: Cue,
  figures: readonly ClaimFigure[],
  text: string,
): boolean =>
  (MEASURING.has(word) || SHARING.has(word)) &&
  figures.some(
    (figure) =>
      !figure.isSoft &&
      figure.kind === "number" &&
      ((end <= figure.start && /^[ \u00A0(€£$~]{0,3}$/u.test(text.slice(end, figure.start))) ||
        (SHARING.has(word) &&
          figure.end <= start &&
          /^[ \u00A0]?$/u.test(text.slice(figure.end, start)))),
  );
