import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { ShellLimits } from "./limits.ts";

/** The parts of a sandbox that depend on the machine. */
export type ShellHost = {
  /** Absolute. */
  readonly bubblewrap: string;
  readonly filter: Buffer;
  /** The user and group that bubblewrap runs as; set if this process is root, and never 0. */
  readonly unprivilegedId: number | null;
  readonly memory: MemoryLimit;
};

/** How the memory of a call's processes is limited: for all together, or only for each. */
export type MemoryLimit =
  | {
      readonly kind: "cgroup";
      /** Creates the group of one call, and returns its folder. */
      open(maxBytes: number): string;
      /** Puts a process, and with it its future children, into the group. */
      enter(group: string, pid: number): void;
      close(group: string): void;
    }
  | { readonly kind: "each_process"; readonly why: string };

/** A file of the sandbox: its content, or an open descriptor to read it from, at its offset. */
export type GivenFile = { readonly path: string; readonly from: number | Buffer };

type SandboxPlan = {
  readonly limits: ShellLimits;
  readonly inputs: readonly GivenFile[];
  /** Size of the folder of inputs, in bytes. */
  readonly inputFolderBytes: number;
  /** The command to run inside, by absolute path. */
  readonly argv: readonly string[];
};

// Descriptors of bubblewrap and of the processes in it.
const FILTER = 3;
const STATUS = 4;
const GO = 5;
const ARCHIVE_IN = 6;
const SESSION_OUT = 7;
const ARCHIVE_OUT = 8;
const SCRIPT = 9;
const VARIABLES = 10;
const FIRST_INPUT = 11;

const WELL_KNOWN = ["/bin", "/lib", "/lib64", "/sbin"];

/**
 * The arguments of `bwrap`: new namespaces of all kinds, no capability, nothing of the machine but /usr, read-only; folders
 * in memory, each with a size limit; the limits of processes are set inside, where they count only the sandbox's processes.
 */
