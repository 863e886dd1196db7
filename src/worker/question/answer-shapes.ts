/**
 * Patterns of answers in a sentence: a number, a sum of money, a time, a person. Each covers English, German, French and
 * Spanish together, because folders mix them. Every repeat is bounded.
 */
const NUMBER_WORDS = [
  "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen",
  "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|dozens?|half|twice|double|triple",
  "zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|fünfzehn|zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig",
  "neunzig|hundert|tausend|Millionen|Milliarden|Dutzend|halb|doppelt",
  "deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|quarante|cinquante|soixante",
  "cent|cents|mille|milliers|douzaine|moitié|demi",
  "dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|veinte|treinta|cuarenta|cincuenta|sesenta",
  "setenta|ochenta|noventa|cien|ciento|mil|miles|millón|millones|docena|mitad|medio|media",
].join("|");
const whole = (words: string): string => String.raw`(?<![\p{L}\p{N}])(?:${words})(?![\p{L}\p{N}])`;
const shape = (...parts: string[]): RegExp => new RegExp(parts.join("|"), "iu");

const ONE = "an?|one|ein|eine[nmrs]?|une?|un|una|uno";
const MANY = String.raw`several|few|mehrere|einige|plusieurs|quelques|varios|varias|algunos|algunas`;
const PERIODS =
  "daily|weekly|monthly|yearly|hourly|quarterly|annually|täglich|wöchentlich|monatlich|jährlich|quotidien(?:ne)?(?:ment)?|hebdomadaire|mensuel(?:le)?|annuel(?:le)?|diario|diaria|diariamente|semanal|mensual|anual|anualmente";
const UNITS_OF_TIME =
  "seconds?|minutes?|min|hours?|hrs?|h|days?|nights?|weeks?|fortnights?|months?|seasons?|years?|decades?|century|centuries|Sekunden?|Minuten?|Stunden?|Std|Tage?n?|Nächten?|Nacht|Wochen?|Monate?n?|Jahre?n?|Jahrzehnte?n?|Jahrhunderte?n?|secondes?|heures?|jours?|nuits?|semaines?|mois|ans|années?|siècles?|segundos?|minutos?|horas?|días?|noches?|semanas?|mes(?:es)?|años?|siglos?|décadas?";

export const NUMBER = shape(
  String.raw`\d`,
  whole(`${NUMBER_WORDS}|${MANY}|${PERIODS}|one|eins|once`),
);

/** A number with a unit of time, so that a telephone number does not match. */
export const DURATION = shape(
  String.raw`(?:\d|(?<!\p{L})(?:${NUMBER_WORDS}|${MANY}|${ONE}))[ \u00A0\u202F-]{1,2}(?:(?:and|und|et|y) (?:a |an |ein |une? )?\p{L}{2,10} |\p{Ll}{3,12} )?(?:${UNITS_OF_TIME})(?!\p{L})`,
  whole(
    "at once|immediately|overnight|permanently|sofort|umgehend|über Nacht|immédiatement|tout de suite|inmediatamente|enseguida|(?:since|from|seit|von|depuis|desde) [^.;]{1,40}|until|till|bis|jusqu['’]\\p{L}{1,3}|hasta",
  ),
);
export const LENGTH =
  /\d ?(?:m|km|cm|mm|ft|nm|Meter|Metern|Kilometer|Zentimeter|mètres?|kilomètres?|metros?|kilómetros?|metres?|meters?|kilomet(?:re|er)s?|miles?|feet|foot|inch(?:es)?|yards?|Seemeilen|Meilen|millas?|milles?)(?!\p{L})/iu;

/** A sum with its currency, or a word for "free of charge". */
export const MONEY = shape(
  String.raw`[€$£¥₣]|\d[ \u00A0\u202F]?(?:EUR|CHF|USD|GBP)`,
  whole(
    "EUR|CHF|USD|GBP|euros?|dollars?|pounds?|pence|francs?|Franken|cents?|pesos?|libras?|pfund|Rappen|free(?: of charge)?|kostenlos|kostenfrei|umsonst|gratuit(?:e|es|s)?|gratis|nothing|nichts|rien|nada",
  ),
);

const MONTHS =
  "jan(?:uary|uar|vier)?|feb(?:ruary|ruar|rero)?|février|märz|mar(?:ch|s|zo)?|apr(?:il)?|avril|abril|may|mai|mayo|june?|juni|juin|junio|july?|juli|juillet|julio|aug(?:ust)?|août|agosto|sept?(?:ember|embre|iembre)?|septiembre|o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|de[cz](?:ember|embre)?|décembre|diciembre|enero";
