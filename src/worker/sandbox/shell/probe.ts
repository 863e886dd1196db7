import { existsSync, readFileSync } from "node:fs";
import { createShellExecutor } from "./executor.ts";
import type { ShellExecutor, ShellOutcome } from "./executor.ts";
import { SHELL_LIMITS } from "./limits.ts";
import type { ShellLimits } from "./limits.ts";
import { selectMemoryLimit } from "./memory-group.ts";
import { makeSeccompFilter } from "./seccomp.ts";
import type { MemoryLimit } from "./bubblewrap.ts";

/** Why a machine has no shell. */
export type ShellProblem =
  | "platform"
  | "architecture"
  | "no_bubblewrap"
  | "bubblewrap_too_old"
  | "user_namespaces_off"
  | "container_profile"
  | "apparmor"
  | "program_missing"
  /** Inside the sandbox, something forbidden is reachable, or a limit is not in force. */
  | "not_proved"
  | "sandbox_failed";

export type ShellProbe =
  | {
      readonly kind: "available";
      readonly executor: ShellExecutor;
      readonly memory: MemoryLimit["kind"];
      /** Why memory is limited only per process; null if for all together. */
      readonly memoryWhy: string | null;
      readonly bubblewrap: string;
    }
  | { readonly kind: "unavailable"; readonly reason: ShellProblem; readonly message: string };

/** Whether commands can run, and why not. */
export const shellOf = (
  probe: ShellProbe,
): { readonly kind: "open" } | { readonly kind: "disabled"; readonly why: string } =>
  probe.kind === "available" ? { kind: "open" } : { kind: "disabled", why: probe.message };

/** The facts that a probe uses; only tests pass other values than those of this machine. */
export type ProbedMachine = {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** The user id of this process. */
  readonly userId: number;
  /** Where bubblewrap may lie, absolute. */
  readonly programs: readonly string[];
  /** A value below /proc/sys, or null. */
  readonly sysctl: (name: string) => string | null;
};

/** The user and group `nobody`, for a worker that is root. */
const NOBODY = 65_534;

export const THIS_MACHINE: ProbedMachine = {
  platform: process.platform,
  architecture: process.arch,
  userId: process.getuid?.() ?? 0,
  programs: ["/usr/bin/bwrap", "/usr/local/bin/bwrap"],
  sysctl: (name) => {
    const path = `/proc/sys/${name}`;
    return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
  },
};

/**
 * Runs one command in the sandbox, with the usual flags and limits, that tries forbidden accesses and
 * reads its own limits. It returns an executor only if every check passes. Takes about 50 ms.
 */
export async function probeShell(
  machine: ProbedMachine = THIS_MACHINE,
  limits: ShellLimits = SHELL_LIMITS,
): Promise<ShellProbe> {
  if (machine.platform !== "linux") {
    return unavailable("platform", `The shell needs Linux, and this is ${machine.platform}.`);
  }
  const filter = makeSeccompFilter(machine.architecture);
  if (filter === null) {
    const known = "x86-64 and arm64";
    return unavailable(
      "architecture",
      `There is no list of system calls for ${machine.architecture}: the shell runs on ${known}.`,
    );
  }
  const bubblewrap = machine.programs.find((path) => existsSync(path));
  if (bubblewrap === undefined) {
    return unavailable(
      "no_bubblewrap",
      `bubblewrap is not installed (${machine.programs.join(", ")}): install the package bubblewrap.`,
    );
  }
  const memory = selectMemoryLimit();
  const unprivilegedId = machine.userId === 0 ? NOBODY : null;
  const executor = createShellExecutor({ bubblewrap, filter, unprivilegedId, memory });
  const problem = await tryExecutor(executor, limits, machine);
  if (problem !== null) return problem;
  const memoryWhy = memory.kind === "cgroup" ? null : memory.why;
  return { kind: "available", executor, memory: memory.kind, memoryWhy, bubblewrap };
}

type Unavailable = Extract<ShellProbe, { kind: "unavailable" }>;

const unavailable = (reason: ShellProblem, message: string): Unavailable => ({
  kind: "unavailable",
  reason,
  message,
});

async function tryExecutor(
  executor: ShellExecutor,
  limits: ShellLimits,
  machine: ProbedMachine,
): Promise<Unavailable | null> {
  const outcome = await executor.run(
    {
      command: { kind: "script", text: proofScript(limits) },
      inputs: [],
      state: null,
      limits: { ...limits, wallMs: PROBE_MS },
      sink: { write: () => undefined },
    },
    new AbortController().signal,
  );
  return outcome.kind === "not_started" ? explain(outcome.message, machine) : judgeProof(outcome);
}

const PROBE_MS = 10_000;

