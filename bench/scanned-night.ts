// A night of scanned pages through the commands of the build in dist/: reads them while the worker is killed again and again,
// then asks and extracts what invoices and receipts come to. Doubtful is what is unconfirmed.
// node --import ./bench/register.js bench/scanned-night.ts [--pages 300] [--kills 10] [--every 60 seconds] [--seed 7] [--show]
//   [--model '{"provider":"ollama","name":"NAME"}'], without which nothing is extracted: the extractive model fills no schema
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { startBin } from "../tests/support/run-bin.ts";
import { readPages } from "./ocr-pages/truth.ts";
import { findPids } from "./process-usage.ts";
import { runDesk, stopDesk } from "./run-desk.ts";

const { values: flags } = parseArgs({
  options: {
    pages: { type: "string", default: "300" },
    kills: { type: "string", default: "10" },
    every: { type: "string", default: "60" },
    seed: { type: "string", default: "7" },
    model: { type: "string", default: '{"provider":"extractive"}' },
    show: { type: "boolean", default: false },
  },
});
const home = mkdtempSync(join(tmpdir(), "nightdesk-scans-"));
const [scans, documents] = [join(home, "scans"), join(home, "documents")];
const place = { home, config: join(home, "nightdesk.yaml") };
const sql = async <T>(query: string): Promise<T[]> =>
  JSON.parse(await runDesk(["sql", query, "--format", "json"], place)) as T[];

function writeWorld(): void {
  const generate = join(import.meta.dirname, "ocr-pages/generate.ts");
  const words = ["--import", join(import.meta.dirname, "register.js"), generate];
  const wanted = ["--out", scans, "--limit", flags.pages, "--seed", flags.seed];
  execFileSync(process.execPath, [...words, ...wanted]);
  mkdirSync(documents);
  for (const name of readdirSync(scans).filter((one) => one !== "pages.jsonl"))
    cpSync(join(scans, name), join(documents, name));
  const config = {
    workroot: "documents",
    security: {
      allowed_roots: ["."],
      allowed_exts: [".pdf", ".jpg", ".png", ".webp", ".tif"],
    },
    index: {
      sources: [{ name: "scans", root: "." }],
      ocr: { languages: ["eng", "deu", "fra", "spa", "ita"], second: "fast" },
    },
    model: JSON.parse(flags.model) as object,
  };
  writeFileSync(place.config, stringify(config));
}

/** Until no page waits. @returns how often a worker was killed */
async function readWithKills(): Promise<number> {
  let kills = 0;
  let killedAt = Date.now();
  for (;;) {
    if (findPids("worker", [home]).length === 0) {
      const env = { HOME: process.env["HOME"] ?? home };
      startBin(["worker", "--config", place.config], { cwd: home, env });
    }
    await sleep(2_000);
    const [left] = await sql<{ n: number }>(
      "select count(*)::int as n from results where kind = 'ocr' and state not in ('succeeded', 'failed', 'refused', 'cancelled', 'expired')",
    );
    if (left?.n === 0) return kills;
    if (kills >= Number(flags.kills) || Date.now() - killedAt < Number(flags.every) * 1_000)
      continue;
    for (const pid of findPids("worker", [home])) process.kill(pid, "SIGKILL");
    killedAt = Date.now();
    kills += 1;
  }
}

type Known = { readonly id: string; readonly kind: "ask" | "extract"; readonly answer: string };
type Said = {
  readonly custom_id: string;
  readonly state: string;
  readonly said: string | null;
  readonly grade: string | null;
};

async function ask(): Promise<readonly (Known & { readonly result: Said })[]> {
  const known = readPages(scans).flatMap(({ id, file, ask: one }, at) => {
    if (one === undefined) return [];
    const kind =
      at % 2 === 0 || flags.model.includes("extractive") ? ("ask" as const) : ("extract" as const);
    const total = { type: ["string", "null"], description: one.question };
    const schema = { type: "object", properties: { total }, required: ["total"] };
    const input = kind === "ask" ? { question: one.question } : { path: file, schema };
    return [{ id, kind, answer: one.answer, line: { custom_id: id, kind, ...input } }];
  });
  const jobs = join(home, "jobs.jsonl");
  writeFileSync(jobs, known.map(({ line }) => `${JSON.stringify(line)}\n`).join(""));
  await runDesk(["enqueue", jobs, "--batch-name", "scans", "--wait"], place);
  const results = await sql<Said>(
    "select custom_id, state, coalesce(answer, output::text) as said, grade from results where batch = 'scans'",
  );
  return known.map((one) => {
    const result = results.find(({ custom_id: id }) => id === one.id);
    if (result === undefined) throw new Error(`The batch has no job ${one.id}.`);
    return { ...one, result };
  });
}

/** Without what parts digits. */
const figureIn = (text: string): string => text.replace(/(?<=\d)[.,'\u00A0\u202F ](?=\d)/g, "");

/** Wrong is a figure that no page has; without one, what lacks the answer is beside the question. */
function verdictOf(
  { answer, result: { state, said, grade } }: Known & { result: Said },
  pages: string,
): string {
  const words = figureIn(said?.replace(/\nScope: .*|\[\d+\]/g, "") ?? "");
  if (state !== "succeeded" || !/\d/.test(words)) return "refused";
  const isRight = words.includes(/\d+/.exec(figureIn(answer))?.[0] ?? answer);
  const isMadeUp = (words.match(/\d+/g) ?? []).some((figure) => !pages.includes(figure));
  if (grade === "unconfirmed") return isRight ? "doubtful, right" : "doubtful, not right";
  if (isRight) return "right";
  return isMadeUp ? "wrong" : "beside the question";
}

try {
  writeWorld();
  const startedAt = performance.now();
  console.log((await runDesk(["index", "--ocr"], place)).trim());
  const kills = await readWithKills();
  const seconds = (performance.now() - startedAt) / 1_000;
  const states = await sql<{ state: string; n: number }>(
    "select state, count(*)::int as n from results where kind = 'ocr' group by 1 order by 1",
  );
  const read = states.map(({ state, n }) => `${n} ${state}`).join(", ");
  console.log(`${flags.pages} pages in ${seconds.toFixed(0)} s, ${kills} kills: ${read}`);
  const pages = readPages(scans)
    .map(({ text }) => figureIn(text))
    .join("\n");
  const counts = new Map<string, number>();
  for (const one of await ask()) {
    const verdict = `${one.kind}: ${verdictOf(one, pages)}`;
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    if (flags.show)
      console.log(`${one.id} ${verdict}: ${one.result.said ?? "-"} for ${one.answer}`);
  }
  for (const [verdict, count] of [...counts].sort()) console.log(`${verdict.padEnd(26)} ${count}`);
} finally {
  await stopDesk(home, [join(documents, ".nightdesk")]);
  rmSync(home, { recursive: true, force: true });
}
process.exit(0);
