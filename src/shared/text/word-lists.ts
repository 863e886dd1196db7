import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { foldWord } from "./normalise-text.ts";
import { once } from "../once.ts";

const words = z.array(z.string().min(1)).default([]);
/** Single words, several in a line. */
export const lines = z
  .array(z.string().min(1))
  .default([])
  .transform((all) => all.flatMap((line) => line.split(" ")));

const counts = z.record(z.string(), z.int()).default({});

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
  /** Words that a sentence opens with when the one before it must explain it. */
  openings: z
    .strictObject({
      /** They stand for what was said before. */
      pronouns: lines,
      /** Those that stand for nothing before such a word, or before one behind a form of "be": "it rains", "it is important". */
      empty: lines,
      empty_before: lines,
      be: lines,
      empty_before_behind_be: lines,
      /** They point back unless their noun is known, is a time ("this year") or the text itself ("this report"), or a relative word is behind them. */
      demonstratives: lines,
      times: lines,
      of_itself: words,
      relatives: lines,
      /** They point back unless a complement is behind them: "so far", "después de la muerte". */
      connectives: lines,
      complements: lines,
      phrases: words,
      /** "Each has a number" points back, "each bell has" does not. */
      portions: lines,
      verbs: lines,
      /** Behind one of these a pronoun or a place points back: "in it", "if there". */
      leading: lines,
      places: lines,
    })
    .prefault({}),
  /** Verbs, each with its denial: where one stands for the other a sentence says the contrary. */
  negated: z.array(z.tuple([z.string().min(1), z.string().min(1)])).default([]),
  /** Words that say the same of most subjects, a group a line, without accents: none that differs in degree, number or direction. */
  synonyms: words,
  /** Forms of one word that share no beginning, a group a line, without accents: strong verbs, and nouns and verbs made of each other. */
  forms: words,
  /** Words that say nothing about a subject, without accents, with those that questions and orders are made of. */
  stop: lines,
  /** Words that a sentence needs and its subject does not, without accents: cost, hold, become. */
  light: lines,
  /** Words that begin sentences, or have a capital, and are nobody's name; and what stands before a name and is no part of it. */
  no_names: lines,
  titles: lines,
  /** What tells whether a name is a person's. */
  people: z
    .strictObject({
      /** In the names of firms, places and bodies, which are nobody's. */
      bodies: lines,
      partners: lines,
      and: lines,
      /** Behind one of these a thing, a place or an animal has its name: "the ferry Anna". */
      things: lines,
      articles: lines,
      places: lines,
      /** What persons do, behind their names, and how one of them takes on a task. */
      acts: lines,
      takes_on: words,
      /** Before a name: titles, greetings, labels of lists of names, and words that often stand beside persons. */
      called: words,
      greeted: words,
      attending: words,
      beside: lines,
      /** No role follows a name and a comma with one of these. */
      no_roles: lines,
      /** Members of frontmatter and columns of tables that hold names, and columns that hold roles. */
      members: lines,
      name_columns: lines,
      role_columns: lines,
    })
    .prefault({}),
  /** What tells a task, whose it is and until when. */
  tasks: z
    .strictObject({
      /** Before a colon; before a name without one; and headings above tasks. */
      marks: words,
      todo_for: words,
      headings: words,
      /** Requests at the front, what opens like one and is none, and what makes a sentence one from within or at its end. */
      requests: words,
      no_requests: words,
      request_within: words,
      request_ends: words,
      /** Behind the name of somebody who is spoken to: "Jamal, can you". */
      calls: words,
      /** What the writer is going to do, unless one of the second list follows. */
      promises: words,
      no_promises: lines,
      /** Behind a name: what somebody does, by verbs of the present, and by infinitives behind "will". */
      does: lines,
      will_do: lines,
      agreed: words,
      /** Before a colon and a name; and before a name with or without one. */
      responsible: words,
      owner: words,
      titles: words,
      offices: lines,
      the: lines,
      articles: lines,
      who: lines,
      /** Verbs that oblige, that announce, and those before which the name of an owner stands. */
      duties: words,
      intents: words,
      owner_duties: words,
      left_open: words,
      /** Of what has happened, of rules for everybody, and of what is done. */
      past: words,
      rules: words,
      done: lines,
      /** Before a day until which something is to be done. */
      limits: words,
      limit_articles: lines,
      /** Days that are told from the day on which they are read: alone, behind "next", as a part of a time, or as a weekday. */
      soon: words,
      near: lines,
      next: words,
      next_times: lines,
      parts: words,
      part_times: words,
      every: lines,
      at: lines,
      in: lines,
      /** Of letters and minutes: who writes, and to whom. */
      greetings: words,
      greeting_titles: words,
      notes_for: words,
      for: lines,
      addressed: words,
      farewells: words,
      from: lines,
      closings: words,
      minutes_by: words,
      minutes_role: words,
    })
    .prefault({}),
  /** What labels call documents of a common kind, and words that these are full of. */
  kinds: z.record(z.string(), lines).default({}),
  kind_cues: z.record(z.string(), lines).default({}),
  /** Labels that take what nothing else fits. */
  others: lines,
  /** Pairs of words of which one says the opposite of the other, without accents: "open/closed". */
  opposites: lines,
  /** What a document is called, and who speaks in it, without accents: "the recipe asks for", "the author has tried". */
  of_document: lines,
  /** Words of the same choice, without accents, by what they mean. */
  choices: z.record(z.string(), lines).default({}),
  /** Numbers as they are spelled, without accents; ordinals and words for two; and what multiplies a number before it. */
  numbers: counts,
  ordinals: counts,
  scales: counts,
  /** From January and from Monday on, each in all its forms; and as tables write days in short. */
  months: z.array(words).default([]),
  days: z.array(words).default([]),
  short_days: z.array(words).default([]),
  /** Halves and shares by what they are: seconds, months or per cent. A word in parentheses has to follow. */
  shares: z.record(z.string(), words).default({}),
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

