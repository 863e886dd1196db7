import { constants } from "node:os";
import type { Readable } from "node:stream";
import { startSandbox } from "./bubblewrap.ts";
import type { ShellHost, StartedSandbox } from "./bubblewrap.ts";
import { readArchive } from "./archive.ts";
import { checkInputs, closeGiven, openInputs, sizeOfInputFolder } from "./inputs.ts";
import type { AdmittedFile } from "./inputs.ts";
import type { ShellLimits } from "./limits.ts";
import { captureStream } from "./output.ts";
import type { CapturedStream, OutputSink } from "./output.ts";
import { EMPTY_STATE, formatVariables, readSession, wrapCommand } from "./state.ts";
import type { SessionReport, ShellCommand, ShellState } from "./state.ts";

/** Runs commands in a sandbox that shows only /usr of the machine, and ends all their processes. */
export type ShellExecutor = {
  /**
   * Runs one command; an abort of the signal ends it. Whatever the command does is an outcome. It throws only for a lack of the
   * machine's resources (TOOL_ERROR for descriptors, or the system's error).
   */
  run(request: ShellRequest, signal: AbortSignal): Promise<ShellOutcome>;
};

export type ShellRequest = {
  readonly command: ShellCommand;
  readonly inputs: readonly AdmittedFile[];
  /** Null for the first call. */
  readonly state: ShellState | null;
  readonly limits: ShellLimits;
  readonly sink: OutputSink;
};

/** How a command ended. */
export type Ending =
  /** `signal` is set if the code is a shell's code for a signal (128 plus its number). */
  | { readonly kind: "exited"; readonly code: number; readonly signal: NodeJS.Signals | null }
  | { readonly kind: "timed_out"; readonly afterMs: number }
  | { readonly kind: "cancelled" }
  /** A stream exceeded `streamBytes`. */
  | { readonly kind: "flooded"; readonly stream: "stdout" | "stderr" };

export type ShellOutcome =
  | {
      readonly kind: "ended";
      readonly ending: Ending;
      readonly stdout: CapturedStream;
      readonly stderr: CapturedStream;
      readonly wallMs: number;
      readonly state: NextState;
    }
  /** The command did not start. */
  | { readonly kind: "not_started"; readonly reason: SetupProblem; readonly message: string };

export type NextState =
  | { readonly kind: "saved"; readonly state: ShellState }
  /** The state from before the call stays. */
  | { readonly kind: "kept"; readonly why: "killed" | "too_large" | "not_saved" };

export type SetupProblem =
  "invalid_request" | "inputs_refused" | "sandbox_failed" | "state_unreadable";

/** Creates the executor on a host that passed the probe. Throws if commands would run as the machine's root. */
export function createShellExecutor(host: ShellHost): ShellExecutor {
  if ((host.unprivilegedId ?? process.getuid?.()) === 0) {
    throw new Error("the shell never runs as root: give an unprivileged id");
  }
  return { run: async (request, signal) => runCommand(host, request, signal) };
}

async function runCommand(
  host: ShellHost,
  request: ShellRequest,
  signal: AbortSignal,
): Promise<ShellOutcome> {
  const problem = checkRequest(request);
  if (problem !== null) return problem;
  const startedAt = performance.now();
  const sandbox = await startCall(host, request);
  const watch = watchCall(sandbox, request.limits, signal);
  const readStdout = captureOutput(sandbox, "stdout", { request, watch });
  const readStderr = captureOutput(sandbox, "stderr", { request, watch });
  const readSessionBytes = collectBytes(sandbox.session, SESSION_BYTES, watch);
  const readArchive = collectBytes(sandbox.archive, request.limits.stateBytes, watch);
  sandbox.session.once("data", watch.onCommandEnded);
  const { exitCode } = await sandbox.closed.finally(watch.close);
  const { stopped, isOversize, failure } = watch.read();
  if (failure !== null) throw failure;
  const report = readSession(readSessionBytes());
  const [stdout, stderr] = [readStdout(), readStderr()];
  const ending = stopped ?? endingOf(report, exitCode);
  if (ending === null) return refuseSetup(report, stderr);
  const end = { report, archive: readArchive(), isOversize };
  const state = stopped === null ? nextState(request, end) : KEPT_AFTER_KILL;
  return { kind: "ended", ending, stdout, stderr, wallMs: performance.now() - startedAt, state };
}

const KEPT_AFTER_KILL: NextState = { kind: "kept", why: "killed" };
const SESSION_BYTES = 4_194_304;
const SAVED = Buffer.from("saved");

function checkRequest({ command, inputs, limits }: ShellRequest): ShellOutcome | null {
  const refused = checkInputs(inputs, limits);
  if (refused !== null) return notStarted("inputs_refused", refused);
  const words = command.kind === "argv" ? command.argv : [command.text];
  const [first = ""] = words;
  if (words.some((word) => word.includes("\0"))) {
    return notStarted("invalid_request", "The command holds a NUL, which no program can be given.");
  }
  if (command.kind === "argv" && !first.startsWith("/")) {
    return notStarted("invalid_request", "The program is not named by its absolute path.");
  }
  const bytes = words.reduce((total, word) => total + Buffer.byteLength(word), 0);
  if (bytes <= limits.scriptBytes) return null;
  return notStarted(
    "invalid_request",
    `The command has ${bytes} bytes, over the ${limits.scriptBytes} that are run: write a shorter one.`,
  );
}

