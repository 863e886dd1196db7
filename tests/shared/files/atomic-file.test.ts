import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createAtomicFile, openPartFile } from "../../../src/shared/files/atomic-file.ts";
import type { Existing } from "../../../src/shared/files/atomic-file.ts";

let folder: string;
let umask: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nightdesk-atomic-"));
  umask = process.umask(0o022);
});
afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

async function write(file: string, text: string, existing: Existing): Promise<void> {
  const made = await createAtomicFile(file, existing);
  await made.handle.writeFile(text);
  await made.commit();
}
const modeOf = (file: string): number => lstatSync(file).mode & 0o777;

describe("a file that appears when it is complete", () => {
  test("is not there before, and has a name that nobody can guess until then", async () => {
    const names = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      const made = await createAtomicFile(join(folder, "note"), "keep");
      const [name = ""] = readdirSync(folder);
      expect(name).toMatch(/^\.nightdesk-[0-9a-f]{32}\.partial$/);
      names.add(name);
      await made.discard();
    }
    expect(names.size).toBe(3);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([0o000, 0o022, 0o277])("has mode 0600 under umask %d", async (mask) => {
    process.umask(mask);
    await write(join(folder, "note"), "mine", "keep");
    expect(modeOf(join(folder, "note"))).toBe(0o600);
  });

  test("replaces a file of others' rights by one of its own", async () => {
    const file = join(folder, "note");
    writeFileSync(file, "old", { mode: 0o666 });
    await write(file, "mine", "replace");
    expect(modeOf(file)).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test("replaces a link itself, and what it leads to stays as it is", async () => {
    const [file, outside] = [join(folder, "note"), join(folder, "outside")];
    writeFileSync(outside, "theirs");
    symlinkSync(outside, file);
    await expect(write(file, "mine", "keep")).rejects.toMatchObject({ code: "EEXIST" });
    await write(file, "mine", "replace");
    expect(readFileSync(outside, "utf8")).toBe("theirs");
    expect(lstatSync(file).isFile()).toBe(true);
  });

  test.each(["a file", "a link that leads nowhere"])(
    "keeps %s that came in between",
    async (what) => {
      const file = join(folder, "note");
      const made = await createAtomicFile(file, "keep");
      if (what === "a file") writeFileSync(file, "theirs");
      else symlinkSync(join(folder, "nowhere"), file);
      await expect(made.commit()).rejects.toMatchObject({ code: "EEXIST" });
      expect(readdirSync(folder)).toEqual(["note"]);
      expect(existsSync(join(folder, "nowhere"))).toBe(false);
    },
  );

  test("goes into the folder that was there at the beginning, whatever takes its name", async () => {
    const [inside, away] = [join(folder, "in"), join(folder, "away")];
    mkdirSync(inside);
    const made = await createAtomicFile(join(inside, "note"), "keep");
    renameSync(inside, away);
    mkdirSync(inside);
    await made.commit();
    expect(readdirSync(inside)).toEqual([]);
    expect(readdirSync(away)).toEqual(["note"]);
  });

  test.each<Existing>(["keep", "replace"])(
    "is on disk before it has its name, and its name before it is there for the caller (%s)",
    async (existing) => {
      const made = await createAtomicFile(join(folder, "note"), existing);
      const handles = Object.getPrototypeOf(made.handle) as FileHandle;
      const synced: (readonly [what: string, isPlaced: boolean])[] = [];
      const { sync } = handles as { readonly sync: (this: FileHandle) => Promise<void> };
      handles.sync = async function (this: FileHandle) {
        const what = (await this.stat()).isDirectory() ? "folder" : "file";
        synced.push([what, existsSync(join(folder, "note"))]);
        await sync.call(this);
      };
      try {
        await made.commit();
      } finally {
        handles.sync = sync;
      }
      expect(synced).toEqual([
        ["file", false],
        ["folder", true],
      ]);
    },
  );

  test("is an error when another program put its own in place of what was written", async () => {
    const made = await createAtomicFile(join(folder, "note"), "replace");
    const [partial = ""] = readdirSync(folder);
    rmSync(join(folder, partial));
    writeFileSync(join(folder, partial), "theirs");
    await expect(made.commit()).rejects.toThrow("another program replaced note");
  });
});

describe("a file that is made in several calls", () => {
  const part = () => join(folder, ".note.part");
  async function openPart() {
    const opened = await openPartFile(join(folder, "note"));
    if (opened === "held") throw new Error("somebody holds the part");
    return opened;
  }

  test("stays beside its place until it is put there", async () => {
    const first = await openPart();
    await first.handle.appendFile("one ");
    await first.keep();
    expect(readdirSync(folder)).toEqual([".note.part"]);
    expect(modeOf(part())).toBe(0o600);
    const second = await openPart();
    expect(second.bytes).toBe(4);
    await second.handle.appendFile("two");
    await second.commit();
    await second.keep();
    expect(readdirSync(folder)).toEqual(["note"]);
    expect(readFileSync(join(folder, "note"), "utf8")).toBe("one two");
  });

  test("is written by one at a time, and by nobody who opened it before it was put in its place", async () => {
    const first = await openPart();
    expect(await openPartFile(join(folder, "note"))).toBe("held");
    await first.handle.appendFile("one");
    await first.commit();
    const second = await openPart();
    expect(second.bytes).toBe(0);
    await second.discard();
    expect(readFileSync(join(folder, "note"), "utf8")).toBe("one");
  });

  test.each<[string, (outside: string) => void]>([
    [
      "a link",
      (outside) => {
        symlinkSync(outside, part());
      },
    ],
    [
      "another name of a file",
      (outside) => {
        linkSync(outside, part());
      },
    ],
  ])("takes away %s that stands under its name", async (_, plant) => {
    const outside = join(folder, "outside");
    writeFileSync(outside, "theirs");
    plant(outside);
    const made = await openPart();
    expect(made.bytes).toBe(0);
    await made.handle.appendFile("mine");
    await made.commit();
    expect(readFileSync(outside, "utf8")).toBe("theirs");
    expect(readFileSync(join(folder, "note"), "utf8")).toBe("mine");
  });
});
