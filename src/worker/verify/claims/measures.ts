import { foldWord } from "../../../shared/normalise-text.ts";

/** What a figure counts: of one dimension all figures convert into each other by their factors. */
export type Measure = { readonly dimension: string; readonly factor: number };

/** By dimension, each factor with its symbols (as they are written) and words (folded, in all languages). */
const SYMBOLS: readonly (readonly [dimension: string, factor: number, symbols: string])[] = [
  ["time", 0.001, "ms"],
  ["time", 1, "s sec secs sek 秒 秒間"],
  ["time", 60, "min mins Min mn 分 分間"],
  ["time", 3_600, "h hr hrs Std 時間"],
  ["time", 86_400, "d 日間 日"],
  ["time", 604_800, "週間 週"],
  ["month", 1, "Mon か月 ヶ月 カ月 ヵ月 か月間 ヶ月間 カ月間 ヵ月間 箇月 月間"],
  ["month", 12, "年 年間"],
  ["age", 1, "歳 才"],
  ["length", 0.000_001, "µm μm"],
  ["length", 0.001, "mm ミリ"],
  ["length", 0.01, "cm センチ センチメートル"],
  ["length", 1, "m メートル"],
  ["length", 1_000, "km キロメートル"],
  ["length", 0.3048, "ft"],

  ["length", 1_609.344, "mi"],
  ["length", 1_852, "nm sm"],
  ["mass", 0.000_001, "mg"],
  ["mass", 0.000_000_001, "µg μg"],
  ["mass", 0.001, "g gr グラム"],
  ["mass", 1, "kg キロ キログラム"],
  ["mass", 1_000, "t トン"],
  ["mass", 0.453_592, "lb lbs"],
  ["mass", 0.028_349_5, "oz"],
  ["volume", 0.001, "ml mL ミリリットル cc"],
  ["volume", 0.01, "cl"],
  ["volume", 0.1, "dl デシリットル"],
  ["volume", 1, "l L リットル"],
  ["volume", 100, "hl"],
  ["volume", 1_000, "m³ m3 立方メートル"],
  ["area", 0.000_001, "mm²"],
  ["area", 0.0001, "cm²"],
  ["area", 1, "m² m2 qm ㎡ 平方メートル 平米"],
  ["area", 10_000, "ha ヘクタール"],
  ["area", 1_000_000, "km²"],
  ["area", 0.092_903, "ft²"],
  ["celsius", 1, "°C ℃ °c ºC 度"],
  ["fahrenheit", 1, "°F ºF ℉"],
  ["angle", 1, "° º"],
  ["resistance", 1, "Ω Ω"],
  ["resistance", 1_000, "kΩ kΩ"],
  ["resistance", 1_000_000, "MΩ MΩ"],
  ["power", 0.001, "mW"],
  ["power", 1, "W ワット"],
  ["power", 1_000, "kW kw キロワット"],
  ["power", 1_000_000, "MW"],
  ["energy", 1, "Wh"],
  ["energy", 1_000, "kWh"],
  ["energy", 1_000_000, "MWh"],
  ["energy", 1_000_000_000, "GWh"],
  ["food energy", 1, "kcal"],
  ["food energy", 0.239, "kJ"],
  ["voltage", 1, "V"],
  ["voltage", 1_000, "kV"],
  ["current", 1, "A"],
  ["current", 0.001, "mA"],
  ["charge", 0.001, "mAh"],
  ["charge", 1, "Ah"],
  ["frequency", 1, "Hz"],
  ["frequency", 1_000, "kHz"],
  ["frequency", 1_000_000, "MHz"],
  ["pressure", 1, "bar"],
  ["pressure", 0.001, "mbar hPa"],
  ["sound", 1, "dB"],
  ["data", 1, "B"],
  ["data", 1e3, "kB KB Ko ko"],
  ["data", 1e6, "MB Mo メガバイト"],
  ["data", 1e9, "GB Go ギガバイト"],
  ["data", 1e12, "TB To"],
  ["data", 1_024, "KiB Kio"],
  ["data", 1_048_576, "MiB Mio"],
  ["data", 1_073_741_824, "GiB Gio"],
  ["bits", 1e3, "kbit kbps"],
  ["bits", 1e6, "Mbit Mbps Mb"],
  ["bits", 1e9, "Gbit Gbps"],
  ["speed", 1, "km/h kmh"],
  ["speed", 3.6, "m/s"],
  ["speed", 1.609_344, "mph"],
  ["percent", 1, "% % パーセント"],
  ["percent", 10, "割"],
  ["percent", 0.1, "‰"],
  ["GBP", 0.01, "p"],
  ["EUR", 0.01, "ct Ct"],
  ["EUR", 1, "€ EUR ユーロ"],
  ["GBP", 1, "£ GBP ポンド"],
  ["USD", 1, "$ USD US$ ドル"],
  ["CHF", 1, "CHF Fr SFr sFr"],
  ["JPY", 1, "¥ ¥ JPY 円"],
  ["USD", 1_000, "k$"],
  ["EUR", 1_000, "k€ T€"],
  ["GBP", 1_000, "k£"],
];

