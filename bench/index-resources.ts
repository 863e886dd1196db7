import { readdirSync, readFileSync } from "node:fs";

export type Measured<T> = {
  readonly value: T;
  readonly ms: number;
  /** Of this process, user and system. */
  readonly cpuMs: number;
  /** Of PostgreSQL's processes on this machine; 0 where there are none to be seen. */
  readonly serverCpuMs: number;
  readonly peakMiB: number;
};

const SAMPLE_MS = 20;
const TICK_MS = 10;

/** Runs something and measures what it takes of time and memory. */
export async function measure<T>(run: () => Promise<T>): Promise<Measured<T>> {
  let peak = process.memoryUsage.rss();
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, SAMPLE_MS);
  const server = serverCpuMs();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const value = await run();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(sampler);
  return {
    value,
    ms,
    cpuMs: (user + system) / 1_000,
    serverCpuMs: serverCpuMs() - server,
    peakMiB: Math.max(peak, process.memoryUsage.rss()) / 2 ** 20,
  };
}

function serverCpuMs(): number {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => sum + cpuOf(pid), 0);
}

function cpuOf(pid: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    if (!status.includes("(postgres)")) return 0;
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0; // It ended meanwhile.
  }
}
