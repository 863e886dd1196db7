import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  linkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readArchive } from "../../../../src/worker/sandbox/shell/archive.ts";

const LONG = "l".repeat(140);
let folder: string;
let archive: Buffer;

/** As the wrapper packs /scratch. */
const pack = (from: string, format = "gnu"): Buffer =>
  execFileSync("tar", [
    ...["--create", "--file=-", `--directory=${from}`, `--format=${format}`],
    ...["--numeric-owner", "."],
  ]);

/** What lies in a folder; links are not followed. */
function contentOf(root: string): { entries: number; links: Record<string, string> } {
  const links: Record<string, string> = {};
  let entries = 0;
  const walk = (below: string): void => {
    for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
      const name = join(below, entry.name);
      entries += 1;
      if (entry.isSymbolicLink()) links[`/scratch/${name}`] = readlinkSync(join(root, name));
      if (entry.isDirectory()) walk(name);
    }
  };
  walk("");
  return { entries, links };
}

/** What tar makes of an archive; null where it says that something is wrong. */
function unpacked(bytes: Buffer): ReturnType<typeof contentOf> | null {
  const to = mkdtempSync(join(folder, "to-"));
  try {
    const words = ["--extract", "--file=-", `--directory=${to}`, "--no-same-owner"];
    const { status } = spawnSync("tar", words, { input: bytes });
    return status === 0 ? contentOf(to) : null;
  } finally {
    rmSync(to, { recursive: true, force: true });
  }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nightdesk-archive-"));
  const scratch = join(folder, "scratch");
  mkdirSync(join(scratch, "a", LONG), { recursive: true });
  writeFileSync(join(scratch, "a", "file"), "x".repeat(700));
  writeFileSync(join(scratch, "empty"), "");
  symlinkSync("/etc", join(scratch, "out"));
  symlinkSync(`../${LONG}`, join(scratch, "a", LONG, `${LONG}é`));
  linkSync(join(scratch, "a", "file"), join(scratch, "second"));
  linkSync(join(scratch, "out"), join(scratch, "z-second-link"));
  archive = pack(scratch);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test("an archive holds what lies in its folder, and nothing where it is empty", () => {
  expect(readArchive(archive, "/scratch")).toEqual(contentOf(join(folder, "scratch")));
  expect(readArchive(Buffer.alloc(0), "/scratch")).toEqual({ entries: 0, links: {} });
});

describe("is none", () => {
  test.each(["posix", "ustar", "v7"])("of the format %s", (format) => {
    const small = mkdtempSync(join(folder, "small-"));
    symlinkSync("/etc", join(small, "out"));
    expect(readArchive(pack(small, format), "/scratch")).toBeNull();
  });

  test("that is cut, goes on behind its end, or holds a name twice", () => {
    const end = archive.subarray(archive.indexOf("second") - 2, archive.length);
    expect(readArchive(archive.subarray(0, 1_024), "/scratch")).toBeNull();
    expect(readArchive(Buffer.concat([archive, archive]), "/scratch")).toBeNull();
    expect(readArchive(Buffer.concat([archive.subarray(0, 512), archive]), "/scratch")).toBeNull();
    expect(readArchive(end, "/scratch")).toBeNull();
  });

  test("with an entry below a link, or outside of its folder", () => {
    for (const [name, target] of [
      ["./out/x", "/etc"],
      ["./../x", "/etc"],
      ["/x", "/etc"],
      ["./a//x", "/etc"],
      ["./missing/x", "/etc"],
    ] as const) {
      const more = Buffer.concat([withoutEnd(archive), linkHeader(name, target), END]);
      expect(readArchive(more, "/scratch")).toBeNull();
    }
    const good = Buffer.concat([withoutEnd(archive), linkHeader("./a/x", "/etc"), END]);
    expect(readArchive(good, "/scratch")?.links).toMatchObject({ "/scratch/a/x": "/etc" });
  });
});

test("whatever bytes are changed, tar makes no link of it that is not told", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  let accepted = 0;
  for (let round = 0; round < 400; round += 1) {
    const bytes = Buffer.from(archive);
    const header = 512 * random(Math.floor(bytes.length / 512));
    for (let changes = 1 + random(3); changes > 0; changes -= 1) {
      // Names, types, targets and sizes, more often than the rest.
      const field = [random(100), 124 + random(12), 156, 157 + random(100), random(512)][random(5)];
      bytes[header + (field ?? 0)] = [0, 0x2e, 0x2f, 0x31, 0x32, 0x35, random(256)][random(7)] ?? 0;
    }
    bytes.write(`${sum(bytes.subarray(header, header + 512))}\0 `, header + 148, "latin1");
    const told = readArchive(bytes, "/scratch");
    if (told === null) continue;
    accepted += 1;
    const made = unpacked(bytes);
    if (made !== null) expect(told).toEqual(made);
  }
  expect(accepted).toBeGreaterThan(20);
});

const END = Buffer.alloc(1_024);

/** Behind the last entry there are blocks of zeros. */
function withoutEnd(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (bytes.subarray(end - 512, end).every((byte) => byte === 0)) end -= 512;
  return bytes.subarray(0, end);
}

const sum = (header: Buffer): string =>
  header
    .reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0)
    .toString(8)
    .padStart(6, "0");

function linkHeader(name: string, target: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write("0000777\0", 100);
  header.write("00000000000\0", 124);
  header.write("2", 156);
  header.write(target, 157);
  header.write("ustar  \0", 257, "latin1");
  header.write(`${sum(header)}\0 `, 148, "latin1");
  return header;
}
