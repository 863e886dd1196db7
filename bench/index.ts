// Indexing, lexical only: cold, unchanged, 1 % changed, rebuild; by the function, and by the whole command as a user
// runs it; on Postgres and embedded. Beside it the least that storing costs: raw COPY of the same rows. The command is
// that of the build in dist/, or of the bin that NIGHTDESK_BIN names.
// node --import ./bench/register.js bench/index.ts [--postgres|--embedded] [--function|--command] [files …, default 2000 20000]
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { copyRaw } from "./copy-raw.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import { type IndexCommand, onEmbedded, onServer } from "./index-by-command.ts";
import { createEmbeddedDatabase } from "./index-embedded.ts";
import { indexFolder } from "./index-folder.ts";
import { describeUsage, HERE, measure, type Measured } from "./process-usage.ts";
import { writeSyntheticCorpus } from "./synthetic-corpus.ts";

const ENGINES = [
  { name: "postgres", create: createFreshDatabase, command: onServer },
  { name: "embedded", create: createEmbeddedDatabase, command: onEmbedded },
] as const;
type Engine = (typeof ENGINES)[number];

type Corpus = {
  readonly folder: string;
  readonly files: number;
  readonly paths: readonly string[];
};

const args = process.argv.slice(2);
const sizes = args.filter((arg) => /^\d+$/.test(arg)).map(Number);
const isChosen = (name: string, names: readonly string[]): boolean =>
  args.includes(`--${name}`) || !names.some((other) => args.includes(`--${other}`));
const WAYS = { function: benchFunction, command: benchCommand };
const engineNames = ENGINES.map(({ name }) => name);

for (const files of sizes.length > 0 ? sizes : [2_000, 20_000]) {
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
  try {
    mkdirSync(join(folder, "empty"));
    const corpus = { folder, files, paths: writeSyntheticCorpus(join(folder, "corpus"), files) };
    for (const engine of ENGINES.filter(({ name }) => isChosen(name, engineNames))) {
      for (const [way, bench] of Object.entries(WAYS)) {
        if (!isChosen(way, Object.keys(WAYS))) continue;
        const load = loadavg()[0]?.toFixed(1) ?? "";
        console.log(`\n${files} files, ${engine.name}, by the ${way}; load before ${load}`);
        await bench(engine, corpus);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchFunction(engine: Engine, corpus: Corpus): Promise<void> {
  const fresh = await engine.create();
  const scan = (mode: "scan" | "rebuild") =>
    measure([HERE, fresh.mark], () => indexFolder(fresh.db, corpus.folder, mode === "rebuild"));
  try {
    const cold = await scan("scan");
    report("cold", corpus, cold, describe(cold.value));
    for (const name of ["unchanged, first", "unchanged"]) {
      const again = await scan("scan");
      report(name, corpus, again, describe(again.value));
    }
    changeSome(corpus);
    const changed = await scan("scan");
    report("1 % changed", corpus, changed, describe(changed.value));
    const rebuilt = await scan("rebuild");
    report("rebuild", corpus, rebuilt, describe(rebuilt.value));
    const raw = await copyRaw(fresh);
    const times = (cold.ms / raw.ms).toFixed(1);
    console.log(
      `raw COPY of the same ${raw.rows} rows: ${Math.round(raw.ms)} ms; cold takes ${times} times that`,
    );
  } finally {
    await fresh.drop();
  }
}

function describe(summary: Awaited<ReturnType<typeof indexFolder>>): string {
  const { added, changed, unchanged, chunks_total: chunks } = summary;
  return `added ${added}, changed ${changed}, unchanged ${unchanged}, chunks ${chunks}`;
}

async function benchCommand({ command }: Engine, corpus: Corpus): Promise<void> {
  const { index, close }: IndexCommand = await command(corpus.folder);
  const step = async (name: string, ...options: readonly string[]) => {
    const run = await index("--no-embed", ...options);
    report(name, corpus, run, run.value.split("\n").at(-1) ?? "");
  };
  try {
    await step("cold");
    for (const name of ["unchanged, first", "unchanged, second", "unchanged, third"])
      await step(name);
    changeSome(corpus);
    await step("1 % changed");
    await step("rebuild", "--rebuild");
  } finally {
    await close();
  }
}

function changeSome({ paths }: Corpus): void {
  for (const path of paths.filter((_, index) => index % 100 === 0)) {
    appendFileSync(path, "\n\nA line that was not there before.\n");
  }
}

function report(name: string, { files }: Corpus, run: Measured<unknown>, outcome: string): void {
  const rate = Math.round((files / run.ms) * 1_000);
  console.log(
    `${name}: ${Math.round(run.ms)} ms, ${rate} files/s; ${describeUsage(run.usage)}; ${outcome}`,
  );
}
