import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Topology } from "../tests/conformance/topologies.ts";
import { describeUsage, measure } from "./process-usage.ts";
import type { Measured } from "./process-usage.ts";

const bin = resolve(import.meta.dirname, "..", "bin", "nightdesk.js");

/** What stands in the command line of every process that works for a topology, its sessions on the server included. */
export const marksOf = ({ workroot, context }: Topology): readonly string[] => {
  const { url } = context.config.database;
  return url === "embedded" ? [workroot] : [workroot, new URL(url).pathname.slice(1)];
};

/** Runs a command of the build in dist/ as a user would, and measures what it and the database take. */
export const runCommand = (
  topology: Topology,
  ...words: readonly string[]
): Promise<Measured<string>> =>
  measure(marksOf(topology), async () => {
    const { configFile, workroot } = topology;
    const child = spawn(process.execPath, [bin, ...words, "--config", configFile], {
      cwd: workroot,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      child.exitCode ?? once(child, "exit"),
    ]);
    if (child.exitCode !== 0) {
      throw new Error(`${words.join(" ")} ended with ${String(child.exitCode)}: ${stderr}`);
    }
    return stdout;
  });

/** `12.3 s; command CPU 900 ms, peak 120 MiB; server CPU 1200 ms`. */
export const describeRun = ({ ms, usage }: Measured<unknown>): string =>
  `${(ms / 1_000).toFixed(1)} s; ${describeUsage(usage)}`;
