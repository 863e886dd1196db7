// Times of day in words ("half past seven", "halb acht", "sept heures et demie", "las siete y media"), and dozens.

const HOURS: readonly (readonly string[])[] = [
  "one two three four five six seven eight nine ten eleven twelve".split(" "),
  "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(" "),
  "une deux trois quatre cinq six sept huit neuf dix onze douze".split(" "),
  "una dos tres cuatro cinco seis siete ocho nueve diez once doce".split(" "),
];
const [ENGLISH = "", GERMAN = "", FRENCH = "", SPANISH = ""] = HOURS.map(
  (names) => `(?<hour>${names.join("|")}|1[0-2]|[1-9])`,
);

/** Forms around an hour, and how many minutes each adds; a form with negative minutes names the next hour. */
const FORMS: readonly (readonly [form: RegExp, minutes: number])[] = (
  [
    [`half past ${ENGLISH}`, 30],
    [`(?:a )?quarter past ${ENGLISH}`, 15],
    [`(?:a )?quarter to ${ENGLISH}`, -15],
    [`halb ${GERMAN}`, -30],
    [`viertel nach ${GERMAN}`, 15],
    [`(?:viertel vor|dreiviertel) ${GERMAN}`, -15],
    // "Deux heures et demie" without a preposition is how long something takes.
    [`(?<=(?:à|vers|dès) )${FRENCH} heures? et demie`, 30],
    [`(?<=(?:à|vers|dès) )${FRENCH} heures? et quart`, 15],
    [`(?<=(?:à|vers|dès) )${FRENCH} heures? moins le quart`, -15],
    [`las? ${SPANISH} y media`, 30],
    [`las? ${SPANISH} y cuarto`, 15],
    [`las? ${SPANISH} menos cuarto`, -15],
    [`(?<=(?:a|desde|hasta|hacia) )las? ${SPANISH}(?= (?:de la|en punto))`, 0],
    ...[5, 10, 20].flatMap((minutes, at) => {
      const [english, german] = [["five", "ten", "twenty"][at], ["fünf", "zehn", "zwanzig"][at]];
      return [
        [`(?<=(?:at|by|until|till|from|about|around) )${english} past ${ENGLISH}`, minutes],
        [`(?<=(?:at|by|until|till|from|about|around) )${english} to ${ENGLISH}`, -minutes],
        [`(?<=(?:um|ab|gegen|bis|seit) )${german} nach ${GERMAN}`, minutes],
        [`(?<=(?:um|ab|gegen|bis|seit) )${german} vor ${GERMAN}`, -minutes],
      ] as const;
    }),
  ] as readonly (readonly [form: string, minutes: number])[]
).map(([form, minutes]) => [
  new RegExp(`(?<![\\p{L}\\p{N}])${form}(?![\\p{L}\\p{N}])`, "giu"),
  minutes,
]);
const DOZENS: readonly (readonly [RegExp, string])[] = [
  [
    /(?<![\p{L}\p{N}])(?:half a dozen|a half[- ]dozen|ein halbes dutzend|une demi-douzaine|media docena)(?!\p{L})/giu,
    "6",
  ],
  [
    /(?<![\p{L}\p{N}])(?<!(?:half|par|by) )(?:a|one|ein|une|una) (?:dozen|dutzend|douzaine|docena)(?!\p{L})/giu,
    "12",
  ],
];
const MAYBE =
  /half past|quarter|halb|viertel|demie|quart|media|cuarto|dozen|dutzend|douzaine|docena|(?:five|ten|twenty) (?:past|to) |(?:fünf|zehn|zwanzig) (?:nach|vor) |las? \p{L}{3,6} (?:de la|en punto)/iu;

/** Writes such times and amounts, and degrees below zero, in digits, padded with blanks, so that offsets stay. Linear. */
export function withDigits(spelled: string): string {
  const text = withSigns(spelled);
  if (!MAYBE.test(text)) return text;
  const dozens = DOZENS.reduce(
    (written, [words, digits]) => written.replace(words, (said) => digits.padEnd(said.length)),
    text,
  );
  return FORMS.reduce(
    (written, [form, minutes]) =>
      written.replace(form, (words: string, ...found: unknown[]) => {
        const { hour } = found.at(-1) as { readonly hour: string };
        return timeAt(hourOf(hour), minutes).padEnd(words.length);
      }),
    dozens,
  );
}

function hourOf(spelled: string): number {
  const named = HOURS.map((names) => names.indexOf(spelled.toLowerCase())).find((at) => at >= 0);
  return named === undefined ? Number(spelled) : named + 1;
}

/** The time on 12 hours, because the half of the day is unknown. */
function timeAt(hour: number, minutes: number): string {
  const all = (hour * 60 + minutes + 12 * 60) % (12 * 60);
  return `${Math.floor(all / 60) || 12}:${String(all % 60).padStart(2, "0")}`;
}

/** "minus 18 °C" as "−18 °C", at the same place. A minus between amounts is an operation. */
const withSigns = (text: string): string =>
  text.replace(
    /(?<![\p{L}\p{N}])(?:minus|moins|menos)[ \u00A0](?=\d{1,4}(?:[.,]\d{1,3})?[ \u00A0]?(?:°|degrees?|Grad|degrés?|grados?))/giu,
    (word) => `${" ".repeat(word.length - 1)}−`,
  );
