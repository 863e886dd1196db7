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
import { codeOf, makeWorkroot, messageOf, type Workroot } from "./make-workroot.ts";

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
