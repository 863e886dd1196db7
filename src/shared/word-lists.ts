import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { foldWord } from "./normalise-text.ts";

const words = z.array(z.string().min(1)).default([]);

/** What a file of `assets/words`, one a language, may list. */
const listsSchema = z.strictObject({
  /** Of what is written again for each month, meeting or case, and of names that count pictures. "-bericht" is the end of a word. */
  series: words,
  /** Of a document that another one has replaced, one that is not finished, and one that is. */
  old: words,
  draft: words,
  final: words,
  /** Of what frames a sentence, so that it does not state what its words say. */
  frames: z.strictObject({
    /** That deny what stands below, at the front or the end of a heading or of a line that ends with a colon. */
    denied: words,
    /** "What … not": behind one of these a heading denies wherever the denial stands. */
    asks_what: words,
    /** "When … failed": a heading that opens so tells when, and denies nothing. */
    circumstances: words,
    /** Headings above what is still to be done or decided. */
    open: words,
    options: words,
    either: words,
    examples: words,
    /** Of what others believe or say. */
    reported: words,
    /** Openings of a sentence that takes back the one before it. */
    retracted: words,
    yes: words,
    no: words,
  }),
  /** What a word says of its clause. */
  cues: z.strictObject({
    not: words,
    all: words,
    only: words,
    except: words,
    condition: words,
    at_least: words,
    at_most: words,
    over: words,
    under: words,
    plan: words,
    maybe: words,
    done: words,
    before: words,
    after: words,
    instead: words,
    than: words,
    /** Phrases that say none of what a word of them says alone: "so far". */
    neutral: words,
  }),
  /** Verbs, each with its denial: where one stands for the other a sentence says the contrary. */
  negated: z.array(z.tuple([z.string().min(1), z.string().min(1)])).default([]),
  /** Words that say the same of most subjects, a group a line, without accents: none that differs in degree, number or direction. */
  synonyms: words,
  /** What stands before a question and before its answer, such as "Q" and "A". */
  questions: z.strictObject({ asked: words, answered: words }),
  /** Of questions over tables. */
  tables: z.strictObject({
    /** "How many", and what is then counted of a table. */
    count: words,
    rows: words,
    /** That ask for a column added up. */
    sum: words,
    /** What rows are called that hold a total. */
    totals: words,
    /** What columns are called that say who, when, where and how much; "-platz" is the end of a word. */
    person: words,
    time: words,
    place: words,
    money: words,
    /** What is said of a figure that was computed. */
    said: z.strictObject({
      sum: z.string(),
      count: z.string(),
      rows: z.string(),
      left_out: z.string(),
      first: z.string(),
      last: z.string(),
    }),
  }),
  /**
   * Words of the names of fields and of the labels of figures that mean the same, by what they mean; words of one key of other languages
   * mean it too. `generic` are those that say no more than that it is a date or a number.
   */
  fields: z.record(z.string(), words).default({}),
});

type WordFile = z.infer<typeof listsSchema>;
type Lists = Readonly<Record<"series" | "old" | "draft" | "final", ReadonlySet<string>>>;
export type TableWords = WordFile["tables"];
export type FrameWords = Readonly<Record<keyof WordFile["frames"], readonly string[]>>;
export type CueWords = Readonly<Record<keyof WordFile["cues"], readonly string[]>>;

const FOLDER = join(import.meta.dirname, "..", "..", "assets", "words");

/** What files are called: codes of ISO 639. */
const CODES = { english: "en", german: "de", french: "fr", spanish: "es", japanese: "ja" } as const;

const files = new Map<string, WordFile>();

function wordsOf(code: string): WordFile {
  const known = files.get(code);
  if (known !== undefined) return known;
  const read = listsSchema.parse(JSON.parse(readFileSync(join(FOLDER, `${code}.json`), "utf8")));
  files.set(code, read);
  return read;
}

let merged: Lists | undefined;

/** The words of all languages, in lower case and without accents; read once. */
export function wordLists(): Lists {
  merged ??= mergeLists();
  return merged;
}

function mergeLists(): Lists {
  const all = readdirSync(FOLDER).map((file) => wordsOf(file.replace(/\.json$/, "")));
  const merge = (key: keyof Lists) => new Set(all.flatMap((lists) => lists[key]).map(foldWord));
  return {
    series: merge("series"),
    old: merge("old"),
    draft: merge("draft"),
    final: merge("final"),
  };
}

/** What frames a sentence of a language, in lower case. */
export const frameWords = (language: keyof typeof CODES): FrameWords =>
  wordsOf(CODES[language]).frames;

export const cueWords = (language: keyof typeof CODES): CueWords => wordsOf(CODES[language]).cues;

/** Verbs of a language, each with its denial. */
export const negatedWords = (language: keyof typeof CODES): WordFile["negated"] =>
  wordsOf(CODES[language]).negated;

/** Groups of words of a language that may stand for each other, with blanks between them. */
export const synonymGroups = (language: keyof typeof CODES): readonly string[] =>
  wordsOf(CODES[language]).synonyms;

/** What questions over tables of a language are made of. */
export const tableWords = (language: keyof typeof CODES): TableWords =>
  wordsOf(CODES[language]).tables;

let fields: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** For each word or phrase of the names of fields, in lower case and without accents, what it means; of all languages, read once. */
export function fieldWords(): ReadonlyMap<string, ReadonlySet<string>> {
  fields ??= Object.values(CODES)
    .flatMap((code) => Object.entries(wordsOf(code).fields))
    .reduce((known, [meaning, spelled]) => {
      for (const word of spelled.map(foldWord)) {
        known.set(word, new Set([...(known.get(word) ?? []), meaning]));
      }
      return known;
    }, new Map<string, ReadonlySet<string>>());
  return fields;
}

/** What stands before a question and before its answer, in all languages. */
export function questionMarks(): Readonly<Record<"asked" | "answered", readonly string[]>> {
  const all = Object.values(CODES).map((code) => wordsOf(code).questions);
  return {
    asked: all.flatMap(({ asked }) => asked),
    answered: all.flatMap(({ answered }) => answered),
  };
}

let totals: ReadonlySet<string> | undefined;

/** What rows are called that hold a total, in all languages, folded; read once. */
export function totalsOfTables(): ReadonlySet<string> {
  totals ??= new Set(
    Object.values(CODES)
      .flatMap((code) => wordsOf(code).tables.totals)
      .map(foldWord),
  );
  return totals;
}