export function bubblewrapArguments({
  limits,
  inputs,
  inputFolderBytes,
  argv,
}: SandboxPlan): string[] {
  const folder = (path: string, bytes: number): string[] => [
    ...["--size", String(bytes), "--tmpfs", path],
  ];
  const file = (path: string, descriptor: number): string[] => [
    ...["--perms", "0444", "--file", String(descriptor), path],
  ];
  return [
    ...["--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"],
    ...["--disable-userns", "--assert-userns-disabled", "--hostname", "sandbox"],
    ...["--new-session", "--die-with-parent", "--cap-drop", "ALL", "--as-pid-1"],
    ...["--seccomp", String(FILTER), "--json-status-fd", String(STATUS), "--block-fd", String(GO)],
    ...["--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/scratch"],
    ...["--setenv", "TMPDIR", "/tmp", "--setenv", "LANG", "C.UTF-8", "--setenv", "TZ", "UTC"],
    ...folder("/", 1_048_576),
    ...["--ro-bind", "/usr", "/usr"],
    ...WELL_KNOWN.flatMap((path) => ["--symlink", `usr${path}`, path]),
    // awk and other programs with alternatives are links to here.
    ...["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
    ...["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"],
    ...folder("/dev/shm", limits.sharedMemoryBytes),
    ...["--remount-ro", "/dev"],
    ...folder("/input", inputFolderBytes),
    ...inputs.flatMap(({ path }, index) => file(`/input/${path}`, FIRST_INPUT + index)),
    ...["--remount-ro", "/input"],
    ...folder("/session", limits.scriptBytes + limits.variableBytes + 65_536),
    ...[...file("/session/script", SCRIPT), ...file("/session/variables", VARIABLES)],
    ...folder("/session/out", limits.variableBytes + 16_384),
    ...["--remount-ro", "/session"],
    ...folder("/scratch", limits.scratchBytes),
    ...folder("/tmp", limits.tmpBytes),
    ...["--chdir", "/scratch", "--remount-ro", "/", "--"],
    // When memory is short, the kernel kills these processes first.
    ...["/usr/bin/choom", "-n", "1000", "--"],
    ...["/usr/bin/prlimit", `--as=${limits.addressSpaceBytes}`, `--nproc=${limits.processes}`],
    ...[
      `--fsize=${limits.fileBytes}`,
      `--cpu=${limits.cpuSeconds}`,
      `--nofile=${limits.openFiles}`,
    ],
    ...["--core=0", "--msgqueue=0", "--"],
    ...argv,
  ];
}

/** A sandbox that was started. All streams end with it. */
export type StartedSandbox = {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The wrapper's report on how the command ended. */
  readonly session: Readable;
  /** A tar of /scratch. */
  readonly archive: Readable;
  /** Kills every process in it; if its first process is not known yet, as soon as it is. */
  readonly kill: () => void;
  /** Settles when all processes are gone. The exit code is null if the sandbox was not set up, or was killed. */
  readonly closed: Promise<{ readonly exitCode: number | null }>;
};

/** The data that is written into a sandbox. */
export type SandboxFeed = {
  readonly script: string;
  /** `NAME=value`, each ended by NUL. */
  readonly variables: string;
  /** A tar of /scratch, or empty. */
  readonly archive: Buffer;
};

/**
 * Starts bubblewrap with an empty environment and only the descriptors named here, as an unprivileged user if
 * this process is root. Nothing inside runs before its first process is known and is in its memory group.
 * Throws the system's error if the program can't be started.
 */
export async function startSandbox(
  host: ShellHost,
  plan: SandboxPlan,
  feed: SandboxFeed,
): Promise<StartedSandbox> {
  const { memory } = host;
  const group = memory.kind === "cgroup" ? memory.open(plan.limits.totalMemoryBytes) : null;
  const leaveGroup = (): void => {
    if (memory.kind === "cgroup" && group !== null) memory.close(group);
  };
  const child = spawnBubblewrap(host, plan);
  try {
    await once(child, "spawn");
  } catch (error) {
    leaveGroup();
    throw error;
  }
  for (const stream of child.stdio) stream?.on("error", ignoreBrokenPipe);
  feedPipe(child, FILTER, host.filter);
  feedPipe(child, ARCHIVE_IN, feed.archive);
  feedPipe(child, SCRIPT, feed.script);
  feedPipe(child, VARIABLES, feed.variables);
  for (const [index, { from }] of plan.inputs.entries()) {
    if (typeof from !== "number") feedPipe(child, FIRST_INPUT + index, from);
  }
  const life = followStatus(child, (pid) => {
    if (memory.kind === "cgroup" && group !== null) memory.enter(group, pid);
    feedPipe(child, GO, "go");
  });
  return {
    stdout: outOf(child, 1),
    stderr: outOf(child, 2),
    session: outOf(child, SESSION_OUT),
    archive: outOf(child, ARCHIVE_OUT),
    kill: life.kill,
    closed: life.closed.finally(leaveGroup),
  };
}

function spawnBubblewrap(host: ShellHost, plan: SandboxPlan): ChildProcess {
  const { unprivilegedId: id } = host;
  return spawn(host.bubblewrap, bubblewrapArguments(plan), {
    ...(id === null ? {} : { uid: id, gid: id }),
    env: {},
    cwd: "/",
    detached: true,
    stdio: [
      "ignore",
      ...Array<"pipe">(FIRST_INPUT - 1).fill("pipe"),
      ...plan.inputs.map(({ from }) => (typeof from === "number" ? from : "pipe")),
    ],
  });
}

// A pipe breaks when the sandbox ends before it has read or written everything; its exit reports how it ended.
const ignoreBrokenPipe = (): void => undefined;

const feedPipe = (child: ChildProcess, descriptor: number, content: Buffer | string): void => {
  (child.stdio[descriptor] as Writable).end(content);
};

const outOf = (child: ChildProcess, descriptor: number): Readable =>
  child.stdio[descriptor] as Readable;

type Life = { readonly kill: () => void; readonly closed: StartedSandbox["closed"] };

/**
 * Reads `--json-status-fd`: first the pid of the sandbox's first process, then its exit code. `kill` ends that process,
 * which ends all others, and bubblewrap reaps it. Killing bubblewrap itself would leave a zombie behind.
 */
function followStatus(child: ChildProcess, onStarted: (pid: number) => void): Life {
  let firstProcess: number | null = null;
  let isKilled = false;
  let exitCode: number | null = null;
  let failure: Error | null = null;
  let text = "";
  const kill = (): void => {
    isKilled = true;
    if (firstProcess !== null && child.exitCode === null && child.signalCode === null) {
      killIfThere(firstProcess);
    }
  };
  outOf(child, STATUS).on("data", (piece: Buffer) => {
    text += piece.toString();
    const started = /"child-pid": ?(\d+)/.exec(text)?.[1];
    const ended = /"exit-code": ?(\d+)/.exec(text)?.[1];
    if (ended !== undefined) exitCode = Number(ended);
    if (started === undefined || firstProcess !== null) return;
    firstProcess = Number(started);
    try {
      if (isKilled) kill();
      else onStarted(firstProcess);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      kill();
    }
  });
  return {
    kill,
    closed: new Promise((resolve, reject) => {
      child.once("close", () => {
        if (failure === null) resolve({ exitCode });
        else reject(failure);
      });
    }),
  };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
