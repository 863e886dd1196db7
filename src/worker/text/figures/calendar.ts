import { once } from "../../../shared/once.ts";
import { namesInOrder } from "../../../shared/text/word-lists.ts";
import type { TextSpan } from "../spans.ts";

/** A day of the week, or a month without a day. */
type CalendarWord = TextSpan & {
  readonly offers: readonly string[];
  readonly asks: readonly (readonly string[])[];
};

const patterns = once(() => {
  const short = namesInOrder("short_days", ["english", "german"]);
  const romance = namesInOrder("short_days", ["french", "spanish"]);
  const any = short.replaceAll(/[()]/g, "");
  return {
    days: [
      `(?<![\\p{Script=Latin}])(?:${namesInOrder("days")})(?![\\p{Script=Latin}])/giu`,
      // Only in a range, or before a stop or a number: "So" and "Do" are words.
      `(?<![\\p{L}])(?:${short})(?=[–—-](?:${any})(?!\\p{L})|\\.?,? \\d)|(?<=(?:${any})[–—-])(?:${short})(?!\\p{L})/gu`,
      // "Mo bis Fr", "Mon to Fri"
      `(?<!\\p{L})(?:${short})(?= (?:bis|to|through) (?:${any})(?!\\p{L}))|(?<=(?<!\\p{L})(?:${any}) (?:bis|to|through) )(?:${short})(?!\\p{L})/gu`,
      // With a stop and a number behind them: "Ven. 19", "sáb. 3".
      `(?<!\\p{L})(?:${romance})(?=\\. ?\\d)/giu`,
      // Alone in a cell, or before a colon at the beginning of a line.
      `(?<=[|:][ ]?|^[ ]{0,3}(?:[-*][ ])?)(?:${short})(?=[ ]{0,20}(?:\\||$)|:[ ])/gmu`,
    ].map((spelled) => {
      const flags = spelled.lastIndexOf("/");
      return new RegExp(spelled.slice(0, flags), spelled.slice(flags + 1));
    }),
    month: new RegExp(
      `(?<![\\p{L}])(?:${namesInOrder("months")})(?![\\p{L}])|(?<!\\p{N})(\\d{1,2})月(?!\\d)`,
      "giu",
    ),
  };
});
const WORKDAYS =
  /(?<!\p{L})(?:weekdays?|working days?|werktags|wochentags|werktage|en semaine|jours ouvrables|entre semana|laborables|平日)(?!\p{Script=Latin})/giu;
const WEEKEND =
  /(?<!\p{L})(?:week-?ends?|wochenenden?|fin(?:es)? de semana|週末)(?!\p{Script=Latin})/giu;
const DAILY =
  /(?<!\p{L})(?:daily|every day|täglich|jeden Tag|tous les jours|quotidien(?:ne)?s?|todos los días|a diario|diaria(?:mente)?|diarios?|毎日)(?!\p{Script=Latin})/giu;
/** Twelve o'clock by day, and by night. */
const NOON = /(?<![\p{L}-])(?:at noon|à midi|al mediodía)(?!\p{L})/giu;
const MIDNIGHT = /(?<![\p{L}-])(?:midnight|mitternacht|minuit|medianoche)(?!\p{L})/giu;
const RANGE = /^[ \u00A0]?(?:–|—|-|to|through|bis|au|al?|から)[ \u00A0]?$/u;

/** "may" and "march" are verbs unless one of these stands before them. */
const BEFORE_MONTH =
  /(?:in|since|by|until|till|of|from|to|through|thru|between|around|about|early|late|mid|mid-|during|last|next|for|and|before|after|every|this|im|seit|bis|ende|anfang|mitte) ?$/iu;

/** Days of the week and months that a text names, besides its dates. Linear. */
export function findCalendarWords(text: string): CalendarWord[] {
  const days = MAYBE_DAY.test(text) || MAYBE_SHORT.test(text) ? findDays(text) : [];
  const months = MAYBE_MONTH.test(text) ? findMonths(text) : [];
  const noons = MAYBE_NOON.test(text) ? findNoons(text) : [];
  return [...days, ...months, ...noons, ...(/\d[/.]\d/.test(text) ? findSlashed(text) : [])];
}

/** Quick tests: a text without a match has no day, month or noon, and skips the slower patterns. */
const MAYBE_DAY =
  /day|tag|mittwoch|sonnabend|dimanche|lun|mar|mer|mi[eé]|jeu|jue|ven|vie|sam|s[aá]b|dom|曜|week|werk|wochen|semaine|semana|laborab|ouvrabl|平日|週末|毎日|daily|t[aä]glich|todos|jours|quotidien|diari/i;
