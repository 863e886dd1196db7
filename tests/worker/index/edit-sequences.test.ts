import {
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { findIndexFaults } from "../../../src/shared/store/index/totals.ts";
import { SOUND } from "../../support/sound-index.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const WORDS = ["alpha", "beta", "gamma", "delta", "epsilon"];
const notes = fc
  .tuple(
    fc.constantFrom("", "---\ntags: [beta]\n---\n"),
    fc.array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS)), { maxLength: 6 }),
  )
  .map(([head, pairs]) => head + pairs.map(([a, b]) => `## ${a}\n\n${b} ${a} ${b}.\n\n`).join(""));

/** Names that differ in case only are two files where the tests run. */
const files = fc.constantFrom("a.md", "A.md", "b.md", "sub/a.md", "sub/c.md", "sub/deep/d.md");
const folders = fc.constantFrom("sub", "sub/deep", "other", "Sub");
const rules = fc.constantFrom("a.md\n", "sub/\n", "/sub/*\n!c.md\n", "*.md\n", "");

type Edit = (root: string) => void;

const edits = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(files, notes).map(([file, text]) => write(file, text)) },
  { weight: 2, arbitrary: files.map((file) => remove(file)) },
  { weight: 3, arbitrary: fc.tuple(files, files).map(([from, to]) => rename(from, to)) },
  { weight: 2, arbitrary: fc.tuple(files, files).map(([one, two]) => swap(one, two)) },
  { weight: 1, arbitrary: fc.tuple(folders, folders).map(([from, to]) => rename(from, to)) },
  { weight: 1, arbitrary: fc.tuple(files, fc.constantFrom(1, 2)).map(([f, at]) => touch(f, at)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("", "sub/"), rules)
      .map(([folder, text]) => write(`${folder}.nightdeskignore`, text)),
  },
);
const sequences = fc.array(fc.record({ edit: edits, indexes: fc.boolean() }), {
  minLength: 5,
  maxLength: 25,
});

describeOnPostgres("the index after any edits", () => {
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
      fc.asyncProperty(sequences, async (sequence) => {
        await Promise.all([clear(edited), clear(rebuilt)]);
        const corpus = await openCorpus(edited.db);
        const fresh = await openCorpus(rebuilt.db);
        try {
          corpus.write("notes/lab/stays.md", "# stays\n\nalpha beta\n");
          const root = join(corpus.workroot, "notes/ops");
          for (const { edit, indexes } of sequence) {
            edit(root);
            if (!indexes) continue;
            const before = Date.now();
            await corpus.index();
            await settle(edited, before);
          }
          // An emptied root could be one that is not mounted.
          await corpus.index({ pruneOfEmptyRoot: "allowed" });
          cpSync(join(corpus.workroot, "notes"), join(fresh.workroot, "notes"), {
            recursive: true,
          });
          await fresh.index();
          expect(await found(corpus)).toEqual(await found(fresh));
          expect(await findIndexFaults(edited.db)).toEqual(SOUND);
        } finally {
          corpus.close();
          fresh.close();
        }
      }),
      { numRuns: 25 },
    );
  }, 240_000);
});

async function found(corpus: TestCorpus): Promise<unknown> {
  const questions = [...WORDS, WORDS.join(" "), "a.md"];
  const all = [];
  for (const text of questions) {
    all.push(await corpus.search({ text, limit: 100 }, { perDocument: 100 }));
  }
  return all;
}

/** A clock of a file system ticks in less: a file so old that is written again has another time. */
const TICK_MS = 50;

/** Files that were at rest when they were read are not read again: 2 s are too long to wait for here. */
async function settle({ db }: TestDatabase, scannedAt: number): Promise<void> {
  await db.query("update nightdesk_data.documents set settled = true where ctime_ns < $1", [
    String(BigInt(scannedAt - TICK_MS) * 1_000_000n),
  ]);
}

async function clear({ db }: TestDatabase): Promise<void> {
  await db.query("delete from nightdesk_data.documents");
  await db.query("delete from nightdesk_data.document_failures");
}

function write(file: string, text: string): Edit {
  return (root) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    rmSync(join(root, file), { recursive: true, force: true });
    writeFileSync(join(root, file), text);
  };
}

const remove =
  (file: string): Edit =>
  (root) => {
    rmSync(join(root, file), { force: true });
  };

/** Over whatever is there, and of folders as well. */
function rename(from: string, to: string): Edit {
  return (root) => {
    const [source, target] = [join(root, from), join(root, to)];
    if (!existsSync(source) || target.startsWith(source) || source.startsWith(`${target}/`)) return;
    mkdirSync(dirname(target), { recursive: true });
    rmSync(target, { recursive: true, force: true });
    renameSync(source, target);
  };
}

function swap(one: string, two: string): Edit {
  return (root) => {
    const [first, second] = [join(root, one), join(root, two)];
    if (one === two || !existsSync(first) || !existsSync(second)) return;
    renameSync(first, join(root, ".swapped"));
    renameSync(second, first);
    renameSync(join(root, ".swapped"), second);
  };
}

/** Sets the times of a file back; size and inode stay. */
const touch =
  (file: string, seconds: number): Edit =>
  (root) => {
    if (existsSync(join(root, file))) utimesSync(join(root, file), seconds, seconds);
  };
