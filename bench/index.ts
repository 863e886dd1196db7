// Indexing, lexical only: cold (best of three), unchanged, 1 % changed, rebuild; on Postgres and embedded. Beside it
// the least that storing costs: the rows of the index inserted again by `unnest` into bare tables.
// node --import ./bench/register.js bench/index.ts [--postgres|--embedded] [files …, default 2000 20000]
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../src/shared/db/database.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { createEmbeddedDatabase } from "./index-embedded.ts";
import { indexFolder } from "./index-folder.ts";
import { measure } from "./index-resources.ts";
import { insertRaw } from "./insert-raw.ts";
import { writeSyntheticCorpus } from "./synthetic-corpus.ts";

const ENGINES = [
  { name: "postgres", create: createFreshDatabase, coldRuns: 3 },
  { name: "embedded", create: createEmbeddedDatabase, coldRuns: 1 },
] as const;

const args = process.argv.slice(2);
const sizes = args.filter((arg) => /^\d+$/.test(arg)).map(Number);
const engines = ENGINES.filter(
  ({ name }) => !args.some((arg) => arg.startsWith("--")) || args.includes(`--${name}`),
);
for (const files of sizes.length > 0 ? sizes : [2_000, 20_000]) {
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
  try {
    const paths = writeSyntheticCorpus(join(folder, "corpus"), files);
    for (const engine of engines) {
      console.log(`\n${files} files, ${engine.name}`);
      const rates: number[] = [];
      for (let run = 1; run < engine.coldRuns; run += 1) {
        const { db, drop } = await engine.create();
        rates.push(await report(db, { name: `cold, run ${run}`, folder, files }));
        await drop();
      }
      const { db, drop } = await engine.create();
      rates.push(await report(db, { name: "cold, last run", folder, files }));
      console.log(`cold, best: ${Math.max(...rates)} files/s`);
      await benchWarm(db, { folder, files, paths });
      await drop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Scan = {
  readonly name: string;
  readonly folder: string;
  readonly files: number;
  readonly rebuild?: boolean;
};

/** @returns files a second */
async function report(
  db: Database,
  { name, folder, files, rebuild = false }: Scan,
): Promise<number> {
  const found = await measure(() => indexFolder(db, folder, rebuild));
  const { added, changed, unchanged, chunks_total: chunks } = found.value;
  const rate = Math.round((files / found.ms) * 1_000);
  console.log(
    `${name}: ${Math.round(found.ms)} ms, ${rate} files/s; CPU ${Math.round(found.cpuMs)} ms here and ` +
      `${found.serverCpuMs} ms in the server; peak ${Math.round(found.peakMiB)} MiB; ` +
      `added ${added}, changed ${changed}, unchanged ${unchanged}, chunks ${chunks}`,
  );
  return rate;
}

async function benchWarm(
  db: Database,
  corpus: { readonly folder: string; readonly files: number; readonly paths: readonly string[] },
): Promise<void> {
  await report(db, { name: "unchanged, first", ...corpus });
  await report(db, { name: "unchanged", ...corpus });
  for (const path of corpus.paths.filter((_, index) => index % 100 === 0)) {
    appendFileSync(path, "\n\nA line that was not there before.\n");
  }
  await report(db, { name: "1 % changed", ...corpus });
  await report(db, { name: "rebuild", rebuild: true, ...corpus });
  const raw = await insertRaw(db);
  console.log(`baseline, raw unnest of the same ${raw.rows} rows: ${Math.round(raw.ms)} ms`);
}
