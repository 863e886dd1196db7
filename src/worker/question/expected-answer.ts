import {
  ADDRESS,
  AGE,
  CLOCK,
  COLOUR,
  DATE,
  DURATION,
  LENGTH,
  MAIL_ADDRESS,
  MONEY,
  NAMING,
  NUMBER,
  OFTEN,
  PERCENT,
  PHONE,
  PLACE,
  REASON,
  SECRET,
  STREET,
  TIME,
  TOKEN,
  YEAR,
} from "./answer-shapes.ts";
import { stemWord, wordsOf } from "../text/content-words.ts";

/** Words for people and groups without a name. */
const ROLES =
  /(?<!\p{L})(?:team|crew|board|committee|council|company|police|staff|members?|everybody|everyone|nobody|family|parents|people|students|Vorstand|Mannschaft|Polizei|Firma|Familie|Eltern|Mitglieder|Kundin|Kunde|Leitung|Kasse|niemand|alle|équipe|entreprise|mairie|maire|famille|parents|personne|membres|equipo|empresa|alcalde(?:sa)?|policía|familia|padres|nadie|miembros|encargad[oa])(?!\p{L})/iu;
const TRADE =
  /(?<!\p{L})(?:the|an?|der|die|den|dem|des|vom|ein|eine[mnrs]?|le|la|les|un|une|du|au|el|los|las|una|del|al|our|unser(?:e[mnrs]?)?|notre|nuestr[oa]|by|von|par|por) (?:\p{Ll}{2,20} )?(?!number|water|order|paper|letter|other|matter|weather|winter|summer|river|corner|computer|printer|door|floor|colour|color|motor|error|doctor's)\p{L}{2,20}(?:er|ers|or|ors|ist|ists|ian|ians|man|men|woman|keeper|erin|orin|istin|ärtin|innen|eur|eurs|euse|ien|iens|ier|ière|ero|era|eros|ista|istas|dor|dora|dores|tor|tora)(?!\p{L})/u;
/** "A marmot had", "by the neighbours": any noun that acts as a person does. */
const DOER =
  /(?<!\p{L})(?:an?|the|une?|un|una) (?:\p{Ll}{2,20} )?\p{Ll}{2,20} (?:had|has|have|did|will|a|ont|avait|ha|han|había) |(?<!\p{L})(?:by|von|par|por) (?:an?|the|our|eine[mr]|de[mnr]|une?|les?|una?|los|las) \p{L}{2,20}/u;
const CAPITALISED = /(?<![\p{L}\p{N}'’])(\p{Lu}[\p{L}\p{N}'’.-]{0,30})/gu;
/** German writes every noun with a capital letter: behind one of these words it is a common noun, not a name. */
const DETERMINED =
  /(?<!\p{L})(?:de[rmns]|das|die|ein|eine[mnrs]?|kein(?:e[mnrs]?)?|am|im|zum|zur|vom|beim|ins|ans|aufs|mein(?:e[mnrs]?)?|sein(?:e[mnrs]?)?|ihr(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|diese[mnrs]?|jede[mnrs]?|alle[mnr]?|mit|ohne|für|auf|in|an|aus|nach|zu|um|pro|je|\p{Ll}{2,20}(?:e[nrsm]?)|\d[\d.,]*) $/u;
const TITLED = /(?<!\p{L})(?:Herrn?|Frau|Familie|Firma|Dr\.|Prof\.|Pastor|Kapitän) $/u;
const GERMAN =
  /(?<!\p{L})(?:der|die|das|und|ist|ein|eine|nicht|mit|wurde|hat|wird|im|am|auf|von|zu[mr]?)(?!\p{L})/gu;
const NO_NAME = new Set(
  `monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
   november december montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember
   nacht tag tage woche monat jahr uhr euro eur prozent stunden minuten the a an this that these those it he she they we you i in
   on at by for from to with as if when while after before there here his her their its our my your some all each every no not
   der die das ein eine es er sie wir ich ihr im am bei mit von nach vor seit wenn als und oder aber auch nur le la les un une des
   il elle ils elles on nous vous je dans pour par sur avec mais et ou el los las una unos en con por para sin su sus se ya`.split(
    /\s+/,
  ),
);

/**
 * Whether a sentence holds a name that the question does not. Capital letters mark a name; in a German sentence the word before
 * it counts too. The first word of a sentence is no proof by its capital alone.
 */
function holdsNewName(text: string, asked: ReadonlySet<string>): boolean {
  const isGerman = [...text.slice(0, 400).matchAll(GERMAN)].length >= 2;
  for (const match of text.matchAll(CAPITALISED)) {
    const found = match[1] ?? "";
    const [first = ""] = wordsOf(found);
    if (first.length < 2 || asked.has(first) || NO_NAME.has(first)) continue;
    const before = text.slice(Math.max(0, match.index - 40), match.index);
    const isFirst = /(?:^|[.!?:] |["“„«(*_-] ?)$/u.test(before);
    const after = text.slice(match.index + found.length, match.index + found.length + 40);
    const isFollowed = /^ \p{Lu}/u.test(after);
    if (isFirst && !isFollowed && !ACTS.test(after)) continue;
    if (isGerman && !TITLED.test(before) && !isFollowed && DETERMINED.test(before)) continue;
    return true;
  }
  return false;
}

const ACTS =
  /^(?:'s|’s)?,? (?:\p{Ll}{2,20}(?:s|ed|t|te|é|ait|a|ó)|will|can|did|took|made|won|led|ran|wrote|began|gave|built|and|und|et|y|hat|wird)(?!\p{L})/u;

/** Whether a text names somebody, or holds a trade, a role, or a doer. */
const holdsPerson = (text: string, asked: ReadonlySet<string>): boolean =>
  holdsNewName(text, asked) ||
  withoutAsked(text, asked).some((part) => [ROLES, TRADE, DOER].some((shape) => shape.test(part)));

/** Cuts the words of the question out of a text: a role that the question names is not the one it asks for. */
const withoutAsked = (text: string, asked: ReadonlySet<string>): string[] => {
  const words = text.split(" ");
  const kept = words.map((word) => (asked.has(wordsOf(word)[0] ?? "") ? "|" : word));
  return kept.join(" ").split("|");
};

/** Factors for a sentence that holds the expected kind of answer: higher where few other sentences hold that kind. */
const BONUS = { common: 1.35, rare: 2.2 } as const;

/** The kind of thing that the answer to a question must hold. */
export type ExpectedAnswer = {
  /** Null where the question shows no kind. */
  readonly kind: string | null;
  /** Whether a sentence holds such a thing; always true where no kind is expected. */
  readonly isIn: (text: string) => boolean;
  /** The factor by which a sentence fits the question. */
  readonly fit: (text: string) => number;
};

type Kind = {
  readonly kind: string;
  /** Matches the folded words of the question, each clause between bars: "| how much is a share |". */
  readonly asks: RegExp;
  readonly holds: (text: string, asked: ReadonlySet<string>) => boolean;
  readonly bonus: number;
  /** The kind only raises a sentence's score: an answer may lack it. */
  readonly isLoose?: true;
};

/** The beginning of a clause, with up to two words before the question word: "At what", "Bis wann", "De quelle". */
const OPENS = String.raw`\| (?:[^ |]+ ){0,2}`;
const anyOf = (...patterns: string[]): RegExp => new RegExp(patterns.join("|"), "u");
const holding =
  (...shapes: RegExp[]) =>
  (text: string): boolean =>
    shapes.some((shape) => shape.test(text));

const BE = "(?:is|are|was|were|be|ist|sind|war|waren|est|sont|etait|etaient|es|son|era|eran|fue)";
const WHAT = "(?:what|which|whats|welche[mnrs]?|was|wie|quel|quelle|quels|quelles|que|cual|cuales)";
/** "What is the price", "Which phone number", "Wie lautet die Adresse", "Quel est le prix". */
const attribute = (nouns: string): string =>
  String.raw`${OPENS}${WHAT} (?:(?:${BE}|lautet|lauten|hat|has|do|does|tiene|a|did) )?(?:[^ |]+ ){0,3}(?:${nouns})(?= )`;

/** A number that no unit follows may be a sum: "asks 9,500". */
const BARE_NUMBER = /(?<![\p{L}\p{N}.,:/-])\d[\d.,]{1,12}(?!\d)(?![\d:/-]|[.,]\d| ?(?:\p{L}|%))/u;

/** The first kind that matches counts. */
const KINDS: readonly Kind[] = [
  {
    kind: "percentage",
    asks: anyOf(
      attribute(
        "percent|percentage|per cent|prozent|prozentsatz|pourcentage|porcentaje|fraction|share",
      ),
      String.raw`${OPENS}(?:how many|how much|wie viele?|combien|cuanto) (?:percent|per cent|prozent|pour cent|por ciento)`,
    ),
    holds: holding(PERCENT, NUMBER),
    bonus: BONUS.common,
  },
  {
    kind: "age",
    asks: anyOf(
      String.raw` how old | wie alt | quel age | que edad | cuantos anos (?:tiene|tenia|cumple) | age of `,
    ),
    holds: holding(AGE),
    bonus: BONUS.rare,
  },
  {
    kind: "clock time",
    asks: anyOf(
      " what time (?!period|frame|span|of year)| at which time | wie ?viel uhr | welche uhrzeit | quelle heure | que hora ",
    ),
    holds: holding(CLOCK),
    bonus: BONUS.rare,
  },
  {
    kind: "duration",
    asks: anyOf(
      " how (?:quickly|soon|long) | within (?:which|what|how) | wie (?:lange|schnell|bald) | combien de temps | (?:pendant|depuis) combien | cuanto tiempo | cuanto (?:dura|duro|tarda|tardo) | how many (?:years|months|weeks|days|hours|minutes|seconds) ",
    ),
    holds: holding(DURATION, LENGTH),
    bonus: BONUS.rare,
  },
  {
    kind: "frequency",
    asks: anyOf(
      " how often | wie (?:oft|haufig) | combien de fois | quelle frequence | que frecuencia | cuantas veces | how many times ",
    ),
    holds: holding(OFTEN, NUMBER),
    bonus: BONUS.common,
  },
  {
    kind: "money",
    asks: anyOf(
      String.raw` how much (?:money |(?:[^ |]+ ){0,8}(?:cost|costs|pay|pays|paid|earn|earns|charge|charges|owe|owes|spend|spent|price|rent) )`,
      String.raw`(?:was|wie ?viel(?: geld)?) (?:[^ |]+ )?(?:kostet|kosten|kostete|verdient|verdienen|zahlt|zahlen|bezahlt)(?: |$)`,
      String.raw`wie ?viel (?:[^ |]+ ){0,8}(?:gekostet|verdient|gezahlt|bezahlt|zahlen|kosten)(?: |$)`,
      String.raw`combien (?:[^ |]+ ){0,6}(?:coute|coutent|coutait|gagne|gagnent|paie|paye|payer|verse)(?: |$)`,
      String.raw`cuanto (?:dinero|cuestan?|costo|costaron|costaba|valen?|ganan?|ganaba|cobran?|pagan?|pago) `,
      attribute(
        "price|prices|cost|costs|fee|rent|deposit|deductible|salary|wage|budget|fine|preis|preise|kosten|miete|kaution|gehalt|lohn|gebuhr|nachzahlung|anzahlung|prix|cout|loyer|salaire|caution|tarif|tarifs|precio|coste|costo|alquiler|sueldo|salario|fianza|tarifa",
      ),
      " wie hoch (?:ist|sind|war|waren|wird) (?:[^ |]+ ){0,2}(?:preis|preise|kosten|miete|kaution|gehalt|lohn|gebuhr|nachzahlung|anzahlung|selbstbeteiligung|rechnung|betrag|beitrag|eintritt) ",
    ),
    holds: holding(MONEY, BARE_NUMBER),
    bonus: BONUS.common,
  },
  {
    kind: "phone number",
    asks: anyOf(
      attribute(
        "(?:phone|telephone|mobile|fax|cell) number|(?:tele)?(?:fon|phon)nummer|handynummer|numero de telephone|telephone|(?:numero de )?telefono|telefon|phone",
      ),
    ),
    holds: holding(PHONE),
    bonus: BONUS.rare,
  },
  {
    kind: "mail address",
    asks: anyOf(
      attribute(
        "e ?mail(?: address| adresse)?|mail address|mailadresse|adresse (?:e ?mail|electronique)|correo(?: electronico)?",
      ),
    ),
    holds: holding(MAIL_ADDRESS),
    bonus: BONUS.rare,
  },
  {
    kind: "address",
    asks: anyOf(attribute("address|adresse|anschrift|direccion")),
    holds: holding(ADDRESS),
    bonus: BONUS.common,
  },
  {
    kind: "secret",
    asks: anyOf(
      attribute("(?:[^ |]+ )?(?:password|passwort|kennwort|contrasena|pin|iban|mot de passe)"),
    ),
    holds: holding(SECRET),
    bonus: BONUS.rare,
  },
  {
    kind: "street",
    asks: anyOf(
      " (?:what|which) street | welche[rn]? (?:strasse|straße) | quelle rue | que calle ",
    ),
    holds: holding(STREET),
    bonus: BONUS.rare,
  },
  {
    kind: "code",
    asks: anyOf(
      attribute(
        "(?:[^ |]+ )?(?:serial number|seriennummer|part number|version|reference|referenz|referencia|code|codigo|model number|numero de serie|license plate|kennzeichen)",
      ),
    ),
    holds: holding(TOKEN, NUMBER),
    bonus: BONUS.common,
  },
  {
    kind: "count",
    asks: anyOf(" how many | wie ?viele | combien d(?:e|es)? (?!pluie|eau|temps) | cuant[oa]s "),
    holds: holding(NUMBER),
    bonus: BONUS.common,
  },
  {
    kind: "amount",
    asks: anyOf(
      " how (?:much|far|big|large|high|fast|hot|warm|late|early|deep|heavy|strong|tall|wide|thick|cold|loud) | wie ?viel | wie (?:hoch|gros|groß|weit|tief|schwer|schnell|stark|breit|dick|warm|heiß|kalt|laut) | combien | quelle (?:distance|taille|hauteur|profondeur|vitesse|temperature|longueur|largeur|quantite) | cuanto | cuanta | que (?:distancia|altura|profundidad|velocidad|temperatura|longitud|cantidad|tamano) ",
      attribute(
        "number|amount|temperature|limit|weight|length|height|depth|width|distance|speed|rate|population|size|anzahl|menge|temperatur|gewicht|lange|hohe|tiefe|breite|geschwindigkeit|poids|longueur|hauteur|numero|peso|longitud|altura|poblacion",
      ),
      " quel (?:est|etait) le nombre | at which (?:gust|wind|temperature|depth|speed|height|pressure) | bei welche[mr] (?:wind|temperatur|tiefe|druck) ",
    ),
    holds: holding(NUMBER),
    bonus: BONUS.common,
  },
  {
    kind: "year",
    asks: anyOf(
      String.raw`${OPENS}(?:what|which) years? `,
      " welche[mns]? jahre? | quelle annee | que ano ",
    ),
    holds: holding(YEAR),
    bonus: BONUS.common,
  },
  {
    kind: "date",
    asks: anyOf(
      " (?:what|which) (?:day|date|month|weekday) | date | deadline | welche[mnr] (?:tag|datum|monat) | quel (?:jour|mois) | quelle date | que (?:dia|fecha|mes) | deadline | frist ",
    ),
    holds: holding(DATE, TIME),
    bonus: BONUS.common,
  },
  {
    kind: "time",
    asks: anyOf(
      String.raw` when (?:is|are|was|were|do|does|did|will|would|can|could|should|must|may|has|have|had) `,
      String.raw`${OPENS}(?:wann|quand|cuando) `,
      " (?:what|which) (?:century|decade|era|season) ",
    ),
    holds: holding(TIME, CLOCK),
    bonus: BONUS.common,
  },
  {
    kind: "reason",
    asks: anyOf(" why | warum | weshalb | wieso | pourquoi | por que "),
    holds: holding(REASON),
    bonus: BONUS.common,
    isLoose: true,
  },
  {
    kind: "person",
    asks: anyOf(
      String.raw`${OPENS}(?:who|whom|whose|wer|wem|wen|wessen|quien|quienes) `,
      String.raw`\| (?:a |de |avec |pour |par |chez )?qui (?!est ce qui)`,
      "(?: and| was| is| beat) (?:who|whom|whose) ",
      " (?:what|which) (?:person|man|woman) ",
    ),
    holds: holdsPerson,
    bonus: BONUS.common,
  },
  {
    kind: "name",
    asks: anyOf(
      " wie (?:heißt|heissen|heißen|heist) | comment (?:s appelle|s appellent|se nomme) | como se llama(?:n|ba)? ",
      attribute("name|names|namen?|nom|noms|nombre|nombres"),
      String.raw` what (?:is|was|are) (?:[^ |]+ ){1,8}(?:called|named) \|`,
    ),
    holds: (text, asked) => NAMING.test(text) || holdsNewName(text, asked),
    bonus: BONUS.common,
  },
  {
    kind: "colour",
    asks: anyOf(
      " (?:what|which) colou?rs? | welche farben? | quelle couleur | (?:que|cual es el) color ",
    ),
    holds: holding(COLOUR),
    bonus: BONUS.common,
    isLoose: true,
  },
  {
    kind: "place",
    asks: anyOf(
      String.raw`${OPENS}(?:where|wo|wohin|woher|donde|adonde) `,
      String.raw`\| (?:d )?ou (?:est|sont|se|a|ont|etait|peut|va|vont|doit|faut|on|trouve|habite|vit) `,
    ),
    holds: holding(PLACE),
    bonus: BONUS.common,
  },
];

/** Finds the expected kind of answer by the wording of a question, in English, German, French and Spanish. */
export function expectedAnswer(question: string): ExpectedAnswer {
  const clauses = question.split(/[,;:!?¿¡()"“”„«»]+/).map((clause) => wordsOf(clause).join(" "));
  const asked = `| ${clauses.filter((clause) => clause !== "").join(" | ")} |`;
  const found = KINDS.find((kind) => kind.asks.test(asked));
  if (found === undefined) return ANYTHING;
  const words = new Set(wordsOf(question));
  const counted = COUNTED.exec(asked)?.[1];
  const fitOf = found.kind === "count" && counted !== undefined ? countOf(stemWord(counted)) : null;
  const isHeld = (text: string): boolean => found.holds(withoutNumbers(text, words), words);
  return {
    kind: found.kind,
    isIn: found.isLoose === true ? () => true : isHeld,
    fit: fitOf ?? ((text) => (isHeld(text) ? found.bonus : 1)),
  };
}

/** Removes the numbers of the question from a text: they are not the answer. */
const withoutNumbers = (text: string, words: ReadonlySet<string>): string =>
  text.replace(/(?<![\p{L}\p{N}.,])\p{N}+(?:[.:]\p{N}+)*(?![\p{L}\p{N}])/gu, (number) =>
    words.has(number) ? "" : number,
  );

/** For a question that shows no kind of answer. */
export const ANYTHING: ExpectedAnswer = { kind: null, isIn: () => true, fit: () => 1 };

const COUNTED = / (?:how many|wie ?viele|combien de|cuant[oa]s) ([^ |]+) /;

/** "Eight names" and "8 more names" count names for certain; any other number may, and gets the lower factor. */
function countOf(stem: string): (text: string) => number {
  return (text) => {
    if (!NUMBER.test(text)) return 1;
    const words = wordsOf(text);
    const isCounted = words.some(
      (word, index) =>
        NUMBER.test(word) &&
        words.slice(index + 1, index + 3).some((next) => stemWord(next) === stem),
    );
    return isCounted ? BONUS.rare : BONUS.common;
  };
}
