import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { codeOf, makeWorkroot, messageOf, type Workroot } from "./make-workroot.ts";

let root: Workroot;
const link = (target: string, path: string): void => {
  symlinkSync(target, join(root.work, path));
};
beforeEach(() => {
  root = makeWorkroot();
  root.write("allowed/corpus/note.md", "hello");
});
afterEach(() => {
  root.remove();
});

describe("links inside the same root", () => {
  test.each([
    ["relative", () => "corpus/note.md"],
    ["absolute", () => join(root.work, "allowed/corpus/note.md")],
    ["through the process's own root", () => `/proc/self/root${root.work}/allowed/corpus/note.md`],
  ])("reads the target of a %s link and names the target", async (_, target) => {
    link(target(), "allowed/link.md");
    const reading = await root.read("allowed/link.md");
    expect(reading).toMatchObject({ kind: "read", path: "allowed/corpus/note.md", text: "hello" });
  });

  test("follows a chain of links and a linked parent", async () => {
    link("corpus", "allowed/parent");
    link("parent/note.md", "allowed/first.md");
    link("first.md", "allowed/second.md");
    expect(await root.read("allowed/second.md")).toMatchObject({ path: "allowed/corpus/note.md" });
    const reading = await root.read("allowed/parent/note.md");
    expect(reading).toMatchObject({ path: "allowed/corpus/note.md" });
  });

  test("applies extension and hidden rules to the target", async () => {
    root.write("allowed/program.py");
    root.write("allowed/.git/config.md");
    link("program.py", "allowed/program.md");
    link(".git/config.md", "allowed/config.md");
    expect(codeOf(await root.read("allowed/program.md"))).toBe("PATH_DENIED");
    expect(codeOf(await root.read("allowed/config.md"))).toBe("PATH_DENIED");
    expect(codeOf(await root.read("config.md"))).toBe("PATH_DENIED");
  });

  test("says that a link to a folder is a directory", async () => {
    link("corpus", "allowed/folder.md");
    expect(codeOf(await root.read("allowed/folder.md"))).toBe("PATH_IS_DIRECTORY");
    mkdirSync(join(root.work, "allowed/real.md"));
    expect(codeOf(await root.read("allowed/real.md"))).toBe("PATH_IS_DIRECTORY");
  });
});

describe("links that lead out", () => {
  test.each([
    ["absolute", () => join(root.folder, "outside/secret.md")],
    ["relative", () => "../../outside/secret.md"],
    ["to a folder", () => join(root.folder, "outside")],
    ["to another allowed root", () => join(root.work, "second/other.md")],
    ["to a device", () => "/dev/zero"],
    ["to the environment", () => "/proc/self/environ"],
    ["through the process's root", () => `/proc/self/root${root.folder}/outside/secret.md`],
  ])("denies a link that is %s, and does not name its target", async (_, target) => {
    root.write("second/other.md");
    link(target(), "allowed/link.md");
    const refusal = await root.read("allowed/link.md", { allowedRoots: ["allowed", "second"] });
    expect(codeOf(refusal)).toBe("PATH_DENIED");
    expect(messageOf(refusal)).not.toMatch(/secret|other\.md|zero|environ/);
    expect(messageOf(refusal)).not.toContain(root.folder);
    expect(codeOf(await root.read("link.md"))).toBe("PATH_DENIED");
  });

  test("denies a linked parent and a chain that ends outside", async () => {
    link(join(root.folder, "outside"), "allowed/parent");
    link("parent/secret.md", "allowed/first.md");
    link("first.md", "allowed/second.md");
    expect(codeOf(await root.read("allowed/parent/secret.md"))).toBe("PATH_DENIED");
    expect(codeOf(await root.read("allowed/second.md"))).toBe("PATH_DENIED");
  });

  test("does not list what lies behind a linked folder", async () => {
    link(join(root.folder, "outside"), "allowed/parent");
    expect(codeOf(await root.read("secret.md"))).toBe("FILE_NOT_FOUND");
    expect(messageOf(await root.read("secre.md"))).not.toContain("secret");
  });

  test("denies a folder whose name only starts like the root", async () => {
    root.write("allowed-evil/secret.md");
    link("../allowed-evil/secret.md", "allowed/link.md");
    expect(codeOf(await root.read("allowed/link.md"))).toBe("PATH_DENIED");
    expect(codeOf(await root.read("allowed-evil/secret.md"))).toBe("PATH_DENIED");
  });

  test.each(["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"])(
    "denies a link through %s to an open file outside",
    async (folder) => {
      const descriptor = openSync(join(root.folder, "outside/secret.md"), "r");
      try {
        link(`${folder}/${descriptor}`, "allowed/link.md");
        expect(codeOf(await root.read("allowed/link.md"))).toBe("PATH_DENIED");
      } finally {
        closeSync(descriptor);
      }
    },
  );
});

describe("links that lead nowhere", () => {
  test("finds no file behind a dangling link, a loop and a link to itself", async () => {
    link("absent.md", "allowed/dangling.md");
    link("b.md", "allowed/a.md");
    link("a.md", "allowed/b.md");
    link("self.md", "allowed/self.md");
    for (const name of ["dangling.md", "a.md", "self.md"]) {
      expect(codeOf(await root.read(`allowed/${name}`))).toBe("FILE_NOT_FOUND");
      expect(codeOf(await root.read(name))).toBe("FILE_NOT_FOUND");
    }
  });
});

describe("hard links", () => {
  test("denies a file with a second name, unless the policy allows it", async () => {
    linkSync(join(root.folder, "outside/secret.md"), join(root.work, "allowed/hard.md"));
    expect(codeOf(await root.read("allowed/hard.md"))).toBe("PATH_DENIED");
    expect(codeOf(await root.read("allowed/hard.md", { allowHardLinks: true }))).toBe("read");
  });

  test("denies an open file that lost its name through a link to its descriptor", async () => {
    writeFileSync(join(root.work, "allowed/gone.md"), "gone");
    const descriptor = openSync(join(root.work, "allowed/gone.md"), "r");
    try {
      link(`/proc/self/fd/${descriptor}`, "allowed/link.md");
      expect(codeOf(await root.read("allowed/link.md"))).toBe("read");
      unlinkSync(join(root.work, "allowed/gone.md"));
      expect(codeOf(await root.read("allowed/link.md"))).toBe("FILE_NOT_FOUND");
    } finally {
      closeSync(descriptor);
    }
  });
});

describe("names that are not UTF-8", () => {
  test("denies them behind a link, and reads a real replacement character", async () => {
    const bytes = Buffer.concat([
      Buffer.from(join(root.work, "allowed/")),
      Buffer.from([0xff]),
      Buffer.from(".md"),
    ]);
    writeFileSync(bytes, "bytes");
    symlinkSync(bytes, join(root.work, "allowed/link.md"));
    expect(codeOf(await root.read("allowed/link.md"))).toBe("PATH_DENIED");
    root.write("allowed/\uFFFD.md", "real");
    expect(await root.read("allowed/\uFFFD.md")).toMatchObject({ text: "real" });
  });
});
