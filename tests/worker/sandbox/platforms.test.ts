import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { extractText } from "../../support/read-documents.ts";
import { openSandboxOn } from "../../../src/worker/sandbox/open-sandbox.ts";
import type { Sandbox } from "../../../src/worker/sandbox/open-sandbox.ts";
import { codeOf, makeWorkroot, type Workroot } from "./make-workroot.ts";

let root: Workroot;
beforeEach(() => {
  root = makeWorkroot();
  root.write("allowed/corpus/note.md", "hello");
});
afterEach(() => {
  root.remove();
});

const linux = { platform: "linux", descriptorFolder: "/proc/self/fd" } as const;
const withoutProc = { platform: "darwin", descriptorFolder: "/absent/self/fd" } as const;

describe("what the platform must offer", () => {
  test("refuses to start on Windows", async () => {
    const opening = openSandboxOn({ ...linux, platform: "win32" }, root.policy(), extractText);
    await expect(opening).rejects.toMatchObject({ code: "CONFIG_ERROR" });
    await expect(opening).rejects.toThrow("WSL");
  });

  test.each([withoutProc, { ...linux, descriptorFolder: "/absent" }])(
    "refuses to start without /proc and names the switch (%j)",
    async (host) => {
      const opening = openSandboxOn(host, root.policy(), extractText);
      await expect(opening).rejects.toMatchObject({ code: "CONFIG_ERROR" });
      await expect(opening).rejects.toThrow("security.allow_racy_reads");
    },
  );
});

describe.each([
  ["with /proc", linux],
  ["without /proc, by comparison", withoutProc],
])("%s", (_, host) => {
  let sandbox: Sandbox;
  const read = async (path: string): Promise<string> =>
    codeOf(await sandbox.readTextFile({ path, maxChars: 200 }));
  beforeEach(async () => {
    sandbox = await openSandboxOn(host, root.policy({ allowRacyReads: true }), extractText);
  });
  afterEach(() => {
    sandbox.close();
  });

  test("reads a file by path, by bare name and through a link inside the root", async () => {
    symlinkSync("corpus/note.md", join(root.work, "allowed/link.md"));
    for (const path of ["allowed/corpus/note.md", "note.md", "link.md"]) {
      const reading = await sandbox.readTextFile({ path, maxChars: 200 });
      expect(reading).toMatchObject({ path: "allowed/corpus/note.md", text: "hello" });
    }
  });

  test("denies links that lead out, and finds no file behind dangling ones", async () => {
    symlinkSync(join(root.folder, "outside/secret.md"), join(root.work, "allowed/out.md"));
    symlinkSync("absent", join(root.work, "allowed/dangling.md"));
    expect(await read("allowed/out.md")).toBe("PATH_DENIED");
    expect(await read("allowed/dangling.md")).toBe("FILE_NOT_FOUND");
  });

  test("leaves no descriptor open", async () => {
    const before = root.openFiles();
    for (const path of ["note.md", "allowed/absent.md", "allowed/corpus.md", "absent.md"]) {
      await read(path);
    }
    expect(root.openFiles()).toEqual(before);
  });
});
