import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { openPostgres, type TestDatabase } from "../../shared/db/index/test-databases.ts";
import { countsAreTrue } from "./counts-are-true.ts";
import { openCorpus, type TestCorpus } from "./test-corpus.ts";

const WORDS = ["alpha", "beta", "gamma", "delta", "epsilon"];
const notes = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS)), { maxLength: 6 })
  .map((pairs) => pairs.map(([a, b]) => `## ${a}\n\n${b} ${a} ${b}.\n\n`).join(""));
const edits = fc.array(
  fc.record({
    path: fc.constantFrom("a", "b", "c", "d").map((name) => `notes/ops/${name}.md`),
    content: fc.option(notes, { freq: 3 }),
    indexes: fc.boolean(),
  }),
  { minLength: 5, maxLength: 25 },
);

describe("the index after any edits", () => {
  let edited: TestDatabase;
  let rebuilt: TestDatabase;
  beforeAll(async () => {
    [edited, rebuilt] = await Promise.all([openPostgres(), openPostgres()]);
  });
  afterAll(async () => {
    await Promise.all([edited.close(), rebuilt.close()]);
  });

  test("finds the same chunks with the same scores as one that was built of what is there", async () => {
    await fc.assert(
      fc.asyncProperty(edits, async (sequence) => {
        const corpus = await openCorpus(edited.db);
        await clear(edited);
        await clear(rebuilt);
        corpus.write("notes/ops/stays.md", "# stays\n\nalpha beta\n");
        for (const { path, content, indexes } of sequence) {
          if (content !== null) corpus.write(path, content);
          else removeIfThere(corpus, path);
          if (indexes) await corpus.index();
        }
        await corpus.index();
        const fresh = await openCorpus(rebuilt.db);
        writeLast(fresh, sequence);
        await fresh.index();
        for (const text of [...WORDS, WORDS.join(" ")]) {
          expect(await corpus.search({ text, limit: 100 }, { perDocument: 100 })).toEqual(
            await fresh.search({ text, limit: 100 }, { perDocument: 100 }),
          );
        }
        expect(await countsAreTrue(edited.db)).toBe(true);
        corpus.close();
        fresh.close();
      }),
      { numRuns: 15 },
    );
  }, 120_000);
});

async function clear({ db }: TestDatabase): Promise<void> {
  await db.query("delete from nightdesk_data.documents");
}

function removeIfThere(corpus: TestCorpus, path: string): void {
  corpus.write(path, "");
  corpus.remove(path);
}

/** The files as the sequence leaves them. */
function writeLast(
  corpus: TestCorpus,
  sequence: readonly { readonly path: string; readonly content: string | null }[],
): void {
  corpus.write("notes/ops/stays.md", "# stays\n\nalpha beta\n");
  const last = new Map(sequence.map(({ path, content }) => [path, content]));
  for (const [path, content] of last) if (content !== null) corpus.write(path, content);
}
