import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { killWorker } from "../../scenarios/night/worker-process.ts";
import { startNode } from "../run-bin.ts";
import type { Stops } from "./boundaries.ts";

const HOOKS = join(import.meta.dirname, "..", "..", "..", "bench", "register.js");
const MAIN = join(import.meta.dirname, "main.ts");
/** On a machine that is busy with other things. */
const LONG_MS = 300_000;

export type ToolWorker = {
  /** Resolves when the runs of all jobs that were to be stopped stand still. */
  allStopped(): Promise<void>;
  /** SIGKILL, and the leases run out. @returns the jobs that it had in hand */
  kill(): Promise<readonly string[]>;
};

/** The file that the tools of these workers append to. */
const linesOf = (workroot: string): string => join(workroot, "lines.log");

/** Starts a worker with tools that append lines, as a process of its own. */
export async function startToolWorker(
  db: Database,
  workroot: string,
  { concurrency, stops = {} }: { readonly concurrency: number; readonly stops?: Stops },
): Promise<ToolWorker> {
  const child = startNode(
    ["--import", HOOKS, MAIN, workroot, `${concurrency}`, linesOf(workroot)],
    { cwd: workroot, env: { NODE_NO_WARNINGS: "1" }, stdin: JSON.stringify(stops) },
  );
  await child.said(/worker ready/, LONG_MS);
  const count = Object.keys(stops).length;
  return {
    allStopped: async () => {
      await child.said(new RegExp(`^(?:[^]*?stopped ){${count}}`), LONG_MS);
    },
    kill: () => killWorker(db, child),
  };
}

/** How often each text was appended so far: effects that were carried out. */
export async function countLines(workroot: string): Promise<ReadonlyMap<string, number>> {
  const text = await readFile(linesOf(workroot), "utf8").catch(() => "");
  const counts = new Map<string, number>();
  for (const line of text.split("\n").slice(0, -1)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