const WORDS: readonly (readonly [dimension: string, factor: number, words: string])[] = [
  [
    "time",
    0.001,
    "millisecond milliseconds millisekunde millisekunden milliseconde millisecondes milisegundo milisegundos",
  ],
  ["time", 1, "second seconds sekunde sekunden seconde secondes segundo segundos"],
  ["time", 60, "minute minutes minuten minuto minutos minutig minutige minutigen"],
  ["time", 3_600, "hour hours stunde stunden heure heures hora horas stundig stundige stundigen"],
  [
    "time",
    86_400,
    "day days tag tage tagen jour jours dia dias journee journees tagig tagige tagigen",
  ],
  [
    "time",
    604_800,
    "week weeks woche wochen semaine semaines semana semanas wochig wochige wochigen",
  ],
  ["time", 1_209_600, "fortnight fortnights"],
  [
    "month",
    1,
    "month months monat monate monaten monats mois mes meses monatig monatige monatigen",
  ],
  ["month", 3, "quarters quartal quartale trimestre trimestres"],
  [
    "month",
    12,
    "year years jahr jahre jahren jahres ans annee annees ano anos jahrig jahrige jahrigen",
  ],
  ["month", 120, "decade decades jahrzehnt jahrzehnte decennie decennies decada decadas"],
  ["month", 1_200, "century centuries jahrhundert jahrhunderte siecle siecles siglo siglos"],
  [
    "length",
    0.001,
    "millimetre millimetres millimeter millimeters millimetern milimetro milimetros",
  ],
  [
    "length",
    0.01,
    "centimetre centimetres centimeter centimeters zentimeter zentimetern centimetro centimetros",
  ],
  ["length", 1, "metre metres meter meters metern metro metros"],
  ["length", 1_000, "kilometre kilometres kilometer kilometers kilometern kilometro kilometros"],
  ["length", 0.3048, "foot feet fuss pied pieds pie pies"],
  ["length", 0.0254, "inch inches zoll pouce pouces pulgada pulgadas"],
  ["length", 0.9144, "yard yards"],
  ["length", 1_609.344, "mile miles meile meilen mille milles milla millas"],
  [
    "mass",
    0.000_001,
    "milligram milligrams milligramm milligramme milligrammes miligramo miligramos",
  ],
  [
    "mass",
    0.000_000_001,
    "microgram micrograms mikrogramm microgramme microgrammes microgramo microgramos",
  ],
  ["mass", 0.001, "gram grams gramm gramme grammes gramo gramos"],
  [
    "mass",
    1,
    "kilogram kilograms kilo kilos kilogramm kilogramme kilogrammes kilogramo kilogramos",
  ],
  ["mass", 1_000, "tonne tonnes tonnen ton tons tonelada toneladas"],
  ["mass", 100, "zentner quintal quintaux"],
  ["mass", 0.5, "pfund"],
  ["mass", 0.028_349_5, "ounce ounces unze unzen"],
  [
    "volume",
    0.001,
    "millilitre millilitres milliliter milliliters millilitern mililitro mililitros",
  ],
  ["volume", 0.01, "centilitre centilitres zentiliter centilitro centilitros"],
  ["volume", 0.1, "decilitre decilitres deziliter"],
  ["volume", 1, "litre litres liter liters litern litro litros"],
  ["volume", 4.546, "gallon gallons gallonen"],
  ["volume", 100, "hectolitre hectolitres hektoliter hectolitros"],
  ["area", 1, "quadratmeter quadratmetern"],
  ["area", 10_000, "hectare hectares hektar hectarea hectareas"],
  ["area", 4_046.86, "acre acres"],
  ["volume", 1_000, "kubikmeter kubikmetern"],
  ["power", 1, "watt watts vatios"],
  ["power", 1_000, "kilowatt kilowatts kilovatios"],
  ["power", 1_000_000, "megawatt megawatts megavatios"],
  ["energy", 1_000, "kilowattstunde kilowattstunden kilowattheures"],
  ["energy", 1_000_000, "megawattstunde megawattstunden"],
  ["food energy", 1, "kilocalories calories kalorien calorias kilokalorien"],
  ["resistance", 1, "ohm ohms ohmios"],
  ["voltage", 1, "volt volts voltios"],
  ["current", 1, "ampere amperes amp amps amperios"],
  ["data", 1e3, "kilobyte kilobytes"],
  ["data", 1e6, "megabyte megabytes megaoctets"],
  ["data", 1e9, "gigabyte gigabytes gigaoctets"],
  ["data", 1e12, "terabyte terabytes"],
  ["speed", 1.852, "knot knots knoten noeuds nudos"],
  ["percent", 1, "percent prozent"],
  ["EUR", 1, "euro euros"],
  ["EUR", 0.01, "cent cents centimes centimos"],
  ["GBP", 1, "pound pounds sterling"],
  ["GBP", 0.01, "pence penny"],
  ["USD", 1, "dollar dollars dolares"],
  ["CHF", 1, "franc francs franken francos"],
  ["CHF", 0.01, "rappen"],
  ["JPY", 1, "yen"],
  ["dozen", 12, "dozen dozens dutzend douzaine douzaines docena docenas"],
];

