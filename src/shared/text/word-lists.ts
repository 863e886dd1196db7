import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { escapePattern, foldWord } from "./normalise-text.ts";
import { once } from "../once.ts";

const words = z.array(z.string().min(1)).default([]);
/** Single words, several per line. */
export const wordLines = z
  .array(z.string().min(1))
  .default([])
  .transform((all) => all.flatMap((line) => line.split(" ")));

const counts = z.record(z.string(), z.int()).default({});

/** The schema of the files in `assets/words`, one per language. */
const listsSchema = z.strictObject({
  /** Words for documents that recur (each month, meeting or case) and for numbered pictures. "-bericht" is the end of a word. */
  series: words,
  /** Words for a replaced, a draft and a final document. */
  old: words,
  draft: words,
  final: words,
  /** Frames of a sentence, because of which it does not state what its words say. */
  frames: z.strictObject({
    /** Negate the text below, at the start or end of a heading or of a line that ends with a colon. */
    denied: words,
    /** "What … not": after one of these a heading negates wherever its negation stands. */
    asks_what: words,
    /** "When … failed": a heading with this opening gives a time, and negates nothing. */
    circumstances: words,
    /** Headings above what is still to be done or decided. */
    open: words,
    options: words,
    either: words,
    examples: words,
    /** What others believe or say. */
    reported: words,
    /** Openings of a sentence that retracts the one before it. */
    retracted: words,
    yes: words,
    no: words,
  }),
  /** The effect of a word on its clause. */
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
    /** Phrases without the effect of their single words: "so far". */
    neutral: words,
  }),
  /** Openings of a sentence that needs the sentence before it. */
  openings: z
    .strictObject({
      /** They refer to what was said before. */
      pronouns: wordLines,
      /**
       * Pronouns that refer to nothing before these words: directly ("it rains"), or after a form of "be" ("it is important").
       */
      empty: wordLines,
      empty_before: wordLines,
      be: wordLines,
      empty_before_behind_be: wordLines,
      /** They refer back unless their noun is known, a time ("this year") or the text ("this report"), or a relative follows. */
      demonstratives: wordLines,
      times: wordLines,
      of_itself: words,
      relatives: wordLines,
      /** They refer back, unless a complement follows: "so far", "después de la muerte". */
      connectives: wordLines,
      complements: wordLines,
      phrases: words,
      /** "Each has a number" refers back, "each bell has" does not. */
      portions: wordLines,
      verbs: wordLines,
      /** After one of these a pronoun or a place refers back: "in it", "if there". */
      leading: wordLines,
      places: wordLines,
    })
    .prefault({}),
  /** Verbs, each with its negation. A sentence with the other one of a pair says the contrary. */
  negated: z.array(z.tuple([z.string().min(1), z.string().min(1)])).default([]),
  /** Groups of words, one a line, that mean the same for most subjects, without accents: none differs in degree or direction. */
  synonyms: words,
  /** Forms of one word without a common beginning, one group a line, without accents: strong verbs, nouns derived from verbs. */
  forms: words,
  /** Words that say nothing about a subject, and words of questions and orders, without accents. */
  stop: wordLines,
  /** Words that a sentence needs and its subject does not, without accents: cost, hold, become. */
  light: wordLines,
  /** Words that begin sentences or have a capital without being a name; and titles, which precede a name. */
  no_names: wordLines,
  titles: wordLines,
  /** Words that tell whether a name is that of a person. */
  people: z
    .strictObject({
      /** In names of firms, places and bodies, which are no persons. */
      bodies: wordLines,
      partners: wordLines,
      and: wordLines,
      /** After one of these comes the name of a thing, a place or an animal: "the ferry Anna". */
      things: wordLines,
      articles: wordLines,
      places: wordLines,
      /** Verbs after the name of a person, and phrases with which a person takes on a task. */
      acts: wordLines,
      takes_on: words,
      /** In front of a name: titles, greetings, labels of lists of names, and words that often accompany persons. */
      called: words,
      greeted: words,
      attending: words,
      beside: wordLines,
      /** After a name and a comma, a phrase with one of these is no role. */
      no_roles: wordLines,
      /** Frontmatter keys and table columns with names, and columns with roles. */
      members: wordLines,
      name_columns: wordLines,
      role_columns: wordLines,
    })
    .prefault({}),
  /** Words that mark a task, its owner and its due date. */
  tasks: z
    .strictObject({
      /** In front of a colon; in front of a name without a colon; and in headings above tasks. */
      marks: words,
      todo_for: words,
      headings: words,
      /**
       * Openings of requests, similar openings that are none, and phrases within or at the end of a sentence that make it a
       * request.
       */
      requests: words,
      no_requests: words,
      request_within: words,
      request_ends: words,
      /** After the name of the person addressed: "Jamal, can you". */
      calls: words,
      /** Promises of the writer, unless a word of the second list follows. */
      promises: words,
      no_promises: wordLines,
      /** After a name: verbs in the present tense, and infinitives after "will". */
      does: wordLines,
      will_do: wordLines,
      agreed: words,
      /** In front of a colon and a name; and in front of a name with or without a colon. */
      responsible: words,
      owner: words,
      titles: words,
      offices: wordLines,
      the: wordLines,
      articles: wordLines,
      who: wordLines,
      /** Verbs of duty, verbs of intent, and verbs that follow the name of an owner. */
      duties: words,
      intents: words,
      owner_duties: words,
      left_open: words,
      /** Signs of past events, of rules for everybody, and of finished work. */
      past: words,
      rules: words,
      done: wordLines,
      /** In front of a due date. */
      limits: words,
      limit_articles: wordLines,
      /** Days relative to the day of reading: alone, after "next", as a part of a time, or as a weekday. */
      soon: words,
      near: wordLines,
      next: words,
      next_times: wordLines,
      parts: words,
      part_times: words,
      every: wordLines,
      at: wordLines,
      in: wordLines,
      /** In letters and minutes: the writer and the recipient. */
      greetings: words,
      greeting_titles: words,
      notes_for: words,
      for: wordLines,
      addressed: words,
      farewells: words,
      from: wordLines,
      closings: words,
      minutes_by: words,
      minutes_role: words,
    })
    .prefault({}),
  /** Labels of common kinds of documents, and words that are frequent in them. */
  kinds: z.record(z.string(), wordLines).default({}),
  kind_cues: z.record(z.string(), wordLines).default({}),
  /** Labels for whatever no other label fits. */
  others: wordLines,
  /** Pairs of opposite words, without accents: "open/closed". */
  opposites: wordLines,
  /** Words for a document and its author, without accents: "the recipe asks for", "the author has tried". */
  of_document: wordLines,
  /** Words of the same choice by their meaning, without accents. */
  choices: z.record(z.string(), wordLines).default({}),
  /** Spelled numbers, without accents; ordinals and words for two; and multipliers of a number in front of them. */
  numbers: counts,
  ordinals: counts,
  scales: counts,
  /** From January and from Monday on, each in all its forms; `short_days` are the short forms in tables. */
  months: z.array(words).default([]),
  days: z.array(words).default([]),
  short_days: z.array(words).default([]),
  /** Halves and shares by their unit: seconds, months or per cent. A word in parentheses has to follow. */
  shares: z.record(z.string(), words).default({}),
  /** Marks in front of a question and its answer, such as "Q" and "A". */
  questions: z.strictObject({ asked: words, answered: words }),
  /** Words for questions about tables. */
  tables: z.strictObject({
    /** "How many", and the names of rows that it counts. */
    count: words,
    rows: words,
    /** Ask for the sum of a column. */
    sum: words,
    /** Names of rows with totals. */
    totals: words,
    /** Names of columns for who, when, where and how much; "-platz" matches the end of a word. */
    person: words,
    time: words,
    place: words,
    money: words,
    /** Sentences about a computed figure. */
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
   * Words of field names and of labels of figures, by their meaning; words under one key have the same meaning in all languages.
   * `generic` holds words that only say that the value is a date or a number.
   */
  fields: z.record(z.string(), words).default({}),
});

