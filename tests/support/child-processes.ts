import { readdirSync, readFileSync } from "node:fs";

/** Whether a process was started with such words; not of one that is dead, waited for or not. */
export function wasStartedWith(pid: number, words: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(words);
  } catch {
    // Gone in between.
    return false;
  }
}

/** The processes that one has started with such words, dead ones left out. */
export const childrenStartedWith = (words: string, parent = process.pid): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent && wasStartedWith(pid, words));

function parentOf(pid: number): number | undefined {
  try {
    const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return Number(parent);
  } catch {
    return undefined;
  }
}
