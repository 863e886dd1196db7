import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { selectDescriptors } from "../../../src/worker/sandbox/descriptors.ts";
import { listNames, suggestNames } from "../../../src/worker/sandbox/suggest-names.ts";
import { rulesBelowRoots } from "../../../src/worker/sandbox/policy.ts";
import { codeOf, makeWorkroot, messageOf, type Workroot } from "./make-workroot.ts";

let root: Workroot;
beforeEach(() => {
  root = makeWorkroot();
});
afterEach(() => {
  root.remove();
});

describe("bare names", () => {
  test("finds a file at any depth, and in every root", async () => {
    root.write("allowed/a/b/c/deep.md", "deep");
    root.write("second/other.md", "other");
    const allowedRoots = ["allowed", "second"];
    expect(await root.read("deep.md", { allowedRoots })).toMatchObject({ text: "deep" });
    expect(await root.read("other.md", { allowedRoots })).toMatchObject({
      path: "second/other.md",
    });
  });

  test("lists the paths of several matches in order, relative to the work root", async () => {
    root.write("allowed/b/twin.md");
    root.write("allowed/a/twin.md");
    const refusal = await root.read("twin.md");
    expect(codeOf(refusal)).toBe("AMBIGUOUS_PATH");
    expect(messageOf(refusal)).toContain('2 files: "allowed/a/twin.md", "allowed/b/twin.md".');
    expect(messageOf(refusal)).not.toContain(root.folder);
  });

  test("shows ten of many matches", async () => {
    for (let index = 0; index < 12; index += 1) root.write(`allowed/${index}/twin.md`);
    expect(messageOf(await root.read("twin.md"))).toContain("and 2 more");
  });

  test("takes links to one file, and a root in a root, for one match", async () => {
    root.write("allowed/a/note.md", "hello");
    root.write("allowed/b/other.md");
    symlinkSync("../a/note.md", join(root.work, "allowed/b/note.md"));
    const reading = await root.read("note.md", { allowedRoots: ["allowed", "allowed/a"] });
    expect(reading).toMatchObject({ kind: "read", path: "allowed/a/note.md" });
  });

  test("leaves out matches that may not be opened", async () => {
    root.write("allowed/a/note.md", "hello");
    root.write("allowed/b/other.md");
    symlinkSync(join(root.folder, "outside/secret.md"), join(root.work, "allowed/b/note.md"));
    expect(await root.read("note.md")).toMatchObject({ path: "allowed/a/note.md" });
  });

  test("offers the file whose name ends so after a blank, and says how it is named", async () => {
    root.write("allowed/Straßenplan (neu).md");
    expect(messageOf(await root.read("(neu).md"))).toContain(
      'Did you mean "allowed/Straßenplan (neu).md"? In a question, a name with blanks is put into quotes.',
    );
    const close = messageOf(await root.read("Strassenplan (neu).md"));
    expect(close).toContain('Did you mean "allowed/Straßenplan (neu).md"?');
    expect(close).not.toContain("quotes");
  });

  test("offers a name that a question spells with blanks as it is on disk", async () => {
    root.write("allowed/pump_room-notes.md");
    const message = messageOf(await root.read("pump room notes.md"));
    expect(message).toContain('Did you mean "allowed/pump_room-notes.md"?');
    expect(messageOf(await root.read("notes.md"))).toContain(
      'Did you mean "allowed/pump_room-notes.md"?',
    );
    expect(message).not.toContain("quotes");
  });

  test("skips hidden folders", async () => {
    root.write("allowed/.trash/note.md");
    expect(codeOf(await root.read("note.md"))).toBe("FILE_NOT_FOUND");
  });

  test("tells case twins apart, and offers the other case for a miss", async () => {
    root.write("allowed/Note.md", "upper");
    root.write("allowed/note.md", "lower");
    expect(await root.read("Note.md")).toMatchObject({ text: "upper" });
    expect(await root.read("note.md")).toMatchObject({ text: "lower" });
    expect(messageOf(await root.read("NOTE.md"))).toContain(
      'Did you mean "allowed/Note.md" or "allowed/note.md"?',
    );
  });

  test.each([
    ["caf\u00e9.md", "cafe\u0301.md"],
    ["cafe\u0301.md", "caf\u00e9.md"],
  ])("takes %j for the only file of that name in another Unicode form", async (asked, stored) => {
    root.write(`allowed/${stored}`, "the only one");
    const path = `allowed/${stored}`;
    for (const spelling of [asked, `allowed/${asked}`]) {
      expect(await root.read(spelling)).toMatchObject({ path, text: "the only one" });
    }
    root.write(`allowed/${asked}`, "just this one");
    expect(await root.read(asked)).toMatchObject({ text: "just this one" });
    expect(await root.read(stored)).toMatchObject({ text: "the only one" });
  });

  test("takes neither of two files whose name is the same in another Unicode form", async () => {
    const [asked, ...twins] = ["\u1e69", "s\u0323\u0307", "s\u0307\u0323"].map((s) => `${s}.md`);
    for (const twin of twins) root.write(`allowed/${twin}`);
    for (const spelling of [asked ?? "", `allowed/${asked ?? ""}`]) {
      const refusal = await root.read(spelling);
      expect(codeOf(refusal)).toBe("AMBIGUOUS_PATH");
      expect(messageOf(refusal)).toContain("fits 2 files");
    }
  });

  test("applies every rule to a file of another Unicode form", async () => {
    root.write("allowed/other.md");
    symlinkSync(join(root.folder, "outside/secret.md"), join(root.work, "allowed/cafe\u0301.md"));
    root.write("allowed/.e\u0301/x.md");
    root.write("elsewhere/cafe\u0301.md");
    for (const path of ["caf\u00e9.md", "allowed/caf\u00e9.md"]) {
      const refusal = await root.read(path);
      expect(codeOf(refusal)).toBe("PATH_DENIED");
      expect(messageOf(refusal)).not.toContain("secret");
    }
    for (const path of ["allowed/.\u00e9/x.md", "elsewhere/caf\u00e9.md"]) {
      expect(codeOf(await root.read(path))).toBe("PATH_DENIED");
    }
  });

  test("offers close names for a miss, and none that are far", async () => {
    root.write("allowed/meeting-notes.md");
    root.write("allowed/invoice.md");
    expect(messageOf(await root.read("meeting-note.md"))).toContain('"allowed/meeting-notes.md"');
    expect(messageOf(await root.read("allowed/metting-notes.md"))).toContain("meeting-notes.md");
    expect(messageOf(await root.read("quarterly.md"))).not.toContain("Did you mean");
  });

  test.each([
    ["README", "allowed/README.md"],
    ["rail.pdf", "allowed/rail.md"],
    ["rail.mdd", "allowed/rail.md"],
    ["allowed/rail.yaml", "allowed/rail.md"],
    ["elsewhere/rail.yaml", "allowed/rail.md"],
  ])("offers the file that may be read for %s, which may not", async (path, meant) => {
    root.write("allowed/rail.md");
    root.write("allowed/README.md");
    root.write("allowed/rail.pdf");
    root.write("allowed/README");
    const refusal = await root.read(path);
    expect(codeOf(refusal)).toBe("PATH_DENIED");
    expect(messageOf(refusal)).toContain(`Did you mean "${meant}"?`);
  });

  test("offers and lists nothing that is hidden or denied", async () => {
    root.write("allowed/.secret.md");
    root.write("allowed/.vault/secret.md");
    root.write("allowed/secret.pdf");
    root.write("allowed/open.md");
    for (const path of ["secret.md", ".secret.md", "allowed/.secret.md", "allowed/secret.pdf"]) {
      expect(messageOf(await root.read(path))).not.toContain("Did you mean");
    }
    expect(await (await root.open()).listPaths()).toEqual(["allowed/open.md"]);
  });

  test("lists for a count what is there now", async () => {
    const sandbox = await root.open();
    root.write("allowed/a.md");
    expect((await sandbox.listPathsNow()).paths).toEqual(["allowed/a.md"]);
    root.write("allowed/b.md");
    const now = { paths: ["allowed/a.md", "allowed/b.md"], isWhole: true };
    expect(await sandbox.listPathsNow()).toEqual(now);
  });

  test("finds a file that was written or moved after a first miss", async () => {
    const sandbox = await root.open();
    const read = async (path: string): Promise<string> =>
      codeOf(await sandbox.readTextFile({ path, maxChars: 200 }));
    expect(await read("late.md")).toBe("FILE_NOT_FOUND");
    const path = root.write("allowed/late.md");
    const deadline = performance.now() + 4_000;
    while ((await read("late.md")) !== "read" && performance.now() < deadline);
    expect(await read("late.md")).toBe("read");
    root.write("allowed/sub/x.md");
    renameSync(path, join(root.work, "allowed/sub/late.md"));
    while ((await read("late.md")) !== "read" && performance.now() < deadline);
    expect(await read("late.md")).toBe("read");
  });

  test("does not list names with control characters or backslashes", async () => {
    root.write("allowed/evil\n\u001b[31m.md");
    root.write("allowed/back\\slash.md");
    const sandbox = await root.open();
    expect(messageOf(await root.read("evil.md"))).not.toContain("evil\n");
    const [first] = sandbox.roots;
    if (first === undefined) throw new Error("the sandbox has no root");
    for (const name of ["evil\n\u001b[31m.md", "back\\slash.md"]) {
      const refusal = await sandbox.readFileBelow(first, name);
      expect(codeOf(refusal)).toBe("PATH_DENIED");
      expect(messageOf(refusal)).not.toMatch(/[\p{Cc}]/u);
    }
  });

  test("denies a link to a name with control characters", async () => {
    root.write("allowed/evil\n.md");
    symlinkSync("evil\n.md", join(root.work, "allowed/link.md"));
    expect(codeOf(await root.read("link.md"))).toBe("PATH_DENIED");
  });
});

describe("the bound of the listing", () => {
  test("stops at the bound and says so to somebody who misses a file", async () => {
    for (let index = 0; index < 30; index += 1) root.write(`allowed/note-${index}.md`);
    const policy = root.policy();
    const host = { platform: process.platform, descriptorFolder: "/proc/self/fd" };
    const ground = {
      descriptors: selectDescriptors(host, policy),
      rules: rulesBelowRoots(policy),
    };
    const { roots } = await root.open();
    const cut = await listNames(ground, roots, 10);
    expect(cut.places.size).toBe(10);
    expect(suggestNames("absent-from-all.md", cut)).toContain("Only the first 10 entries");
    const whole = await listNames(ground, roots, 100);
    expect(whole.places.size).toBe(30);
    expect(suggestNames("absent-from-all.md", whole)).toBe("");
  });
});
