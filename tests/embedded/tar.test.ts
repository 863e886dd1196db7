import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { packFolder, unpackInto } from "../../src/embedded/tar.ts";

let scratch: string;
let packed: string;
let unpacked: string;
beforeEach(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), "nightdesk-tar-"));
  [packed, unpacked] = [path.join(scratch, "packed"), path.join(scratch, "unpacked")];
  await mkdir(packed);
  await mkdir(unpacked);
});
afterEach(() => rm(scratch, { recursive: true }));

async function collect(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of packFolder(packed)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** In pieces that fit no block. */
async function* pieces(tar: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < tar.length; at += 700) yield tar.subarray(at, at + 700);
}

function tarOf(...args: readonly string[]): Buffer {
  const { stdout, status } = spawnSync("tar", ["-cf", "-", ...args], { cwd: packed });
  expect(status).toBe(0);
  return stdout;
}

test("holds files of any length and empty folders, as tar sees it too", async () => {
  const sizes = [0, 1, 511, 512, 513, 70_000];
  await mkdir(path.join(packed, "a", "empty"), { recursive: true });
  for (const size of sizes)
    await writeFile(path.join(packed, "a", `${size}`), Buffer.alloc(size, `${size}`));
  const tar = await collect();
  await unpackInto(unpacked, pieces(tar));
  const theirs = path.join(scratch, "theirs");
  await mkdir(theirs);
  expect(spawnSync("tar", ["-xf", "-", "-C", theirs], { input: tar }).status).toBe(0);
  for (const folder of [unpacked, theirs]) {
    expect((await readdir(folder, { recursive: true })).sort()).toEqual(
      ["a", "a/empty", ...sizes.map((size) => `a/${size}`)].sort(),
    );
    for (const size of sizes) {
      const name = path.join("a", `${size}`);
      expect(await readFile(path.join(folder, name))).toEqual(
        await readFile(path.join(packed, name)),
      );
    }
  }
});

test.each([
  [
    "leads out",
    "leads out of it",
    () => tarOf("-P", "--transform", "s,^file$,../outside,", "file"),
  ],
  ["is a link", "it holds a link", () => tarOf("link")],
])("writes nothing that %s", async (_, reason, make) => {
  await writeFile(path.join(packed, "file"), "text");
  await symlink("/etc/hostname", path.join(packed, "link"));
  await expect(unpackInto(unpacked, pieces(make()))).rejects.toThrow(reason);
  expect(await readdir(scratch)).toEqual(["packed", "unpacked"]);
  expect(await readdir(unpacked)).toEqual([]);
});

test.each([
  ["cut short", "it is cut short", (tar: Buffer) => tar.subarray(0, 1_000)],
  ["damaged", "is damaged", (tar: Buffer) => tar.fill("x", 0, 3)],
  ["of something else", "it is cut short", () => Buffer.from("text")],
])("refuses a tar that is %s", async (_, reason, spoil) => {
  await writeFile(path.join(packed, "file"), "text".repeat(1_000));
  await expect(unpackInto(unpacked, pieces(spoil(await collect())))).rejects.toThrow(reason);
});