const MAYBE_SHORT =
  /(?:Mo|Tu|Di|We|Mi|Th|Do|Fr|Sa|Su|So)[a-z]{0,3}(?:[–—-]|[.,]{0,2} \d| bis | to | through | {0,20}(?:\||$)|: )/m;
const MAYBE_MONTH =
  /jan|ene|f[eé][bv]|m[aä]r|ma[yi]|a[pvb]ri|ju[nil]|ag|ao[uû]t|aug|se[pt]|o[ckt]t|nov|d[eé][cz]|dic|月/i;

const MAYBE_NOON = /noon|midi|mediod|midnight|mitternacht|minuit|medianoche/i;

const findNoons = (text: string): CalendarWord[] =>
  (
    [
      [NOON, ["t:12:00"]],
      [MIDNIGHT, ["t:00:00", "t:24:00"]],
    ] as const
  ).flatMap(([pattern, offers]) =>
    [...text.matchAll(pattern)].map(({ 0: spelled, index }) => ({
      start: index,
      end: index + spelled.length,
      offers,
      asks: [],
    })),
  );

const SLASHED =
  /(?<![\p{N}\p{L}\/.])(?:(\d{2})\/(\d{2})(?![\p{N}\/])|(\d{2})\.(\d{2})\.(?![\p{N}]))/gu;

/** "02/05" and "02.05." are the second of May. */
const findSlashed = (text: string): CalendarWord[] =>
  [...text.matchAll(SLASHED)].flatMap(
    ({
      0: spelled,
      1: first,
      2: second,
      3: day = first ?? "",
      4: month = second ?? "",
      index,
    }): CalendarWord[] => {
      if (Number(day) < 1 || Number(day) > 31 || Number(month) < 1 || Number(month) > 12) return [];
      const reading = `m:${month}-${day}`;
      return [{ start: index, end: index + spelled.length, offers: [reading], asks: [[reading]] }];
    },
  );

function findDays(text: string): CalendarWord[] {
  const single = patterns()
    .days.flatMap((pattern) => [...text.matchAll(pattern)])
    .map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      day: (match.slice(1).findIndex(Boolean) % 7) + 1,
    }))
    .sort((one, other) => one.start - other.start);
  const named = single.map(({ start, end, day }, at): CalendarWord => {
    const next = single[at + 1];
    const isRange = next !== undefined && RANGE.test(text.slice(end, next.start));
    const days = isRange ? daysFrom(day, next.day) : [day];
    return { start, end, offers: days.map((one) => `w:${one}`), asks: [[`w:${day}`]] };
  });
  const groups = (
    [
      [WORKDAYS, 1, 5, "workdays"],
      [WEEKEND, 6, 7, "weekend"],
      [DAILY, 1, 7, "daily"],
    ] as const
  ).flatMap(([pattern, from, to, name]) =>
    [...text.matchAll(pattern)].map(({ 0: spelled, index }): CalendarWord => {
      const offers = [`w:${name}`, ...daysFrom(from, to).map((one) => `w:${one}`)];
      return { start: index, end: index + spelled.length, offers, asks: [] };
    }),
  );
  return [...named, ...groups];
}

function daysFrom(first: number, last: number): number[] {
  const count = ((last - first + 7) % 7) + 1;
  return Array.from({ length: count }, (_, at) => ((first - 1 + at) % 7) + 1);
}

/** Whether a month is a whole cell of a table: "Month: May | mm: 67". */
const isWholeCell = (text: string, start: number, end: number): boolean =>
  /[|:][ \u00A0]?$/u.test(text.slice(Math.max(0, start - 2), start)) &&
  /^[ \u00A0]{0,20}(?:\||$)/u.test(text.slice(end, end + 22));

const findMonths = (text: string): CalendarWord[] =>
  [...text.matchAll(patterns().month)].flatMap((match): CalendarWord[] => {
    const [spelled, ...groups] = match;
    const number = groups[12];
    const month = number === undefined ? groups.findIndex(Boolean) + 1 : Number(number);
    if (/^(?:may|march|mai|mars)$/i.test(spelled)) {
      const isCapital = /^\p{Lu}/u.test(spelled);
      const isLatin = /^(?:mai|mars)$/.test(spelled);
      if (
        !isLatin &&
        !(
          isCapital &&
          (BEFORE_MONTH.test(text.slice(Math.max(0, match.index - 8), match.index)) ||
            isWholeCell(text, match.index, match.index + spelled.length))
        )
      )
        return [];
    }
    if (month < 1 || month > 12) return [];
    const reading = `M:${String(month).padStart(2, "0")}`;
    return [
      {
        start: match.index,
        end: match.index + spelled.length,
        offers: [reading],
        asks: [[reading]],
      },
    ];
  });
