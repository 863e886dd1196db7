import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { codeOf, makeWorkroot, messageOf, SECRET, type Workroot } from "./make-workroot.ts";

let root: Workroot;
const at = (path: string): string => join(root.work, path);
beforeEach(() => {
  root = makeWorkroot();
  root.write("allowed/note.md", "hello");
});
afterEach(() => {
  root.remove();
});

describe("opening the roots", () => {
  test.each([["../outside"], ["/etc"], ["allowed/../../outside"]])(
    "rejects the root %s outside the work root before creating anything",
    async (outside) => {
      const opening = root.open({
        allowedRoots: ["fresh", "../stray", outside],
        autoCreateAllowedRoots: true,
      });
      await expect(opening).rejects.toMatchObject({ code: "CONFIG_ERROR" });
      expect(existsSync(at("fresh"))).toBe(false);
      expect(existsSync(join(root.folder, "stray"))).toBe(false);
    },
  );

  test("rejects a root that leads outside through a link, before creating anything", async () => {
    symlinkSync(join(root.folder, "outside"), at("link"));
    for (const allowedRoots of [["link"], ["link/deeper"]]) {
      const opening = root.open({ allowedRoots, autoCreateAllowedRoots: true });
      await expect(opening).rejects.toMatchObject({ code: "CONFIG_ERROR" });
    }
    expect(readdirSync(join(root.folder, "outside"))).toEqual(["secret.md"]);
  });

  test("rejects a folder whose name only starts like the work root", async () => {
    mkdirSync(`${root.work}-evil`);
    const opening = root.open({ allowedRoots: [`${root.work}-evil`] });
    await expect(opening).rejects.toMatchObject({ code: "CONFIG_ERROR" });
  });

  test("skips roots that are missing or no folder, and fails when none is left", async () => {
    const sandbox = await root.open({ allowedRoots: ["allowed", "absent", "allowed/note.md"] });
    expect(sandbox.skipped).toEqual([
      { path: at("absent"), reason: "missing" },
      { path: at("allowed/note.md"), reason: "not a directory" },
    ]);
    const none = root.open({ allowedRoots: ["absent"] });
    await expect(none).rejects.toMatchObject({ code: "CONFIG_ERROR" });
    await expect(none).rejects.toThrow("absent");
  });

  test("creates missing roots only when told to", async () => {
    await root.open({ allowedRoots: ["fresh/deep"], autoCreateAllowedRoots: true });
    expect(existsSync(at("fresh/deep"))).toBe(true);
  });

  test("reads a root outside the work root when the policy lets roots lie anywhere", async () => {
    const changes = { allowedRoots: ["../outside"], rootsMustBeWithinSecurityRoot: false };
    for (const path of ["secret.md", "../outside/secret.md"]) {
      const reading = await root.read(path, changes);
      expect(reading).toMatchObject({ kind: "read", path: "../outside/secret.md" });
    }
    expect(codeOf(await root.read("../work/allowed/note.md", changes))).toBe("PATH_DENIED");
  });

  test("reports paths relative to a work root that is reached through a link", async () => {
    symlinkSync(root.work, join(root.folder, "alias"));
    const securityRoot = join(root.folder, "alias");
    const reading = await root.read("allowed/note.md", { securityRoot });
    expect(reading).toMatchObject({ kind: "read", path: "allowed/note.md" });
    expect(await root.read("note.md", { securityRoot })).toMatchObject({ path: "allowed/note.md" });
  });

  test("reads below a root that is itself a link inside the work root, or hidden", async () => {
    symlinkSync("allowed", at("link"));
    root.write(".kept/inside.md");
    const changes = { allowedRoots: ["link", ".kept"] };
    expect(await root.read("link/note.md", changes)).toMatchObject({ path: "link/note.md" });
    expect(await root.read(".kept/inside.md", changes)).toMatchObject({ kind: "read" });
  });

  test("takes the work root itself for a root", async () => {
    const reading = await root.read("allowed/note.md", { allowedRoots: ["."] });
    expect(reading).toMatchObject({ kind: "read", path: "allowed/note.md" });
  });

  test("lets the outer of two nested roots allow what the inner one refuses", async () => {
    root.write("allowed/inner/x.md");
    symlinkSync("../note.md", at("allowed/inner/link.md"));
    const allowedRoots = ["allowed", "allowed/inner"];
    expect(await root.read("allowed/inner/link.md", { allowedRoots })).toMatchObject({
      path: "allowed/note.md",
    });
  });
});

