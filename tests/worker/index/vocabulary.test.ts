import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { openBigintArray } from "../../../src/shared/store/connection/binary-arrays.ts";
import { invertCounts, lexemeCounter } from "../../../src/shared/store/index/postings.ts";
import { postingWriter } from "../../../src/shared/store/index/terms.ts";
import { createVocabularies } from "../../../src/shared/store/index/vocabulary.ts";
import type { Vocabulary } from "../../../src/shared/store/index/vocabulary.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const PIECES = fc.constantFrom(
  ...["word", "Words,", "(running)", "the", "ERR_42", "foo_bar.ts", "src/main.ts", "well-known"],
  ...[
    "a@b.org",
    "http://a.b/c?d=e",
    "3.14",
    "-5",
    "1e5",
    "don't",
    "'quoted'",
    "über",
    "日本語",
    "🎉",
  ],
  ...["U.S.", "e.g.:", "x=y", "a<b", "c++", "#tag", "&amp;", "`code`", "**bold**", "\u00a0", "…"],
  ...["<br/>", "<b>", '<a href="x y">', "</a>", "[link](http://a.b)", "v1.2.3", "~/.bashrc", "50%"],
);
const texts = fc
  .array(fc.tuple(PIECES, fc.constantFrom(" ", "\n", "\t", "  ", "\r\n")), { maxLength: 30 })
  .map((pairs) => pairs.map(([piece, blank]) => piece + blank).join(""));

describe.each(ENGINES)("the vocabulary on $engine", ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());

  const lexemesOf = async (vocabulary: Vocabulary, text: string) => {
    const words = vocabulary.wordsOf([text]);
    await vocabulary.learn(database.db, [words]);
    const { lexemes } = lexemeCounter(vocabulary)(words);
    return Array.from(lexemes, (lexeme) => vocabulary.term(lexeme)).sort();
  };

  test("finds in the pieces of a text what the database finds in the whole", async () => {
    const vocabulary = createVocabularies()("english");
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const { rows } = await database.db.query(
          "select tsvector_to_array(to_tsvector('english', ' ' || $1)) as lexemes",
          [text],
        );
        const [{ lexemes }] = rows as [{ lexemes: string[] }];
        expect(await lexemesOf(vocabulary, text)).toEqual(lexemes.sort());
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  test("asks for a word once, and for none that it knows", async () => {
    const vocabulary = createVocabularies()("english");
    const asked: unknown[] = [];
    const db = {
      query: (text: string, values?: readonly unknown[]) => {
        asked.push(values?.[0]);
        return database.db.query(text, values);
      },
    };
    const first = vocabulary.wordsOf(["one two two.", "(one)"]);
    await vocabulary.learn(db, [first, first]);
    await vocabulary.learn(db, [vocabulary.wordsOf(["two three"])]);
    await vocabulary.learn(db, [vocabulary.wordsOf(["one"])]);
    expect(asked).toEqual([["one", "two"], ["three"]]);
  });
});

describe("a vocabulary", () => {
  test("is replaced when it is large, and goes on for those who hold it", () => {
    const next = createVocabularies();
    const first = next("english");
    expect(next("english")).toBe(first);
    first.wordsOf([Array.from({ length: 100_001 }, (_, at) => `w${at}`).join(" ")]);
    expect(next("english")).not.toBe(first);
    expect([...first.wordsOf(["w7 w9"])]).toEqual([7, 9]);
  });

  test("is kept beside those of other languages, as documents of several come in turn", () => {
    const next = createVocabularies();
    const [english, german] = [next("english"), next("german")];
    expect(next("english")).toBe(english);
    expect(next("german")).toBe(german);
    expect(german).not.toBe(english);
  });
});

/** The element of an array as it is sent: behind 20 bytes that describe it, each with its length before it. */
const entryOf = (bytes: Buffer, at: number): bigint => bytes.readBigInt64BE(20 + 12 * at + 4);

function posting(chunkId: string, words: number, times: number): bigint {
  const entries = openBigintArray(1);
  postingWriter(entries, chunkId, words)(0, times);
  return entryOf(entries.bytes, 0);
}

describe("postings", () => {
  test("stand in order of the chunks, packed as the search unpacks them", () => {
    const numbers = (list: readonly number[]) => Int32Array.from(list);
    const vocabulary = { lexemes: 3, term: (at: number) => `t${at}` } as Vocabulary;
    const chunk = (chunkId: string, found: readonly (readonly [number, number])[]) => ({
      chunkId,
      counts: {
        lexemes: numbers(found.map(([lexeme]) => lexeme)),
        times: numbers(found.map(([, times]) => times)),
      },
    });
    const postings = invertCounts(
      [
        chunk("5", [
          [2, 1],
          [0, 3],
        ]),
        chunk("7", [[2, 2]]),
      ],
      vocabulary,
    );
    expect(postings).toMatchObject({ terms: ["t0", "t2"], starts: [1, 2], lengths: [1, 2] });
    expect([0, 1, 2].map((at) => entryOf(postings.entries.bytes, at))).toEqual([
      posting("5", 2, 3),
      posting("5", 2, 1),
      posting("7", 1, 2),
    ]);
  });

  test.each(["1", "536870911", "536870912", "9000000000"])(
    "hold the chunk %s, how often a word stands in it, and its words, each up to what fits",
    (chunkId) => {
      for (const [times, words] of [
        [1, 1],
        [1_023, 16_383],
        [9_999, 99_999],
      ] as const) {
        const entry = posting(chunkId, words, times);
        expect([String(entry >> 24n), (entry >> 14n) & 1_023n, entry & 16_383n]).toEqual([
          chunkId,
          BigInt(Math.min(times, 1_023)),
          BigInt(Math.min(words, 16_383)),
        ]);
      }
    },
  );
});
