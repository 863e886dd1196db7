import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { once } from "../../../shared/once.ts";

/** Raised with every change of the pairs, and of how names and calls are drawn: an exam is valid only for its version. */
export const EXAM_VERSION = "exam/1";

export const EXAM_KINDS = [
  ...(["figure", "name", "date", "negation", "invention"] as const),
  ...(["cause", "scope", "role", "neighbour", "planned"] as const),
] as const;
export const EXAM_LANGUAGES = ["en", "de", "fr", "es", "ja"] as const;

const NAME_CLASSES = ["woman", "man", "family", "place", "organisation"] as const;
const pairSchema = z.strictObject({
  id: z.string(),
  /** The kind of error in a wrong pair, or the point that a right pair depends on. */
  kind: z.enum(EXAM_KINDS),
  isWrong: z.boolean(),
  heading: z.string().min(1).nullable(),
  lines: z.array(z.string().min(1)).min(1).max(8),
  statement: z.string().min(3),
  /** Names of people, in the order of their language, of places and of organisations, with their classes. */
  names: z.record(z.string().min(1), z.enum(NAME_CLASSES)),
});

type NameClass = (typeof NAME_CLASSES)[number];
export type ExamLanguage = (typeof EXAM_LANGUAGES)[number];
export type ExamPair = Readonly<Omit<z.infer<typeof pairSchema>, "names" | "lines">> & {
  readonly language: ExamLanguage;
  readonly lines: readonly string[];
};
/** A pair of the assets, with the names that are replaced. */
export type ShippedPair = ExamPair & { readonly names: Readonly<Record<string, NameClass>> };

const FOLDER = join(import.meta.dirname, "..", "..", "..", "..", "assets", "exam");

/** The labelled pairs of `assets/exam`, read once. */
export const readExamPairs = once((): readonly ShippedPair[] =>
  EXAM_LANGUAGES.flatMap((language) =>
    readFileSync(join(FOLDER, `${language}.jsonl`), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => ({ ...pairSchema.parse(JSON.parse(line)), language })),
  ),
);

const CALL = 5;

/**
 * The calls of an exam, in order: each has five wrong and five right statements, shuffled, with the names of this seed. Kinds
 * and languages are spread over the calls, so that an exam that ends early has covered all of them.
 */
export function examCalls(seed: string): readonly (readonly ExamPair[])[] {
  const all = readExamPairs();
  const wrong = spreadPairs(
    all.filter(({ isWrong }) => isWrong),
    `${seed} wrong`,
  );
  const right = spreadPairs(
    all.filter(({ isWrong }) => !isWrong),
    `${seed} right`,
  );
  const count = Math.floor(Math.min(wrong.length, right.length) / CALL);
  return Array.from({ length: count }, (_, at) => {
    const own = [wrong, right].flatMap((pairs) => pairs.slice(at * CALL, (at + 1) * CALL));
    return shuffled(own, `${seed} call`, ({ id }) => id).map((pair) => drawNames(pair, seed));
  });
}

/** Alternates the kinds, and the languages within a kind, in proportion to their numbers. */
function spreadPairs(pairs: readonly ShippedPair[], seed: string): ShippedPair[] {
  const kinds = shuffled(EXAM_KINDS, seed, String);
  const placed = kinds.flatMap((kind, at) => {
    const phase = at / kinds.length;
    const own = spreadLanguages(
      pairs.filter((pair) => pair.kind === kind),
      { phase, seed },
    );
    return own.map((pair, rank) => ({ pair, place: (rank + phase) / own.length }));
  });
  return inPlace(placed);
}

/** @param phase 0 to 1, so that kinds don't begin with the same language */
function spreadLanguages(
  pairs: readonly ShippedPair[],
  { phase, seed }: { readonly phase: number; readonly seed: string },
): ShippedPair[] {
  const placed = EXAM_LANGUAGES.flatMap((language, at) => {
    const own = shuffled(
      pairs.filter((pair) => pair.language === language),
      seed,
      ({ id }) => id,
    );
    const shift = (phase + at / EXAM_LANGUAGES.length) % 1;
    return own.map((pair, rank) => ({ pair, place: (rank + shift) / own.length }));
  });
  return inPlace(placed);
}