const WEEKDAYS =
  "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tag(?:s|e|en)?|mittwochs?|sonnabends?|lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?";
const WORDS_OF_TIME =
  "today|tomorrow|yesterday|tonight|morning|noon|afternoon|evening|midnight|night|spring|summer|autumn|winter|easter|christmas|century|centuries|era|period|age|war|always|never|now|daily|weekly|monthly|yearly|annually|every|each|after|before|during|since|until|ago|later|earlier|next|last|early|late|immediately|soon|once|when|heute|morgen|gestern|mittags?|abends?|nachts?|vormittags?|nachmittags?|frühling|frühjahr|sommers?|herbst|winters?|ostern|weihnachten|pfingsten|jahrhunderts?|sofort|nach|vor|während|seit|bis|sobald|wenn|jeden|jede|jedes|demain|hier|aujourd['’]hui|matin|midi|soir|minuit|nuit|printemps|été|automne|hiver|noël|pâques|siècle|après|avant|pendant|depuis|chaque|tous les|toutes les|hoy|mañana|ayer|tarde|noche|mediodía|medianoche|primavera|verano|otoño|invierno|siglo|después|antes|durante|desde|cada|todos los|todas las";
export const TIME = shape(
  String.raw`\d`,
  whole(`${MONTHS}|${WEEKDAYS}|${WORDS_OF_TIME}|${PERIODS}`),
);
/** A time of the day. */
export const CLOCK = shape(
  String.raw`\d ?[:.h] ?\d\d|\d ?(?:a\.?m|p\.?m|Uhr|o['’]clock|heures?|horas?|h)(?!\p{L})`,
  whole(
    "noon|midnight|dawn|dusk|sunrise|sunset|mittags?|mitternacht|midi|minuit|mediodía|medianoche|las \\p{L}{3,8}|(?:at|um|à|a las?) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)",
  ),
);
/** A day with its month, a name of a day or month, a date in digits, or a year. */
export const DATE = shape(
  String.raw`\d{1,4}[./-]\d{1,2}[./-]|(?<!\d)1?\d{3}s?(?!\d)|(?<!\d)20\d\d(?!\d)`,
  String.raw`\d(?:st|nd|rd|th|er|\.)?(?: (?:of|de|du))? (?:${MONTHS})(?!\p{L})`,
  whole(
    `${MONTHS}|${WEEKDAYS}|today|tomorrow|yesterday|heute|morgen|gestern|demain|hier|aujourd['’]hui|hoy|mañana|ayer|century|jahrhunderts?|siècle|siglo`,
  ),
);
export const YEAR = shape(
  String.raw`(?<!\d)[12]\d{3}s?(?!\d)|(?<!\d)\d{3,4}(?!\d)|\d\ds(?!\p{L})`,
  whole(
    "century|jahrhunderts?|siècle|siglo|(?:this|last|next) year|(?:dieses|letztes|nächstes) Jahr",
  ),
);

