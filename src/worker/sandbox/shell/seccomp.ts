/** Architectures, by Node's names, whose system call numbers are known here. */
export type FilteredArchitecture = "x64" | "arm64";

type Numbers = { readonly [architecture in FilteredArchitecture]: number | null };

const numbers = (x64: number, arm64: number | null): Numbers => ({ x64, arm64 });

// Numbers from Linux's asm/unistd_64.h (x86-64) and asm-generic/unistd.h (arm64), headers of 6.1.
/** System calls that fail with EPERM in the sandbox. */
export const DENIED_CALLS: Readonly<Record<string, Numbers>> = {
  // Sockets: a network namespace covers neither AF_VSOCK nor a socket file in a folder. socketpair stays.
  socket: numbers(41, 198),
  connect: numbers(42, 203),
  accept: numbers(43, 202),
  bind: numbers(49, 200),
  listen: numbers(50, 201),
  accept4: numbers(288, 242),
  // Other processes.
  ptrace: numbers(101, 117),
  process_vm_readv: numbers(310, 270),
  process_vm_writev: numbers(311, 271),
  kcmp: numbers(312, 272),
  pidfd_getfd: numbers(438, 438),
  process_madvise: numbers(440, 440),
  // Keys, programs in the kernel, and queues that run other calls past this filter.
  add_key: numbers(248, 217),
  request_key: numbers(249, 218),
  keyctl: numbers(250, 219),
  perf_event_open: numbers(298, 241),
  bpf: numbers(321, 280),
  userfaultfd: numbers(323, 282),
  io_uring_setup: numbers(425, 425),
  io_uring_enter: numbers(426, 426),
  io_uring_register: numbers(427, 427),
  // Namespaces and mounts.
  chroot: numbers(161, 51),
  pivot_root: numbers(155, 41),
  mount: numbers(165, 40),
  umount2: numbers(166, 39),
  unshare: numbers(272, 97),
  name_to_handle_at: numbers(303, 264),
  open_by_handle_at: numbers(304, 265),
  setns: numbers(308, 268),
  open_tree: numbers(428, 428),
  move_mount: numbers(429, 429),
  fsopen: numbers(430, 430),
  fsconfig: numbers(431, 431),
  fsmount: numbers(432, 432),
  fspick: numbers(433, 433),
  mount_setattr: numbers(442, 442),
  // Memory that no limit of a process covers: it stays allocated when no process has it mapped.
  shmget: numbers(29, 194),
  msgget: numbers(68, 186),
  mq_open: numbers(240, 180),
  memfd_create: numbers(319, 279),
  memfd_secret: numbers(447, 447),
  // The machine.
  personality: numbers(135, 92),
  modify_ldt: numbers(154, null),
  vhangup: numbers(153, 58),
  adjtimex: numbers(159, 171),
  acct: numbers(163, 89),
  settimeofday: numbers(164, 170),
  swapon: numbers(167, 224),
  swapoff: numbers(168, 225),
  reboot: numbers(169, 142),
  sethostname: numbers(170, 161),
  setdomainname: numbers(171, 162),
  iopl: numbers(172, null),
  ioperm: numbers(173, null),
  init_module: numbers(175, 105),
  delete_module: numbers(176, 106),
  quotactl: numbers(179, 60),
  syslog: numbers(103, 116),
  lookup_dcookie: numbers(212, 18),
  clock_settime: numbers(227, 112),
  mbind: numbers(237, 235),
  set_mempolicy: numbers(238, 237),
  kexec_load: numbers(246, 104),
  migrate_pages: numbers(256, 238),
  move_pages: numbers(279, 239),
  fanotify_init: numbers(300, 262),
  clock_adjtime: numbers(305, 266),
  finit_module: numbers(313, 273),
  kexec_file_load: numbers(320, 294),
  quotactl_fd: numbers(443, 443),
};

const CLONE: Readonly<Record<FilteredArchitecture, number>> = { x64: 56, arm64: 220 };
const IOCTL: Readonly<Record<FilteredArchitecture, number>> = { x64: 16, arm64: 29 };
// Its flags are in memory, which a filter can't read; after ENOSYS the C library falls back to clone.
const CLONE3 = 435;
// cachestat. Later calls have not been reviewed, and return ENOSYS.
const LAST_KNOWN_CALL = 451;

const AUDIT_ARCHITECTURE: Readonly<Record<FilteredArchitecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET.
const NEW_NAMESPACES = 0x7e020000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

// struct seccomp_data: nr, arch, instruction pointer, six arguments of 64 bits, low word first.
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER = 0x25;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

/** One instruction of classic BPF: code, jumps if true and if false, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
const returnVerdict = (verdict: number): Instruction => [RETURN, 0, 0, verdict];
/** Returns the verdict if the comparison holds, and continues otherwise. */
const returnIf = (test: number, operand: number, verdict: number): readonly Instruction[] => [
  [test, 0, 1, operand],
  returnVerdict(verdict),
];
const unlessCall = (number: number, skipped: number): Instruction => [
  JUMP_EQUAL,
  0,
  skipped,
  number,
];

/**
 * The filter for `bwrap --seccomp`, an array of `struct sock_filter` in little endian. All calls of the table fail with EPERM,
 * and so do new namespaces by clone and characters pushed into a terminal; clone3 and calls newer than the
 * table fail with ENOSYS; a call of another architecture kills the process. Null for an architecture without a table.
 * @param architecture as in `process.arch`
 */
export function makeSeccompFilter(architecture: string): Buffer | null {
  if (architecture !== "x64" && architecture !== "arm64") return null;
  return encode([
    load(ARCHITECTURE),
    [JUMP_EQUAL, 1, 0, AUDIT_ARCHITECTURE[architecture]],
    returnVerdict(KILL_PROCESS),
    load(CALL_NUMBER),
    ...returnIf(JUMP_EQUAL, CLONE3, ENOSYS),
    // Calls of x32 have bit 30 set, and get ENOSYS like the newer ones.
    ...returnIf(JUMP_GREATER, LAST_KNOWN_CALL, ENOSYS),
    ...Object.values(DENIED_CALLS).flatMap(({ [architecture]: number }) =>
      number === null ? [] : returnIf(JUMP_EQUAL, number, EPERM),
    ),
    unlessCall(CLONE[architecture], 4),
    load(FIRST_ARGUMENT),
    ...returnIf(JUMP_ANY_BIT, NEW_NAMESPACES, EPERM),
    returnVerdict(ALLOW),
    unlessCall(IOCTL[architecture], 5),
    load(SECOND_ARGUMENT),
    ...returnIf(JUMP_EQUAL, TIOCSTI, EPERM),
    ...returnIf(JUMP_EQUAL, TIOCLINUX, EPERM),
    returnVerdict(ALLOW),
  ]);
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    const offset = index * 8;
    bytes.writeUInt16LE(code, offset);
    bytes.writeUInt8(ifTrue, offset + 2);
    bytes.writeUInt8(ifFalse, offset + 3);
    bytes.writeUInt32LE(operand, offset + 4);
  }
  return bytes;
}
