import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Who takes time and memory. `here` is the process of the measurement itself, where it is asked for. */
export type Role = "here" | "command" | "worker" | "database" | "server";

export type Usage = {
  /** User and system, of all processes of the role. */
  readonly cpuMs: number;
  /** Of the largest process of the role: what was resident at its highest. A server's is not given. */
  readonly peakMiB: number;
};

export type Measured<T> = {
  readonly value: T;
  readonly ms: number;
  readonly usage: ReadonlyMap<Role, Usage>;
};

const SAMPLE_MS = 25;
const TICK_MS = 10;

/** The mark of this process. */
export const HERE = "here";

/**
 * Runs something and measures what it takes: each process whose command line holds one of the marks (a folder, or the
 * name of a database, which its sessions on the server have there). Linux only.
 */
export async function measure<T>(
  marks: readonly string[],
  run: () => Promise<T>,
): Promise<Measured<T>> {
  const seen = new Map<string, Seen>();
  look(marks, seen);
  const sampler = setInterval(() => {
    look(marks, seen);
  }, SAMPLE_MS);
  const startedAt = performance.now();
  try {
    const value = await run();
    const ms = performance.now() - startedAt;
    look(marks, seen);
    return { value, ms, usage: addUp([...seen.values()]) };
  } finally {
    clearInterval(sampler);
  }
}

type Seen = {
  readonly role: Role | undefined;
  readonly cpuBefore: number;
  /** How often it was looked at. */
  looks: number;
  cpuMs: number;
  peakMiB: number;
};

/** A process that was just started has the command line of who started it for a moment. */
const LOOKS_UNTIL_SETTLED = 40;

function look(marks: readonly string[], seen: Map<string, Seen>): void {
  const isFirst = seen.size === 0;
  for (const pid of listPids()) {
    try {
      const known = seen.get(pid);
      const isSettled = known !== undefined && known.looks > LOOKS_UNTIL_SETTLED;
      const role = isSettled ? known.role : roleOfPid(pid, marks);
      const found =
        known !== undefined && known.role === role
          ? known
          : meet(pid, role, isFirst ? cpuOf(pid) : 0);
      seen.set(pid, found);
      found.looks += 1;
      if (role === undefined) continue;
      found.cpuMs = cpuOf(pid) - found.cpuBefore;
      // One that has ended and was not waited for yet holds nothing any more.
      found.peakMiB = Math.max(found.peakMiB, peakOf(pid));
    } catch {
      // It ended meanwhile.
    }
  }
}

const listPids = (): string[] => readdirSync("/proc").filter((name) => /^\d+$/.test(name));

function meet(pid: string, role: Role | undefined, cpuBefore: number): Seen {
  // What it took before does not count: 5 sets its highest to what it holds now.
  if (role !== undefined && role !== "server") writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return { role, cpuBefore, looks: 0, cpuMs: 0, peakMiB: 0 };
}

function roleOfPid(pid: string, marks: readonly string[]): Role | undefined {
  if (marks.includes(HERE) && pid === String(process.pid)) return HERE;
  return roleOf(readFileSync(`/proc/${pid}/cmdline`, "utf8"), marks);
}

/** The processes of a role that have one of the marks. */
export const findPids = (role: Role, marks: readonly string[]): number[] =>
  listPids()
    .filter((pid) => {
      try {
        return roleOfPid(pid, marks) === role;
      } catch {
        return false; // It ended meanwhile.
      }
    })
    .map(Number);

function roleOf(words: string, marks: readonly string[]): Role | undefined {
  if (!marks.some((mark) => words.includes(mark))) return undefined;
  if (words.startsWith("postgres:")) return "server";
  if (words.includes("\0worker\0")) return "worker";
  return words.includes("\0database\0") ? "database" : "command";
}

function cpuOf(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const peakOf = (pid: string): number =>
  Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;

function addUp(processes: readonly Seen[]): Map<Role, Usage> {
  const usage = new Map<Role, Usage>();
  for (const { role, cpuMs, peakMiB } of processes) {
    if (role === undefined) continue;
    const before = usage.get(role) ?? { cpuMs: 0, peakMiB: 0 };
    usage.set(role, {
      cpuMs: before.cpuMs + cpuMs,
      peakMiB: Math.max(before.peakMiB, role === "server" ? 0 : peakMiB),
    });
  }
  return usage;
}

/** `worker CPU 1200 ms, peak 150 MiB; …` */
export const describeUsage = (usage: ReadonlyMap<Role, Usage>): string =>
  [...usage]
    .map(([role, { cpuMs, peakMiB }]) => {
      const peak = peakMiB === 0 ? "" : `, peak ${Math.round(peakMiB)} MiB`;
      return `${role} CPU ${Math.round(cpuMs)} ms${peak}`;
    })
    .join("; ");
