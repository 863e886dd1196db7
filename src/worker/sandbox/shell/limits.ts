/** The limits of one call. Sizes are bytes. */
export type ShellLimits = {
  /** Time of the command in ms; saving the state has another `saveMs`. */
  readonly wallMs: number;
  readonly saveMs: number;
  /** Seconds of processor time for each process. */
  readonly cpuSeconds: number;
  /** Address space of each process. */
  readonly addressSpaceBytes: number;
  readonly processes: number;
  readonly openFiles: number;
  /** The largest file that the command may write. */
  readonly fileBytes: number;
  /** Folders in memory: /scratch, /tmp and /dev/shm. */
  readonly scratchBytes: number;
  readonly tmpBytes: number;
  readonly sharedMemoryBytes: number;
  /** Memory of all processes and folders together, if a cgroup can be created. */
  readonly totalMemoryBytes: number;
  readonly inputBytes: number;
  readonly inputFiles: number;
  readonly scriptBytes: number;
  /** For each stream: the part that the outcome keeps, and the most that goes to the sink before the command is killed. */
  readonly keptStreamBytes: number;
  readonly streamBytes: number;
  /** The most of /scratch and of exported variables that is carried to the next call. */
  readonly stateBytes: number;
  readonly stateEntries: number;
  readonly variableBytes: number;
};

const MIB = 1_048_576;

export const SHELL_LIMITS: ShellLimits = {
  wallMs: 60_000,
  saveMs: 10_000,
  cpuSeconds: 60,
  addressSpaceBytes: 2048 * MIB,
  processes: 64,
  openFiles: 256,
  fileBytes: 64 * MIB,
  scratchBytes: 64 * MIB,
  tmpBytes: 16 * MIB,
  sharedMemoryBytes: 16 * MIB,
  totalMemoryBytes: 2048 * MIB,
  inputBytes: 64 * MIB,
  inputFiles: 256,
  scriptBytes: 65_536,
  keptStreamBytes: 50_000,
  streamBytes: 16 * MIB,
  stateBytes: 32 * MIB,
  stateEntries: 10_000,
  variableBytes: 65_536,
};

/** Lower limits for calls whose output and state are stored as rows, all in one statement. */
export const KEPT_SHELL_LIMITS: ShellLimits = {
  ...SHELL_LIMITS,
  streamBytes: 4 * MIB,
  stateBytes: 8 * MIB,
};