export type WordFile = z.infer<typeof listsSchema>;
export type CueWords = Readonly<Record<keyof WordFile["cues"], readonly string[]>>;

export const readAsset = (...path: readonly string[]): string =>
  readFileSync(join(import.meta.dirname, "..", "..", "..", "assets", ...path), "utf8");

/** What a file of `assets/names` lists, read when it is first asked for. */
export const readNames = <T>(file: string, schema: z.ZodType<T>): (() => T) =>
  once(() => schema.parse(JSON.parse(readAsset("names", file))));

/** What files are called: codes of ISO 639. */
const CODES = { english: "en", german: "de", french: "fr", spanish: "es", japanese: "ja" } as const;

type Listed = keyof typeof CODES;
const files = new Map<Listed, WordFile>();

/** The words of a language, read when they are first asked for. */
export function wordFile(language: Listed): WordFile {
  const file = `${CODES[language]}.json`;
  const read = files.get(language) ?? listsSchema.parse(JSON.parse(readAsset("words", file)));
  files.set(language, read);
  return read;
}

export const allWordFiles = (): readonly WordFile[] =>
  Object.keys(CODES).map((language) => wordFile(language as Listed));

/** Words and phrases of all languages as alternatives of a pattern, the longest first; an apostrophe stands for both of its signs. */
export const anyOf = (pick: (file: WordFile) => readonly string[]): string =>
  [...new Set(allWordFiles().flatMap(pick))]
    .sort((one, other) => other.length - one.length)
    .map((phrase) => phrase.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll("'", "['’]"))
    .join("|");

/** The months or days of some languages as alternatives of a pattern, a group for each, which tells by its number what was found. */
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

/** Lists of all languages, those of the same key together. */
export function mergeByKey(
  pick: (file: WordFile) => Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, readonly string[]> {
  const merged = new Map<string, readonly string[]>();
  for (const [key, words] of allWordFiles().flatMap((file) => Object.entries(pick(file))))
    merged.set(key, [...(merged.get(key) ?? []), ...words]);
  return merged;
}

/** The words of all languages, in lower case and without accents; read once. */
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

/** For each word or phrase of the names of fields, in lower case and without accents, what it means; of all languages, read once. */
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

/** What rows are called that hold a total, in all languages, folded; read once. */
export const totalsOfTables = once(
  (): ReadonlySet<string> =>
    new Set(
      allWordFiles()
        .flatMap(({ tables }) => tables.totals)
        .map(foldWord),
    ),
);