export type WordFile = z.infer<typeof listsSchema>;
export type CueWords = Readonly<Record<keyof WordFile["cues"], readonly string[]>>;

export const readAsset = (...path: readonly string[]): string =>
  readFileSync(join(import.meta.dirname, "..", "..", "..", "assets", ...path), "utf8");

/** Loads a file of `assets/names` on first use. */
export const readNames = <T>(file: string, schema: z.ZodType<T>): (() => T) =>
  once(() => schema.parse(JSON.parse(readAsset("names", file))));

/** File names: ISO 639 codes. */
const CODES = { english: "en", german: "de", french: "fr", spanish: "es", japanese: "ja" } as const;

type Listed = keyof typeof CODES;
const files = new Map<Listed, WordFile>();

/** The word file of a language, loaded on first use. */
export function wordFile(language: Listed): WordFile {
  const file = `${CODES[language]}.json`;
  const read = files.get(language) ?? listsSchema.parse(JSON.parse(readAsset("words", file)));
  files.set(language, read);
  return read;
}

export const allWordFiles = (): readonly WordFile[] =>
  Object.keys(CODES).map((language) => wordFile(language as Listed));

/**
 * Words and phrases of all languages as alternatives of a pattern, longest first. An apostrophe matches both of its characters.
 */
export const anyOf = (pick: (file: WordFile) => readonly string[]): string =>
  [...new Set(allWordFiles().flatMap(pick))]
    .sort((one, other) => other.length - one.length)
    .map((phrase) => escapePattern(phrase).replaceAll("'", "['’]"))
    .join("|");

