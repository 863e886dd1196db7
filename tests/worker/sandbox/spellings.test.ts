import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { codeOf, makeWorkroot, messageOf, type Workroot } from "./make-workroot.ts";

describe("what a spelling means", () => {
  let root: Workroot;
  beforeAll(() => {
    root = makeWorkroot();
    root.write("allowed/corpus/note.md", "hello");
    root.write("allowed/corpus/.hidden/note2.md");
    root.write("allowed/.secret.md");
    root.write("allowed/program.py");
    root.write("allowed/UPPER.MD");
    root.write("elsewhere/note3.md");
  });
  afterAll(() => {
    root.remove();
  });

  test.each([
    ["allowed/corpus/note.md", "allowed/corpus/note.md"],
    ["note.md", "allowed/corpus/note.md"],
    ["allowed/../allowed/corpus/note.md", "allowed/corpus/note.md"],
    ["./allowed//corpus/./note.md", "allowed/corpus/note.md"],
    ["allowed/corpus/note.md/", "allowed/corpus/note.md"],
    ["allowed/UPPER.MD", "allowed/UPPER.MD"],
    ["UPPER.MD", "allowed/UPPER.MD"],
  ])("reads %j", async (path, expected) => {
    expect(await root.read(path)).toMatchObject({ kind: "read", path: expected });
  });

  test.each([
    ["a path that is absolute", "/etc/passwd.md"],
    ["an absolute path inside the root", "ABSOLUTE"],
    ["a double slash", "//server/share/note.md"],
    ["a drive", "C:\\notes\\note.md"],
    ["a drive with a slash", "c:/note.md"],
    ["a network share", "\\\\server\\share\\note.md"],
    ["a backslash as separator", "allowed\\corpus\\note.md"],
    ["a home folder", "~/note.md"],
    ["another user's home folder", "~root/note.md"],
    ["a NUL", "allowed/corpus/note.md\0.md"],
    ["a newline", "allowed/corpus/note\n.md"],
    ["an escape sequence", "\u001b[2Jnote.md"],
    ["half a surrogate pair", "allowed/\ud800.md"],
    ["a climb out of the work root", "../outside/secret.md"],
    ["a climb out and back in", "../work/allowed/corpus/note.md"],
    ["a late climb", "allowed/../../outside/secret.md"],
    ["the parent", ".."],
    ["the folder itself", "."],
    ["a file outside every root", "elsewhere/note3.md"],
    ["a file of another extension", "allowed/program.py"],
    ["a missing file of another extension", "allowed/missing.py"],
    ["no extension", "README"],
    ["only an extension", ".md"],
    ["an alternate data stream", "note.md::$DATA"],
    ["an extension with a blank", "note.md "],
    ["a hidden file", "allowed/.secret.md"],
    ["a hidden bare name", ".secret.md"],
    ["a hidden folder", "allowed/corpus/.hidden/note2.md"],
    ["a missing hidden file", "allowed/.missing.md"],
    ["a folder without an extension", "allowed/corpus"],
    ["the descriptor folder", "/dev/fd/0"],
  ])("denies %s", async (_, spelling) => {
    const path = spelling === "ABSOLUTE" ? `${root.work}/allowed/corpus/note.md` : spelling;
    expect(codeOf(await root.read(path))).toBe("PATH_DENIED");
  });

  test.each([
    ["a missing bare name", "absent.md"],
    ["a missing path", "allowed/corpus/absent.md"],
    ["a path below a file", "allowed/corpus/note.md/deeper.md"],
    ["a bare name too long for a file", `${"x".repeat(300)}.md`],
    ["a part too long for a file", `allowed/${"x".repeat(300)}.md`],
    ["a path of more than 4096 bytes", `allowed/${"d/".repeat(4000)}x.md`],
    ["percent signs", "allowed/%2e%2e%2fnote.md"],
  ])("finds no file for %s", async (_, path) => {
    expect(codeOf(await root.read(path))).toBe("FILE_NOT_FOUND");
  });

  test.each(["corpus/note.md", "./corpus/note.md", "x/../corpus//note.md", "corpus/note.md/"])(
    "reads %s, which counts from an allowed root, and names it from the work root",
    async (path) => {
      expect(await root.read(path)).toMatchObject({ kind: "read", path: "allowed/corpus/note.md" });
      const sandbox = await root.open();
      expect(await sandbox.locate(path)).toMatchObject({ path: "allowed/corpus/note.md" });
    },
  );

  test("says that a folder is none that can be read, and which commands take one", async () => {
    for (const path of ["allowed/corpus", "allowed/corpus/", "corpus/", "allowed/"]) {
      const refusal = await root.read(path);
      expect(codeOf(refusal)).toBe("PATH_DENIED");
      expect(messageOf(refusal)).toMatch(/^"allowed(\/corpus)?" is a folder, .*summarize/);
    }
    for (const path of ["allowed/corpus/.hidden", "corpus/.hidden/", "elsewhere/"]) {
      expect(messageOf(await root.read(path))).not.toContain("is a folder");
    }
  });

  test("anchors ./ at the work root and offers the file of that name", async () => {
    const refusal = await root.read("./note.md");
    expect(codeOf(refusal)).toBe("PATH_DENIED");
    expect(messageOf(refusal)).toContain('Did you mean "allowed/corpus/note.md"?');
  });

  test("offers nothing from a place that may not be read", async () => {
    expect(messageOf(await root.read("./note3.md"))).not.toContain("elsewhere");
    expect(messageOf(await root.read("program.md"))).not.toContain("program.py");
  });

  test("names the allowed extensions when one is denied", async () => {
    expect(messageOf(await root.read("allowed/program.py"))).toContain("[.md, .txt, .json, .py]");
  });

  test("keeps control and direction characters out of its messages", async () => {
    const refusal = await root.read("allowed/\u202Egnp\u001b[31m.md");
    expect(messageOf(refusal)).toContain("\\u{202e}gnp\\u{1b}[31m.md");
  });

  test("locates a file without reading it", async () => {
    const sandbox = await root.open({ maxFileBytes: 1 });
    expect(await sandbox.locate("note.md")).toEqual({
      kind: "located",
      path: "allowed/corpus/note.md",
    });
    expect(codeOf(await sandbox.locate("../note.md"))).toBe("PATH_DENIED");
    expect(codeOf(await sandbox.locate(" "))).toBe("INVALID_ARGS");
  });
});