describe("a path that counts from an allowed root", () => {
  const allowedRoots = ["allowed", "second"];
  const read = (path: string) => root.read(path, { allowedRoots });
  beforeEach(() => {
    root.write("second/other.md");
    root.write("allowed/sub/x.md", "of allowed");
  });

  test("is read where one root has it, and named from the work root", async () => {
    root.write("second/deep/y.md", "of second");
    expect(await read("sub/x.md")).toMatchObject({ path: "allowed/sub/x.md", text: "of allowed" });
    expect(await read("deep/y.md")).toMatchObject({ path: "second/deep/y.md" });
  });

  test("is ambiguous where two have it, and both are named", async () => {
    root.write("second/sub/x.md", "of second");
    const refusal = await read("sub/x.md");
    expect(codeOf(refusal)).toBe("AMBIGUOUS_PATH");
    expect(messageOf(refusal)).toBe(
      '"sub/x.md" fits 2 files: "allowed/sub/x.md", "second/sub/x.md". Name one by its path.',
    );
  });

  test("is nothing but the file below the work root, where that may be read", async () => {
    root.write("second/allowed/sub/x.md", "a decoy");
    expect(await read("allowed/sub/x.md")).toMatchObject({ text: "of allowed" });
    root.write("allowed/allowed/sub/x.md", "another");
    expect(await read("allowed/sub/x.md")).toMatchObject({ text: "of allowed" });
  });

  test.each([
    ["a file outside of the roots", () => root.write("sub/x.md", "outside of the roots")],
    [
      "a link to nothing",
      () => {
        mkdirSync(at("sub"));
        symlinkSync("nothing", at("sub/x.md"));
      },
    ],
    ["a folder", () => mkdirSync(at("sub/x.md"), { recursive: true })],
  ])("does not stand in for %s below the work root", async (_, put) => {
    put();
    const refusal = await read("sub/x.md");
    expect(codeOf(refusal)).toBe("PATH_DENIED");
    expect(messageOf(refusal)).toContain('Did you mean "allowed/sub/x.md"?');
  });

  test("does not stand in for what the exact path may not be", async () => {
    mkdirSync(at("second/sub"));
    symlinkSync("nothing", at("second/sub/link.md"));
    mkdirSync(at("second/folder.md"));
    root.write("allowed/second/sub/link.md", "a decoy");
    root.write("allowed/second/folder.md", "a decoy");
    expect(codeOf(await read("second/sub/link.md"))).toBe("FILE_NOT_FOUND");
    expect(codeOf(await read("second/folder.md"))).toBe("PATH_IS_DIRECTORY");
  });

  test("is no candidate where a link leads out of its root, and never read through it", async () => {
    mkdirSync(at("second/sub"));
    symlinkSync(join(root.folder, "outside/secret.md"), at("second/sub/x.md"));
    expect(await read("sub/x.md")).toMatchObject({ path: "allowed/sub/x.md" });
    symlinkSync(join(root.folder, "outside"), at("second/out"));
    for (const path of ["out/secret.md", "./out/secret.md", "out/../out/secret.md"]) {
      const refusal = await read(path);
      expect(codeOf(refusal)).toBe("PATH_DENIED");
      expect(messageOf(refusal)).not.toContain(root.folder);
      expect(JSON.stringify(refusal)).not.toContain(SECRET);
    }
  });

  test("is the file, where another root has a folder of that name", async () => {
    mkdirSync(at("second/sub/x.md"), { recursive: true });
    expect(await read("sub/x.md")).toMatchObject({ path: "allowed/sub/x.md" });
    mkdirSync(at("second/only/folder.md"), { recursive: true });
    const refusal = await read("only/folder.md");
    expect(codeOf(refusal)).toBe("PATH_IS_DIRECTORY");
    expect(messageOf(refusal)).toContain('"second/only/folder.md" is a directory');
  });

  test.each([
    "../sub/x.md",
    "sub/../../sub/x.md",
    "../work/sub/x.md",
    "/sub/x.md",
    "//sub/x.md",
    "~/sub/x.md",
    "sub\\x.md",
    "sub/x.md\0",
    "../allowed/sub/x.md",
    "sub/../../outside/secret.md",
    ".sub/x.md",
    "sub/.x.md",
    "sub/x.py",
  ])("is never %j", async (path) => {
    root.write("allowed/.sub/x.md");
    root.write("allowed/sub/.x.md");
    root.write("allowed/sub/x.py");
    root.write("allowed/outside/secret.md");
    const refusal = await read(path);
    expect(codeOf(refusal)).toBe("PATH_DENIED");
    expect(messageOf(refusal)).not.toContain(root.folder);
  });

  test("is never an absolute one, whatever may be absolute", async () => {
    const changes = { allowedRoots, denyAbsolutePaths: false };
    expect(codeOf(await root.read("/sub/x.md", changes))).toBe("PATH_DENIED");
    expect(codeOf(await root.read(`${root.work}/sub/x.md`, changes))).toBe("PATH_DENIED");
    const anyPath = { allowedRoots, allowAnyPath: true };
    expect(codeOf(await root.read("/sub/x.md", anyPath))).toBe("FILE_NOT_FOUND");
    expect(await root.read("sub/x.md", anyPath)).toMatchObject({ path: "allowed/sub/x.md" });
  });

  test("counts a root inside of a root once", async () => {
    root.write("allowed/inner/sub/z.md");
    const nested = { allowedRoots: ["allowed", "allowed/inner", "."] };
    expect(await root.read("inner/sub/z.md", nested)).toMatchObject({
      path: "allowed/inner/sub/z.md",
    });
    expect(await root.read("sub/z.md", nested)).toMatchObject({ path: "allowed/inner/sub/z.md" });
  });

  test("is found in another Unicode form, too, unless two roots have one", async () => {
    root.write("allowed/cafe\u0301/x.md", "decomposed");
    expect(await read("caf\u00e9/x.md")).toMatchObject({ path: "allowed/cafe\u0301/x.md" });
    root.write("second/cafe\u0301/x.md");
    expect(codeOf(await read("caf\u00e9/x.md"))).toBe("AMBIGUOUS_PATH");
  });

  test("of a record is looked up nowhere else", async () => {
    root.write("allowed/allowed/gone.md", "another file");
    root.write("second/gone.md", "another file");
    const sandbox = await root.open({ allowedRoots: [".", ...allowedRoots] });
    for (const path of ["allowed/gone.md", "gone.md", "sub/x.md"]) {
      const args = { path, maxChars: 200, lookup: "exact" } as const;
      expect(codeOf(await sandbox.readTextFile(args))).toBe("FILE_NOT_FOUND");
    }
    const exact = { path: "allowed/note.md", maxChars: 200, lookup: "exact" } as const;
    expect(codeOf(await sandbox.readTextFile(exact))).toBe("read");
    // A person who spells such a path means his home, or a drive.
    root.write("~old/note.md", "Old.");
    const old = await root.open({ allowedRoots: ["~old"] });
    const kept = { path: "~old/note.md", maxChars: 200 };
    expect(codeOf(await old.readTextFile(kept))).toBe("PATH_DENIED");
    expect(codeOf(await old.readTextFile({ ...kept, lookup: "exact" }))).toBe("read");
    const climbing = { path: "/etc/passwd.md", maxChars: 200, lookup: "exact" } as const;
    expect(codeOf(await sandbox.readTextFile(climbing))).toBe("PATH_DENIED");
  });
});

