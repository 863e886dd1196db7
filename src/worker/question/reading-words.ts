import { normaliseText } from "../../shared/normalise-text.ts";

const wordsOf = (...lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")));

type Kind = "reading" | "behind" | "asking" | "saying" | "inside" | "noun" | "article" | "other";

/** Words before a name that ask for what stands in it, in their forms; German, French and Spanish beside English. */
const READING = wordsOf(
  "read reads reading reread open opens opening summarize summarizes summarized summarizing summarise summarises",
  "summarised summarising summary summaries show print cat load view display quote cite review inspect examine analyze",
  "analyse explain describe translate parse extract scan skim recap tl;dr tldr paraphrase outline condense proofread",
  "content contents overview gist according",
  "lies lest lese lesen liest les vorlesen durchlesen lies' öffne öffnen öffnet fasse fass fasst zusammenfassen",
  "zusammenfassung zusammenfassungen kurzfassung zeige zeig zeigen zeigst anzeigen schau schaue sieh zitiere zitieren",
  "übersetze übersetzen erkläre erklär beschreibe prüfe analysiere untersuche durchsuche lade drucke resümiere überblick",
  "inhalt inhalts laut gemäß",
  "lis lit lisez lisons lire relis relire ouvre ouvrez ouvrir résume résumes résumez résumer résumé affiche affichez",
  "afficher montre montrez montrer montre-moi lis-moi résume-moi cite citez citer traduis traduisez traduire explique",
  "expliquez expliquer décris décrivez analyse analysez analyser consulte consultez consulter parcours parcourez regarde",
  "regardez contenu synthèse synthétise synthétisez selon d'après aperçu",
  "lee lea leed leer léeme léelo léela leyendo abre abra abrid abrir ábreme resume resuma resumid resumir resúmeme",
  "resumen resúmenes muestra muestre mostrar muéstrame enseña enséñame enseñar cita cite citar traduce traduzca traducir",
  "explica explique explicar describe describa analiza analice analizar revisa revise revisar consulta consulte consultar",
  "mira contenido contenidos síntesis sintetiza imprime carga cargar según",
  "leia leiam ler lê resumo resumir mostre conteúdo leggi leggere legga apri aprire riassumi riassumere riassunto mostrami",
  "contenuto secondo lees lezen vat samenvatten samenvatting toon inhoud прочитай прочитайте прочти открой покажи przeczytaj",
);

/** German and Dutch put them behind the name: "Kannst du LICENSE lesen?", "Fass LICENSE zusammen". */
const READING_BEHIND = wordsOf(
  "lesen vorlesen durchlesen liest gelesen öffnen zusammen zusammenfassen zusammenfasst zusammengefasst zusammenzufassen",
  "vorzulesen anzeigen zeigen anschauen ansehen zitieren übersetzen erklären prüfen analysieren auswerten lezen openen",
  "samenvatten",
);

/** Chinese and Japanese: read, open, summarise, what is written. */
const READING_UNSPACED = /读|讀|読|阅|打开|開い|开|总结|總結|要約|まとめ|概括|说明|書い|内容/u;
const UNSPACED: ReadonlySet<Kind> = new Set(["reading", "behind"]);

/** Words that ask what; only together with one that says where it would stand. */
const ASKING = wordsOf(
  "what what's whats which was welche welcher welches worum wovon worüber que quoi quel quelle quels quelles qu'est-ce qu'y",
  "qu'il qu'a-t-il qué cuál cuáles que o cosa che wat",
);
const SAYING = wordsOf(
  "say says said state states stated contain contains contained mention mentions mentioned describe describes tell tells",
  "define defines cover covers specify specifies include includes hold holds written stands name names give gives list lists ask asks require requires",
  "steht stehen stand sagt sagen besagt enthält beinhaltet beschreibt regelt schreibt geht drin drinsteht nennt nennen gibt verlangt",
  "dit dis disent dit-il contient contiennent parle mentionne décrit indique précise trouve-t-on y-a-t-il a-t-il écrit donne donnent prévoit exige",
  "dice dicen pone ponen contiene contienen hay trata menciona describe indica cuenta escrito da dan nombra exige",
  "diz contém tem scritto c'è staat zegt",
);
const INSIDE = wordsOf("in inside within im ins dans en dentro em nel nella nello di");

/** Words that say outright that a file is meant, beside its name. */
const FILE_NOUNS = wordsOf(
  "file files datei dateien fichier fichiers archivo archivos fichero ficheros arquivo ficheiro bestand document dokument",
  "documento path pfad chemin ruta called named namens nommé nommée appelé appelée llamado llamada titled",
);
const ARTICLES = wordsOf(
  "the a an my our your this that its der die das den dem des mein meine meiner unser unsere diese dieser dieses le la les",
  "un une mon ma notre ce cette du de des el la los las lo un una mi nuestro nuestra este esta del al o os as il lo het",
  "bitte please mal mir moi me nous us",
);

const KINDS: readonly (readonly [Kind, ReadonlySet<string>])[] = [
  ["reading", READING],
  ["behind", READING_BEHIND],
  ["asking", ASKING],
  ["saying", SAYING],
  ["inside", INSIDE],
  ["noun", FILE_NOUNS],
  ["article", ARTICLES],
];

type Word = { readonly start: number; readonly end: number; readonly kinds: ReadonlySet<Kind> };
const OTHER: ReadonlySet<Kind> = new Set(["other"]);
const END_OF_SENTENCE: ReadonlySet<Kind> = new Set();

/** How far a verb reaches, in words. */
const REACH = 10;

/** A word, or a mark that ends a sentence: a dot counts behind three letters, since "z.B." and "Dr." end none. */
const WORD = /[\p{L}\p{M}\p{N}_]+(?:['’;-][\p{L}\p{M}]+)*|[!?;\n](?=\s|$)|(?<=\p{L}{3})\.(?=\s)/gu;

type Reader = {
  /** Whether what stands from `start` to `end` is asked to be read, by a verb or phrase of its sentence. */
  asksFor(span: { readonly start: number; readonly end: number }): boolean;
};

/** Finds the words of a question once, so that many names of it are decided in linear time. Pure. */
export function findReadingWords(question: string): Reader {
  const words = [...question.matchAll(WORD)].map(({ 0: word, index }): Word => ({
    start: index,
    end: index + word.length,
    kinds: kindsOf(word),
  }));
  return {
    asksFor: ({ start, end }) => {
      const first = firstFrom(words, start);
      const before = sentence(words.slice(Math.max(0, first - REACH), first).toReversed());
      const next = firstFrom(words, end);
      // A script without blanks writes on where the name ends.
      const from = (words[next - 1]?.end ?? 0) > end ? next - 1 : next;
      return isAsked(before, sentence(words.slice(from, from + REACH)));
    },
  };
}

function kindsOf(word: string): ReadonlySet<Kind> {
  if (/^[!?;.\n]/.test(word)) return END_OF_SENTENCE;
  const folded = normaliseText(word, "NFC").toLowerCase().replaceAll("’", "'");
  if (READING_UNSPACED.test(folded)) return UNSPACED;
  const kinds = KINDS.flatMap(([kind, set]) => (set.has(folded) ? [kind] : []));
  return kinds.length === 0 ? OTHER : new Set(kinds);
}

/** The words up to the end of the sentence, nearest first. */
function sentence(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex(({ kinds }) => kinds.size === 0);
  return end === -1 ? words : words.slice(0, end);
}

function isAsked(before: readonly Word[], after: readonly Word[]): boolean {
  const has = (words: readonly Word[], kind: Kind): boolean =>
    words.some(({ kinds }) => kinds.has(kind));
  if (has(before, "reading") || has(after, "behind")) return true;
  const nearest = before.find(({ kinds }) => !kinds.has("article"));
  if (nearest?.kinds.has("noun") === true || after[0]?.kinds.has("noun") === true) return true;
  if (!has(before, "asking") && !has(after, "asking")) return false;
  return has(before, "saying") || has(after, "saying") || nearest?.kinds.has("inside") === true;
}

/** Index of the first word that starts at or behind a place; words stand in order. */
function firstFrom(words: readonly Word[], place: number): number {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle]?.start ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