describe("arguments of the tool call", () => {
  let root: Workroot;
  beforeAll(() => {
    root = makeWorkroot();
    root.write("allowed/note.md");
  });
  afterAll(() => {
    root.remove();
  });

  test.each([199, 10_000_001, 0, -1, 500.5, NaN, Infinity, "500", true, null, undefined])(
    "refuses max_chars %p before it looks at the path",
    async (maxChars) => {
      const sandbox = await root.open();
      const args = { path: "/etc/passwd", maxChars } as { path: string; maxChars: number };
      expect(codeOf(await sandbox.readTextFile(args))).toBe("INVALID_ARGS");
    },
  );

  test.each(["", "  ", 7, null, undefined, ["note.md"], { path: "note.md" }])(
    "refuses the path %p",
    async (path) => {
      const sandbox = await root.open();
      const args = { path, maxChars: 200 } as { path: string; maxChars: number };
      expect(codeOf(await sandbox.readTextFile(args))).toBe("INVALID_ARGS");
    },
  );

  test.each([200, 10_000_000])("accepts max_chars %p", async (maxChars) => {
    const sandbox = await root.open();
    expect(codeOf(await sandbox.readTextFile({ path: "note.md", maxChars }))).toBe("read");
  });
});

describe("the switches of the policy", () => {
  let root: Workroot;
  beforeAll(() => {
    root = makeWorkroot();
    root.write("allowed/note.md");
    root.write("allowed/.hidden/secret.md");
    root.write("elsewhere/program.py");
  });
  afterAll(() => {
    root.remove();
  });

  test("deny_absolute_paths off admits an absolute path below a root, and no other", async () => {
    const changes = { denyAbsolutePaths: false };
    const inside = await root.read(`${root.work}/allowed/note.md`, changes);
    expect(inside).toMatchObject({ kind: "read", path: "allowed/note.md" });
    const outside = await root.read(`${root.folder}/outside/secret.md`, changes);
    expect(codeOf(outside)).toBe("PATH_DENIED");
    expect(codeOf(await root.read(`/${root.work}/allowed/note.md`, changes))).toBe("PATH_DENIED");
  });

  test("deny_hidden_paths off admits hidden files, also by bare name", async () => {
    const found = await root.read("secret.md", { denyHiddenPaths: false });
    expect(found).toMatchObject({ kind: "read", path: "allowed/.hidden/secret.md" });
  });

  test("allow_any_path lifts roots and extensions, and keeps the file's own rules", async () => {
    const changes = { allowAnyPath: true };
    const inWork = await root.read("elsewhere/program.py", changes);
    expect(inWork).toMatchObject({ kind: "read", path: "elsewhere/program.py" });
    const absolute = await root.read(`${root.folder}/outside/secret.md`, changes);
    expect(absolute).toMatchObject({ kind: "read", path: "../outside/secret.md" });
    expect(codeOf(await root.read("/dev/zero", changes))).toBe("FILE_READ_ERROR");
    expect(codeOf(await root.read(root.work, changes))).toBe("PATH_IS_DIRECTORY");
  });
});
