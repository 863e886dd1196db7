import { join, resolve } from "node:path";
import type { Topology } from "../conformance/topologies.ts";
import { start } from "../deploy/spawned.ts";
import type { Ended, Spawned } from "../deploy/spawned.ts";

const packageRoot = resolve(import.meta.dirname, "..", "..");
const bin = join(packageRoot, "bin", "nightdesk.js");

/** Runs `nightdesk` as a process of its own. */
export const runBin = (topology: Topology, ...words: string[]): Spawned =>
  start([process.execPath, bin, ...words, "--config", topology.configFile, "--log-level", "warn"], {
    cwd: topology.workroot,
    env: { PATH: process.env["PATH"] ?? "" },
  });

/** Workers as real processes, each in a place of its own that is filled again after a kill. */
export type WorkerFleet = {
  kill(place: number): Promise<void>;
  pause(place: number): void;
  resume(place: number): void;
  /** Ends all by SIGTERM. @returns how each of those ended that nobody killed */
  stop(): Promise<readonly Ended[]>;
  destroy(): Promise<void>;
};

export function startFleet(topology: Topology, size: number): WorkerFleet {
  const startOne = () => runBin(topology, "worker", "--concurrency", "2");
  const workers = Array.from({ length: size }, startOne);
  const at = (place: number): Spawned => {
    const worker = workers[place];
    if (worker === undefined) throw new Error(`there is no worker ${place}`);
    return worker;
  };
  return {
    async kill(place) {
      at(place).kill("SIGKILL");
      await at(place).ended;
      workers[place] = startOne();
    },
    pause: (place) => {
      at(place).kill("SIGSTOP");
    },
    resume: (place) => {
      at(place).kill("SIGCONT");
    },
    async stop() {
      for (const worker of workers) worker.kill("SIGTERM");
      return Promise.all(workers.map(({ ended }) => ended));
    },
    async destroy() {
      for (const worker of workers) worker.kill("SIGKILL");
      await Promise.all(workers.map(({ ended }) => ended));
    },
  };
}