function judgeProof(outcome: Extract<ShellOutcome, { kind: "ended" }>): Unavailable | null {
  const printed = outcome.stdout.head.trim();
  if (printed === "holds" && outcome.ending.kind === "exited" && outcome.ending.code === 0)
    return null;
  const what = printed.startsWith("open:") ? printed.slice(5).trim() : outcome.ending.kind;
  const missing = /bwrap: execvp ([^:]+)/.exec(outcome.stderr.head)?.[1];
  return missing === undefined
    ? unavailable(
        "not_proved",
        `The sandbox does not hold on this machine (${what}), so nothing runs in it.`,
      )
    : unavailable(
        "program_missing",
        `${missing} is not installed: install the package util-linux.`,
      );
}

/** A script that tries forbidden accesses from inside. It prints "holds", or "open:" and the failed checks. */
function proofScript(limits: ShellLimits): string {
  const is = (name: string, test: string): string => `{ ${test}; } 2>/dev/null || open+=" ${name}"`;
  const status = (field: string, value: string): string =>
    `[[ $(</proc/self/status) =~ ${field}:[[:space:]]*${value}[[:space:]] ]]`;
  const folderHolds = (path: string, bytes: number): string =>
    `read -r size blocks < <(stat -f -c '%S %b' ${path}) && [ $((size * blocks)) -le ${bytes} ]`;
  return [
    "open=",
    is("user", "[ $UID -eq 65534 ]"),
    is("new-privileges", status("NoNewPrivs", "1")),
    is("capabilities", status("CapEff", "0000000000000000")),
    is("system-calls", status("Seccomp", "2")),
    is("sockets", "! exec 9<>/dev/tcp/127.0.0.1/9"),
    is("programs-writable", "! : >/usr/nightdesk-probe"),
    is("root-writable", "! : >/nightdesk-probe"),
    is(
      "kernel-settings",
      "! [ -w /proc/sys/kernel/core_pattern ] && ! [ -w /proc/sys/vm/swappiness ]",
    ),
    is(
      "environment",
      "! grep -qzvE '^(PATH|HOME|TMPDIR|LANG|TZ|PWD|SHLVL|_|OLDPWD)=' /proc/1/environ",
    ),
    is("scratch", ": >/scratch/probe && rm /scratch/probe"),
    is("processes", `[ $(ulimit -u) -eq ${limits.processes} ]`),
    is("address-space", `[ $(ulimit -v) -eq ${limits.addressSpaceBytes / 1024} ]`),
    is("file-size", `[ $(ulimit -f) -eq ${limits.fileBytes / 1024} ]`),
    is("open-files", `[ $(ulimit -n) -eq ${limits.openFiles} ]`),
    is("processor-time", `[ $(ulimit -t) -eq ${limits.cpuSeconds} ]`),
    is("core-files", "[ $(ulimit -c) -eq 0 ]"),
    is("scratch-size", folderHolds("/scratch", limits.scratchBytes)),
    is("tmp-size", folderHolds("/tmp", limits.tmpBytes)),
    is("shared-memory-size", folderHolds("/dev/shm", limits.sharedMemoryBytes)),
    'if [ -z "$open" ]; then echo holds; else echo "open:$open"; fi',
  ].join("\n");
}

/** Translates bubblewrap's message into a reason and a remedy. */
function explain(message: string, { sysctl }: ProbedMachine): Unavailable {
  const isRestricted = sysctl("kernel/apparmor_restrict_unprivileged_userns") === "1";
  const isOff =
    sysctl("kernel/unprivileged_userns_clone") === "0" ||
    sysctl("user/max_user_namespaces") === "0";
  if (
    /uid map: Permission denied|RTM_NEWADDR/.test(message) ||
    (isRestricted && /namespace/.test(message))
  ) {
    return unavailable(
      "apparmor",
      `AppArmor keeps bubblewrap from user namespaces: give bwrap a profile that allows userns. ${message}`,
    );
  }
  if (
    /new namespace failed: No space left|ENOSPC/.test(message) ||
    (isOff && /namespace/.test(message))
  ) {
    return unavailable(
      "user_namespaces_off",
      `User namespaces are switched off here: set the sysctl user.max_user_namespaces above 0. ${message}`,
    );
  }
  if (/namespace|Can't mount proc/.test(message)) {
    return unavailable(
      "container_profile",
      `The container that this runs in refuses user namespaces: see "A shell in containers" in ` +
        `docs/many-machines.md. ${message}`,
    );
  }
  return /Unknown option/.test(message)
    ? unavailable(
        "bubblewrap_too_old",
        `bubblewrap is older than 0.8: install a newer one. ${message}`,
      )
    : unavailable("sandbox_failed", message);
}