const tableOf = (rows: typeof SYMBOLS): Map<string, Measure> =>
  new Map(
    rows.flatMap(([dimension, factor, names]) =>
      names.split(" ").map((name) => [name, { dimension, factor }] as const),
    ),
  );

const BY_SYMBOL = tableOf(SYMBOLS);
const BY_WORD = tableOf(WORDS);
/** "pounds" may be a weight, "second" an ordinal; these count as a unit only behind a figure. */
const SQUARE = /^(?:square|sq|quadrat)[ .\-]{0,2}/iu;
const CUBIC = /^(?:cubic|cu)[ .\-]{0,2}/iu;
const SQUARED = /^[ ](?:carres?|carrés?|cuadrados?)(?!\p{L})/iu;
const CUBED = /^[ ](?:cubes?|cúbicos?|cubicos?)(?!\p{L})/iu;
const PER_CENT =
  /^(?:per cent|pour cent|por ciento|v\.? ?H\.?|percentage points?|Prozentpunkten?|points? de pourcentage|puntos porcentuales)(?!\p{L})/iu;
const DEGREES = /^(?:degrees?|Grad|degrés?|grados?)(?: (C(?:elsius)?|F(?:ahrenheit)?))?(?!\p{L})/iu;
/** In Japanese a unit in Latin letters ends where other signs begin: "90mである". */
const TOKEN =
  /^(?:°[ ]?[CFcf]|º[ ]?[CF]|[%%‰€£¥¥℃℉°º]|US\$|[kT][€$£]|\$|km\/h|m\/s|[\p{Script=Latin}µμ]{1,24}(?![\p{Script=Greek}\p{Script=Cyrillic}])[²³]?|[\p{L}µμ]{1,24}[²³]?)/u;
const JAPANESE = /^[\p{Script=Han}\p{Script=Katakana}ー%%か㎡]/u;
/** The longest name of a unit in Japanese. */
const MOST_SIGNS = 8;

/** The unit that a text begins with, and how many characters it takes; null where it begins with none. */
export function measureAt(text: string): (Measure & { readonly length: number }) | null {
  const perCent = PER_CENT.exec(text);
  if (perCent !== null) return { dimension: "percent", factor: 1, length: perCent[0].length };
  const degrees = DEGREES.exec(text);
  if (degrees !== null) {
    const dimension = /^f/i.test(degrees[1] ?? "c") ? "fahrenheit" : "celsius";
    return { dimension, factor: 1, length: degrees[0].length };
  }
  for (const [before, power] of [
    [SQUARE, 2],
    [CUBIC, 3],
  ] as const) {
    const found = before.exec(text);
    const length = found === null ? null : measureAt(text.slice(found[0].length));
    if (found !== null && length?.dimension === "length")
      return raised(length, power, found[0].length + length.length);
  }
  return JAPANESE.test(text) ? japaneseMeasure(text) : latinMeasure(text);
}

function latinMeasure(text: string): (Measure & { length: number }) | null {
  const token = TOKEN.exec(text)?.[0];
  if (token === undefined) return null;
  const found = BY_SYMBOL.get(token.replace(" ", "")) ?? BY_WORD.get(foldWord(token));
  if (found === undefined) return null;
  const after = text.slice(token.length, token.length + 12);
  const power = SQUARED.exec(after) ?? CUBED.exec(after);
  if (power !== null && found.dimension === "length") {
    return raised(found, SQUARED.test(after) ? 2 : 3, token.length + power[0].length);
  }
  return { ...found, length: token.length };
}

/** Cubes are counted in litres. */
function raised({ factor }: Measure, power: 2 | 3, length: number): Measure & { length: number } {
  return power === 2
    ? { dimension: "area", factor: factor ** 2, length }
    : { dimension: "volume", factor: factor ** 3 * 1_000, length };
}

function japaneseMeasure(text: string): (Measure & { length: number }) | null {
  for (let length = MOST_SIGNS; length > 0; length -= 1) {
    const found = BY_SYMBOL.get(text.slice(0, length));
    if (found !== undefined && text.length >= length) return { ...found, length };
  }
  return null;
}

const CURRENCY_BEFORE =
  /(?:([€£$¥¥]|US\$)[ \u00A0\u202F]?|(?<!\p{L})(EUR|GBP|USD|CHF|JPY|Fr\.?)[ \u00A0\u202F])$/u;

/** The currency that stands before a figure. */
export function currencyBefore(text: string): Measure | null {
  const found = CURRENCY_BEFORE.exec(text);
  return BY_SYMBOL.get((found?.[1] ?? found?.[2] ?? "").replace(".", "")) ?? null;
}