describe("a root swapped after start", () => {
  const swaps: [string, () => void][] = [
    [
      "a link to outside",
      () => {
        symlinkSync(join(root.folder, "outside"), at("allowed"));
      },
    ],
    [
      "another folder",
      () => {
        mkdirSync(at("allowed"));
        writeFileSync(at("allowed/note.md"), "foreign");
        writeFileSync(at("allowed/secret.md"), "foreign");
      },
    ],
    ["nothing", () => undefined],
  ];

  test.each(swaps)("denies every read when %s lies in its place", async (_, put) => {
    const sandbox = await root.open();
    renameSync(at("allowed"), at("moved"));
    put();
    for (const path of ["allowed/note.md", "note.md"]) {
      const refusal = await sandbox.readTextFile({ path, maxChars: 200 });
      expect(codeOf(refusal)).toBe("PATH_DENIED");
      expect(messageOf(refusal)).toContain("no longer the folder");
      expect(messageOf(refusal)).not.toContain(root.folder);
    }
    expect(codeOf(await sandbox.readTextFile({ path: "secret.md", maxChars: 200 }))).toBe(
      "FILE_NOT_FOUND",
    );
  });

  test("reads again when the folder is put back", async () => {
    const sandbox = await root.open();
    renameSync(at("allowed"), at("moved"));
    renameSync(at("moved"), at("allowed"));
    expect(codeOf(await sandbox.readTextFile({ path: "note.md", maxChars: 200 }))).toBe("read");
  });
});
