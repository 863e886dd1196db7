import { expect, test } from "@jest/globals";
import { DENIED_CALLS, makeSeccompFilter } from "../../../../src/worker/sandbox/shell/seccomp.ts";

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const KILL = 0x80000000;

const machines = [
  { architecture: "x64", audit: 0xc000003e, clone: 56, ioctl: 16, read: 0, execve: 59 },
  { architecture: "arm64", audit: 0xc00000b7, clone: 220, ioctl: 29, read: 63, execve: 221 },
] as const;

type Call = { readonly audit: number; readonly number: number; readonly arguments?: number[] };

/** Runs classic BPF as the kernel does, for the four instructions that the filter uses. */
function judge(filter: Buffer, { audit, number, arguments: given = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, value] of given.entries()) data.writeUInt32LE(value, 16 + index * 8);
  let accumulator = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const code = filter.readUInt16LE(at);
    const operand = filter.readUInt32LE(at + 4);
    if (code === 0x06) return operand;
    if (code === 0x20) {
      accumulator = data.readUInt32LE(operand);
      continue;
    }
    const holds = {
      0x15: accumulator === operand,
      0x25: accumulator > operand,
      0x45: (accumulator & operand) !== 0,
    }[code];
    if (holds === undefined) throw new Error(`unknown instruction ${code}`);
    at += 8 * filter.readUInt8(at + (holds ? 2 : 3));
  }
  throw new Error("the filter ran past its end");
}

function filterFor(architecture: string): Buffer {
  const filter = makeSeccompFilter(architecture);
  if (filter === null) throw new Error(`no filter for ${architecture}`);
  return filter;
}

for (const { architecture, audit, clone, ioctl, read, execve } of machines) {
  const ask = (number: number, ...given: number[]): number =>
    judge(filterFor(architecture), { audit, number, arguments: given });

  test(`the filter of ${architecture} refuses every call of the table`, () => {
    for (const { [architecture]: number } of Object.values(DENIED_CALLS)) {
      if (number !== null) expect([number, ask(number)]).toEqual([number, EPERM]);
    }
  });

  test(`the filter of ${architecture} lets through the calls that no row names`, () => {
    const denied = new Set(Object.values(DENIED_CALLS).map((numbers) => numbers[architecture]));
    const known = Array.from({ length: 452 }, (_, number) => number);
    for (const number of known.filter((number) => !denied.has(number) && number !== 435)) {
      expect([number, ask(number)]).toEqual([number, ALLOW]);
    }
    expect([ask(read), ask(execve)]).toEqual([ALLOW, ALLOW]);
  });

  test(`the filter of ${architecture} reads flags of clone and requests of ioctl`, () => {
    expect(ask(clone, 0x01200011)).toBe(ALLOW);
    for (const flag of [0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x08000000]) {
      expect(ask(clone, 0x11 + flag)).toBe(EPERM);
    }
    expect(ask(ioctl, 1, 0x5401)).toBe(ALLOW);
    expect([ask(ioctl, 1, 0x5412), ask(ioctl, 1, 0x541c)]).toEqual([EPERM, EPERM]);
  });

  test(`the filter of ${architecture} knows no clone3, no newer call and no x32`, () => {
    expect([ask(435), ask(452), ask(600), ask(0x40000000 + 41)]).toEqual(Array(4).fill(ENOSYS));
  });

  test(`the filter of ${architecture} ends a process that calls as another architecture`, () => {
    const filter = filterFor(architecture);
    for (const foreign of [0x40000003, 0x40000028, 0xc00000f3]) {
      expect(judge(filter, { audit: foreign, number: read })).toBe(KILL);
    }
  });
}

test("no filter is made for an architecture whose numbers are not known", () => {
  expect(makeSeccompFilter("riscv64")).toBeNull();
  expect(makeSeccompFilter("ia32")).toBeNull();
});
