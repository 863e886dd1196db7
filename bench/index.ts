// Indexing, lexical only, in files a second: cold, unchanged, 1 % changed, rebuild. Beside it the least that a
// cold index could cost: the same documents and chunks inserted by `unnest`, without postings.
// node --import ./bench/register.js bench/index.ts [files, default 2000]
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFreshDatabase } from "./fresh-database.ts";
import { indexFolder } from "./index-folder.ts";
import { insertRaw } from "./insert-raw.ts";
import { writeSyntheticCorpus } from "./synthetic-corpus.ts";

const files = Number(process.argv[2] ?? 2_000);
const folder = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
const { db, drop } = await createFreshDatabase();
try {
  const paths = writeSyntheticCorpus(join(folder, "corpus"), files);
  const report = async (name: string, rebuild = false) => {
    const summary = await indexFolder(db, folder, rebuild);
    const rate = Math.round((files / summary.duration_ms) * 1_000);
    console.log(
      `${name}: ${Math.round(summary.duration_ms)} ms, ${rate} files/s; ` +
        `added ${summary.added}, changed ${summary.changed}, unchanged ${summary.unchanged}, ` +
        `chunks ${summary.chunks_total}`,
    );
  };
  await report("cold");
  const raw = await insertRaw(db);
  console.log(`baseline, raw unnest of the same rows: ${Math.round(raw.ms)} ms, ${raw.rows} rows`);
  await report("unchanged");
  await report("unchanged again");
  for (const path of paths.filter((_, index) => index % 100 === 0)) {
    appendFileSync(path, "\n\nA line that was not there before.\n");
  }
  await report("1 % changed");
  await report("rebuild", true);
} finally {
  await drop();
  rmSync(folder, { recursive: true });
}
