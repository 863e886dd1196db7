import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ranking } from "./judge.ts";
import type { Query } from "./judged-collection.ts";

const BIN = new URL("../bin/nightdesk.js", import.meta.url).pathname;
const CONFIG = new URL("../configs/default.yaml", import.meta.url).pathname;

type Run = {
  readonly mode: string;
  readonly workroot: string;
  readonly url: string;
  readonly limit: number;
};

/** The same queries through `nightdesk query --file`, from the build in dist/. */
export function queryByCommand(queries: readonly Query[], run: Run): Ranking[] {
  const file = join(run.workroot, "queries.jsonl");
  writeFileSync(file, queries.map((query) => `${JSON.stringify(query)}\n`).join(""));
  const args = ["query", "--file", file, "--mode", run.mode, "--limit", String(run.limit)];
  const output = execFileSync(process.execPath, [BIN, ...args, "--config", CONFIG], {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
    env: { ...process.env, NIGHTDESK_WORKROOT: run.workroot, DATABASE_URL: run.url },
  });
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { id, hits } = JSON.parse(line) as { id: string; hits: { path: string }[] };
      return { queryId: id, paths: hits.map(({ path }) => path) };
    });
}