const notStarted = (reason: SetupProblem, message: string): ShellOutcome => ({
  kind: "not_started",
  reason,
  message,
});

async function startCall(host: ShellHost, request: ShellRequest): Promise<StartedSandbox> {
  const { command, limits } = request;
  const state = request.state ?? EMPTY_STATE;
  const inputs = openInputs(request.inputs);
  try {
    return await startSandbox(
      host,
      {
        limits,
        inputs,
        inputFolderBytes: sizeOfInputFolder(request.inputs),
        argv: wrapCommand(command, state),
      },
      {
        script: command.kind === "script" ? command.text : "",
        variables: formatVariables(state),
        archive: state.scratch,
      },
    );
  } finally {
    closeGiven(inputs);
  }
}

/** Watches a call, and ends it early if a limit, an abort or a fault requires it. */
type Watch = {
  readonly stop: (ending: Ending) => void;
  /** Ends the call for a fault that is not the command's. */
  readonly fail: (failure: Error) => void;
  /** Ends the call because its state is larger than the limit. */
  readonly oversize: () => void;
  /** Replaces the time limit by `saveMs`, for saving the state. */
  readonly onCommandEnded: () => void;
  /** Removes the timer and the listener. */
  readonly close: () => void;
  readonly read: () => {
    readonly stopped: Ending | null;
    readonly isOversize: boolean;
    readonly failure: Error | null;
  };
};

function watchCall(sandbox: StartedSandbox, limits: ShellLimits, signal: AbortSignal): Watch {
  let stopped: Ending | null = null;
  let isOversize = false;
  let failure: Error | null = null;
  const stop = (ending: Ending): void => {
    stopped ??= ending;
    sandbox.kill();
  };
  const cancel = (): void => {
    stop({ kind: "cancelled" });
  };
  let timer = setTimeout(() => {
    stop({ kind: "timed_out", afterMs: limits.wallMs });
  }, limits.wallMs);
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return {
    stop,
    fail: (thrown) => {
      failure ??= thrown;
      sandbox.kill();
    },
    oversize: () => {
      isOversize = true;
      sandbox.kill();
    },
    onCommandEnded: () => {
      clearTimeout(timer);
      timer = setTimeout(sandbox.kill, limits.saveMs);
    },
    close: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    },
    read: () => ({ stopped, isOversize, failure }),
  };
}

type Watched = { readonly request: ShellRequest; readonly watch: Watch };

const captureOutput = (
  sandbox: StartedSandbox,
  stream: "stdout" | "stderr",
  { request: { limits, sink }, watch }: Watched,
): (() => CapturedStream) =>
  captureStream(sandbox[stream], {
    keptBytes: limits.keptStreamBytes,
    maxBytes: limits.streamBytes,
    onPiece: (piece) => {
      try {
        sink.write(stream, piece);
      } catch (error) {
        watch.fail(error instanceof Error ? error : new Error(String(error)));
      }
    },
    onFlood: () => {
      watch.stop({ kind: "flooded", stream });
    },
  });

function collectBytes(stream: Readable, maxBytes: number, watch: Watch): () => Buffer {
  const pieces: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxBytes + SAVED.length) watch.oversize();
    else pieces.push(piece);
  });
  return () => Buffer.concat(pieces);
}

/** Null if the command did not start. */
function endingOf(report: SessionReport, exitCode: number | null): Ending | null {
  if (report.kind === "ended") return exitedWith(report.code);
  // The command, or the kernel for lack of memory, killed the wrapping shell.
  return report.kind === "silent" && exitCode !== null ? exitedWith(exitCode) : null;
}

const exitedWith = (code: number): Ending => ({
  kind: "exited",
  code,
  signal: SIGNALS.get(code - 128) ?? null,
});

const SIGNALS = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);

function refuseSetup(report: SessionReport, stderr: CapturedStream): ShellOutcome {
  const lastLine = stderr.head.trim().split("\n").at(-1) ?? "";
  return report.kind === "unpack_failed"
    ? notStarted(
        "state_unreadable",
        `What the last call left in /scratch can't be unpacked: ${lastLine}`,
      )
    : notStarted(
        "sandbox_failed",
        `The sandbox was not set up: ${lastLine || "bubblewrap said nothing"}`,
      );
}

type CallEnd = {
  readonly report: SessionReport;
  readonly archive: Buffer;
  readonly isOversize: boolean;
};

function nextState(request: ShellRequest, { report, archive, isOversize }: CallEnd): NextState {
  const { limits } = request;
  if (isOversize) return KEPT_AS_TOO_LARGE;
  const scratch = archive.subarray(0, -SAVED.length);
  const isWhole = archive.subarray(-SAVED.length).equals(SAVED);
  const content = isWhole ? readArchive(scratch, "/scratch") : null;
  if (report.kind !== "ended" || content === null) return { kind: "kept", why: "not_saved" };
  if (content.entries > limits.stateEntries) return KEPT_AS_TOO_LARGE;
  const { folder, variables } = report.session ?? request.state ?? EMPTY_STATE;
  const state = { folder, variables, scratch, ...content };
  const isCarried = Buffer.byteLength(formatVariables(state)) <= limits.variableBytes;
  return isCarried ? { kind: "saved", state } : KEPT_AS_TOO_LARGE;
}

const KEPT_AS_TOO_LARGE: NextState = { kind: "kept", why: "too_large" };