/** The months or days of languages as alternatives of a pattern; the number of the matching group gives the month or day. */
export function namesInOrder(
  key: "months" | "days" | "short_days",
  languages: readonly Listed[] = Object.keys(CODES) as Listed[],
): string {
  const lists = languages.map((language) => wordFile(language)[key]);
  return Array.from({ length: key === "months" ? 12 : 7 }, (_, at) => {
    const names = new Set(lists.flatMap((list) => list[at] ?? []));
    return `(${[...names].sort((one, other) => other.length - one.length).join("|")})`;
  }).join("|");
}

/** Merges the lists of all languages by key. */
export function mergeByKey(
  pick: (file: WordFile) => Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, readonly string[]> {
  const merged = new Map<string, readonly string[]>();
  for (const [key, words] of allWordFiles().flatMap((file) => Object.entries(pick(file))))
    merged.set(key, [...(merged.get(key) ?? []), ...words]);
  return merged;
}

/** The folded words of all languages (lower case, without accents); loaded once. */
export const wordLists = once(() => {
  const merge = (key: "series" | "old" | "draft" | "final"): ReadonlySet<string> =>
    new Set(
      allWordFiles()
        .flatMap((lists) => lists[key])
        .map(foldWord),
    );
  return {
    series: merge("series"),
    old: merge("old"),
    draft: merge("draft"),
    final: merge("final"),
  };
});

/** The meanings of each folded word or phrase in names of fields, over all languages; loaded once. */
export const fieldWords = once((): ReadonlyMap<string, ReadonlySet<string>> =>
  allWordFiles()
    .flatMap((file) => Object.entries(file.fields))
    .reduce((known, [meaning, spelled]) => {
      for (const word of spelled.map(foldWord)) {
        known.set(word, new Set([...(known.get(word) ?? []), meaning]));
      }
      return known;
    }, new Map<string, ReadonlySet<string>>()),
);

/** The folded names of rows with totals, over all languages; loaded once. */
export const totalsOfTables = once(
  (): ReadonlySet<string> =>
    new Set(
      allWordFiles()
        .flatMap(({ tables }) => tables.totals)
        .map(foldWord),
    ),
);
