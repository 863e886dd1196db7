/** Architectures, by Node's names, whose system call numbers are known here. */
export type FilteredArchitecture = "x64" | "arm64";

type Numbers = { readonly [architecture in FilteredArchitecture]: number | null };

const at = (x64: number, arm64: number | null): Numbers => ({ x64, arm64 });

// Numbers from Linux's asm/unistd_64.h (x86-64) and asm-generic/unistd.h (arm64), headers of 6.1.
/** System calls that fail with EPERM in the sandbox. */
export const DENIED_CALLS: Readonly<Record<string, Numbers>> = {
  // Sockets: a network namespace covers neither AF_VSOCK nor a socket file in a folder. socketpair stays.
  socket: at(41, 198),
  connect: at(42, 203),
  accept: at(43, 202),
  bind: at(49, 200),
  listen: at(50, 201),
  accept4: at(288, 242),
  // Other processes.
  ptrace: at(101, 117),
  process_vm_readv: at(310, 270),
  process_vm_writev: at(311, 271),
  kcmp: at(312, 272),
  pidfd_getfd: at(438, 438),
  process_madvise: at(440, 440),
  // Keys, programs in the kernel, and queues that run other calls past this filter.
  add_key: at(248, 217),
  request_key: at(249, 218),
  keyctl: at(250, 219),
  perf_event_open: at(298, 241),
  bpf: at(321, 280),
  userfaultfd: at(323, 282),
  io_uring_setup: at(425, 425),
  io_uring_enter: at(426, 426),
  io_uring_register: at(427, 427),
  // Namespaces and mounts.
  chroot: at(161, 51),
  pivot_root: at(155, 41),
  mount: at(165, 40),
  umount2: at(166, 39),
  unshare: at(272, 97),
  name_to_handle_at: at(303, 264),
  open_by_handle_at: at(304, 265),
  setns: at(308, 268),
  open_tree: at(428, 428),
  move_mount: at(429, 429),
  fsopen: at(430, 430),
  fsconfig: at(431, 431),
  fsmount: at(432, 432),
  fspick: at(433, 433),
  mount_setattr: at(442, 442),
  // Memory that no limit of a process covers: it stays allocated when no process has it mapped.
  shmget: at(29, 194),
  msgget: at(68, 186),
  mq_open: at(240, 180),
  memfd_create: at(319, 279),
  memfd_secret: at(447, 447),
  // The machine.
  personality: at(135, 92),
  modify_ldt: at(154, null),
  vhangup: at(153, 58),
  adjtimex: at(159, 171),
  acct: at(163, 89),
  settimeofday: at(164, 170),
  swapon: at(167, 224),
  swapoff: at(168, 225),
  reboot: at(169, 142),
  sethostname: at(170, 161),
  setdomainname: at(171, 162),
  iopl: at(172, null),
  ioperm: at(173, null),
  init_module: at(175, 105),
  delete_module: at(176, 106),
  quotactl: at(179, 60),
  syslog: at(103, 116),
  lookup_dcookie: at(212, 18),
  clock_settime: at(227, 112),
  mbind: at(237, 235),
  set_mempolicy: at(238, 237),
  kexec_load: at(246, 104),
  migrate_pages: at(256, 238),
  move_pages: at(279, 239),
  fanotify_init: at(300, 262),
  clock_adjtime: at(305, 266),
  finit_module: at(313, 273),
  kexec_file_load: at(320, 294),
  quotactl_fd: at(443, 443),
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
const give = (verdict: number): Instruction => [RETURN, 0, 0, verdict];
/** Returns the verdict if the comparison holds, and continues otherwise. */
const giveIf = (test: number, operand: number, verdict: number): readonly Instruction[] => [
  [test, 0, 1, operand],
  give(verdict),
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
    give(KILL_PROCESS),
    load(CALL_NUMBER),
    ...giveIf(JUMP_EQUAL, CLONE3, ENOSYS),
    // Calls of x32 have bit 30 set, and get ENOSYS like the newer ones.
    ...giveIf(JUMP_GREATER, LAST_KNOWN_CALL, ENOSYS),
    ...Object.values(DENIED_CALLS).flatMap(({ [architecture]: number }) =>
      number === null ? [] : giveIf(JUMP_EQUAL, number, EPERM),
    ),
    unlessCall(CLONE[architecture], 4),
    load(FIRST_ARGUMENT),
    ...giveIf(JUMP_ANY_BIT, NEW_NAMESPACES, EPERM),
    give(ALLOW),
    unlessCall(IOCTL[architecture], 5),
    load(SECOND_ARGUMENT),
    ...giveIf(JUMP_EQUAL, TIOCSTI, EPERM),
    ...giveIf(JUMP_EQUAL, TIOCLINUX, EPERM),
    give(ALLOW),
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