export const OFTEN = shape(
  whole(
    `${PERIODS}|every|each|per|times|once|twice|always|never|rarely|seldom|often|regularly|constantly|alle|jede[nrsm]?|mal|einmal|zweimal|dreimal|\\p{L}{2,10}mal|immer|nie|selten|oft|stets|chaque|tous|toutes|fois|toujours|jamais|souvent|par|cada|todos|todas|vez|veces|siempre|nunca|por`,
  ),
  String.raw`\dx(?!\p{L})|\d ?×`,
);
export const PERCENT = shape(
  String.raw`\d ?%`,
  whole(
    "per ?cent(?:age)?|percent|Prozent|pour ?cent|por ciento|half|third|quarter|hälfte|drittel|viertel|moitié|tiers|quart|mitad|tercio|cuarto|majority|most|all|none",
  ),
);
export const AGE = shape(
  String.raw`(?:\d|(?<!\p{L})(?:${NUMBER_WORDS}))[ -](?:years?|yrs?|months?|weeks?|days?)[ -](?:old|of age)`,
  String.raw`(?:\d|(?<!\p{L})(?:${NUMBER_WORDS}))[ -](?:Jahre?|Monate?|Wochen) (?:alt|jung)|\d-?jährig`,
  String.raw`(?:\d|(?<!\p{L})(?:${NUMBER_WORDS}))(?: de)? (?:ans|años|mois|meses)(?!\p{L})`,
  whole(
    "aged? (?:of )?\\d{1,3}|born|geboren|geb|née?s?|nació|nacid[oa]|built|gebaut|baujahr|construit|construido|(?:aus|von|de|from|since|seit) (?:dem Jahr )?[12]\\d{3}",
  ),
);
export const COLOUR = shape(
  whole(
    "red|blue|green|yellow|black|white|gr[ae]y|brown|orange|pink|purple|violet|silver|gold(?:en)?|cream|beige|turquoise|rot(?:e[nrsm]?)?|blau(?:e[nrsm]?)?|grün(?:e[nrsm]?)?|gelb(?:e[nrsm]?)?|schwarz(?:e[nrsm]?)?|weiß(?:e[nrsm]?)?|grau(?:e[nrsm]?)?|braun(?:e[nrsm]?)?|rouges?|bleue?s?|verte?s?|jaunes?|noire?s?|blanc(?:he)?s?|gris(?:e|es)?|roj[oa]s?|azul(?:es)?|verdes?|amarill[oa]s?|negr[oa]s?|blanc[oa]s?|marr[óo]n(?:es)?",
  ),
);
/** A long number, or a short one behind a word for a telephone or an extension. */
export const PHONE =
  /\+?\d(?:[\d ()/.–-]{4,20})\d|(?<!\p{L})(?:extension|ext|internal|interne?|interno|extensión|Durchwahl|Nebenstelle|poste|anexo|(?:tele)?phone|tel|telefon|téléphone|teléfono)(?:[.:]| (?:is|ist|est|es|number|nummer|no\.?|nr\.?))* {0,2}\d{2,6}(?!\p{L})/iu;
export const MAIL_ADDRESS = /\S@\S|\[at\]|\(at\)/;
/** A web or network address, a street, or any number, which may be a house's. */
export const ADDRESS =
  /\d|:\/\/|(?<!\p{L})www\.|[\p{L}\d]\[?\.\]?(?:example|com|org|net|de|fr|es|local)(?!\p{L})|\p{L}(?:straße|strasse|weg|gasse|platz|allee|damm|ufer)(?!\p{L})|(?:Street|Road|Lane|Avenue|Square|rue|avenue|quai|place|calle|plaza|avenida) /iu;
/** A code that can be typed: letters with digits, or words in quotes or backticks. */
export const TOKEN =
  /\p{L}[\p{L}._/-]{0,20}\d|\d[\d._/-]{0,20}[\p{L}\d]|["“„«`'][^"”“»`']{1,60}["”“»`']/u;
export const REASON =
  /(?<!\p{L})(?:because|since|so that|due to|owing to|thanks to|therefore|reason|cause[ds]?|in order to|as|for|to|weil|da|denn|wegen|damit|deshalb|daher|darum|grund|parce que|car|puisque|afin|pour|à cause|en raison|grâce|porque|ya que|debido|para|por)(?!\p{L})/iu;
/** A preposition of place. */
export const PLACE = shape(
  whole(
    "in|at|on|near|to|from|under|behind|beside|between|inside|outside|above|below|across|along|through|into|onto|by|around|within|via|here|there|im|am|auf|bei|beim|an|aus|nach|neben|hinter|vor|unter|über|zwischen|zum|zur|vom|ins|ans|dans|en|à|au|aux|sur|sous|chez|près|derrière|devant|entre|vers|de|du|des|a|al|sobre|bajo|junto|cerca|detrás|delante|hacia|desde",
  ),
);
/** Words that name something ("called", "known as"), or a quoted name. */
export const NAMING =
  /(?<!\p{L})(?:called|named|names?|known as|calls|titled|heißt|heißen|hieß|namens|namen?|genannt|nennt|appel(?:é|ée|és|le|lent|ait)|nomm(?:é|ée|és|e)|nom|llam(?:a|an|aba|ada|ado|adas|ados|amos)|nombre|denomin\p{L}{1,6}|conocid[oa]s?|connue?s? sous)(?!\p{L})|["“„«][^"”“»]{2,60}["”“»]/iu;
/** Words for a secret: a text that holds one names its kind. */
export const SECRET =
  /(?<!\p{L})(?:password|passphrase|passwort|kennwort|contraseña|clave|mot de passe|pin|iban)(?!\p{L})/iu;
export const STREET =
  /\p{L}(?:straße|strasse|str\.|weg|gasse|platz|allee|damm|ufer)(?!\p{L})|(?<!\p{L})(?:Straße|Street|Road|Lane|Avenue|Square|rue|avenue|quai|place|calle|plaza|avenida|paseo|muelle)(?!\p{L})/iu;
