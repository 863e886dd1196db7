import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import type { MemoryLimit } from "./bubblewrap.ts";

/** Where the kernel shows control groups, and this process's own; tests use other paths. */
export type GroupFiles = { readonly root: string; readonly self: string };

const GROUP_FILES: GroupFiles = { root: "/sys/fs/cgroup", self: "/proc/self/cgroup" };

/**
 * A memory limit for all processes of a call together: a cgroup v2 group beside this process's own, if the parent is
 * delegated to its user with the memory controller (a systemd unit with `Delegate=memory`, whose processes are in a
 * group below it). It proves this by creating a group and reading its limit back.
 */
export function selectMemoryLimit({ root, self }: GroupFiles = GROUP_FILES): MemoryLimit {
  const path = readOwnGroup(self);
  if (path === null) return { kind: "each_process", why: "this machine has no cgroup v2" };
  // A group with processes can't limit groups below it, so new groups are created in its parent.
  const parent = posix.join(root, posix.dirname(path));
  const limit = groupsIn(parent);
  try {
    limit.close(limit.open(PROOF_BYTES));
    return limit;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    return {
      kind: "each_process",
      why: `no group with a memory limit can be made in ${parent} (${code})`,
    };
  }
}

const PROOF_BYTES = 268_435_456;

/** The path of `0::/path`, or null. */
function readOwnGroup(self: string): string | null {
  try {
    return /^0::(\/.*)$/m.exec(readFileSync(self, "utf8"))?.[1] ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function groupsIn(parent: string): Extract<MemoryLimit, { kind: "cgroup" }> {
  return {
    kind: "cgroup",
    open: (maxBytes) => {
      const group = posix.join(parent, `nightdesk-shell-${randomUUID()}`);
      mkdirSync(group);
      try {
        limitMemory(group, maxBytes);
        return group;
      } catch (error) {
        rmdirSync(group);
        throw error;
      }
    },
    enter: (group, pid) => {
      writeFileSync(posix.join(group, "cgroup.procs"), String(pid));
    },
    close: removeGroup,
  };
}

/** A group whose last process is still ending stays behind: it is soon empty, and limits nothing. */
function removeGroup(group: string): void {
  try {
    rmdirSync(group);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EBUSY") throw error;
  }
}

/** Writes only existing files: if the kernel has not created them, the group has no memory controller. */
function limitMemory(group: string, maxBytes: number): void {
  const limits = { "memory.max": maxBytes, "memory.swap.max": 0 };
  for (const [name, value] of Object.entries(limits)) {
    writeFileSync(posix.join(group, name), String(value), { flag: "r+" });
  }
  const read = Number(readFileSync(posix.join(group, "memory.max"), "utf8"));
  if (read === maxBytes) return;
  throw Object.assign(new Error(`memory.max is ${read}`), { code: "EINVAL" });
}