const inPlace = (
  placed: readonly { readonly pair: ShippedPair; readonly place: number }[],
): ShippedPair[] =>
  [...placed].sort((one, other) => one.place - other.place).map(({ pair }) => pair);

/** Shuffles by a hash, so that equal seeds give equal orders on any machine. */
export function shuffled<T>(all: readonly T[], seed: string, keyOf: (one: T) => string): T[] {
  const hashed = all.map((one) => ({
    one,
    hash: hash("sha256", `${seed}\n${keyOf(one)}`),
  }));
  return hashed.sort((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ one }) => one);
}

const personSchema = z.tuple([z.string(), z.string()]);
const namesSchema = z.record(
  z.enum(EXAM_LANGUAGES),
  z.strictObject({
    /** Given name and family name. */
    women: z.array(personSchema),
    men: z.array(personSchema),
    places: z.array(z.string()),
    organisations: z.array(z.string()),
  }),
);

/** The names from which an exam draws. */
export const readExamNames = once(() =>
  namesSchema.parse(JSON.parse(readFileSync(join(FOLDER, "names.json"), "utf8"))),
);

/** Replaces the people, places and organisations of a pair, so that a model which has seen the exam has not seen this one. */
export function drawNames(pair: ShippedPair, seed: string): ExamPair {
  const drawn = drawAnew(pair, seed);
  const known = [...drawn.keys()].sort((one, other) => other.length - one.length).join("|");
  const pattern = new RegExp(pair.language === "ja" ? known : wholeName(known), "gu");
  const replace = (text: string): string =>
    drawn.size === 0 ? text : text.replace(pattern, (name) => drawn.get(name) ?? name);
  const { id, kind, language, isWrong, heading } = pair;
  return {
    ...{ id, kind, language, isWrong },
    heading: heading === null ? null : replace(heading),
    lines: pair.lines.map(replace),
    statement: replace(pair.statement),
  };
}

/** Matches whole names; a genitive or plural keeps its s: "Petrescus". */
const wholeName = (known: string): string =>
  String.raw`(?<![\p{L}\p{N}])(?:${known})(?=s?(?![\p{L}\p{N}]))`;

/** Draws another name of the same class for each given name, family name, place and organisation. */
function drawAnew(pair: ShippedPair, seed: string): ReadonlyMap<string, string> {
  const text = [pair.heading ?? "", ...pair.lines, pair.statement].join("\n");
  const drawn = new Map<string, string>();
  const taken = new Set<string>();
  for (const [name, of] of partsOf(pair)) {
    const fresh = shuffled(namesOf(pair.language, of), `${seed} ${pair.id}`, String).find(
      (one) => !taken.has(one) && !text.includes(one),
    );
    if (fresh === undefined) throw new Error(`no name is left for ${name} in ${pair.id}`);
    drawn.set(name, fresh);
    taken.add(fresh);
  }
  return drawn;
}

/** Splits "Dieter Lang" into a man's given name and a family name, because the texts also use them separately. */
const partsOf = ({ names, language }: ShippedPair): ReadonlyMap<string, NameClass> =>
  new Map(
    Object.entries(names).flatMap(([name, of]): [string, NameClass][] => {
      const [first = name, second] = name.split(" ");
      if (second === undefined || (of !== "woman" && of !== "man")) return [[name, of]];
      return language === "ja"
        ? [
            [first, "family"],
            [second, of],
          ]
        : [
            [first, of],
            [second, "family"],
          ];
    }),
  );

function namesOf(language: ExamLanguage, of: NameClass): readonly string[] {
  const { women, men, places, organisations } = readExamNames()[language];
  switch (of) {
    case "woman":
      return women.map(([given]) => given);
    case "man":
      return men.map(([given]) => given);
    case "family":
      return [...women, ...men].map(([, family]) => family);
    case "place":
      return places;
    case "organisation":
      return organisations;
  }
}
