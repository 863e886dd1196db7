import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { extractText } from "../../support/read-documents.ts";
import { selectDescriptors } from "../../../src/worker/sandbox/descriptors.ts";
import { bytesOf, openSandboxOn } from "../../../src/worker/sandbox/open-sandbox.ts";
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

  test("keeps a file open for its bytes", async () => {
    const opened = await sandbox.openFile({ path: "note.md" });
    if (opened.kind === "refused") throw new Error(opened.message);
    expect(bytesOf(opened).toString()).toBe("hello");
  });

  test("denies links that lead out, and finds no file behind dangling ones", async () => {
    symlinkSync(join(root.folder, "outside/secret.md"), join(root.work, "allowed/out.md"));
    symlinkSync("absent", join(root.work, "allowed/dangling.md"));
    expect(await read("allowed/out.md")).toBe("PATH_DENIED");
    expect(await read("allowed/dangling.md")).toBe("FILE_NOT_FOUND");
  });

  test("waits for nobody at a named pipe", async () => {
    const [pipe, opened] = [join(root.work, "allowed/pipe.md"), join(root.folder, "opened")];
    execFileSync("mkfifo", [pipe]);
    // Who waited would be let go on by this, and never otherwise.
    const other = spawn("sh", ["-c", `sleep 5; : > "$1"; exec 3<>"$0"`, pipe, opened], {
      ...{ detached: true, stdio: "ignore" },
    });
    const ended = once(other, "exit");
    expect(await read("allowed/pipe.md")).toBe("FILE_READ_ERROR");
    expect(existsSync(opened)).toBe(false);
    process.kill(-(other.pid ?? 0));
    await ended;
  });

  test("leaves no descriptor open", async () => {
    const before = root.openFiles();
    for (const path of ["note.md", "allowed/absent.md", "allowed/corpus.md", "absent.md"]) {
      await read(path);
    }
    expect(root.openFiles()).toEqual(before);
  });
});

describe("a file whose path is told by comparison", () => {
  const corpus = () => join(root.work, "allowed/corpus");
  /** What is told of the note, where `whenOpen` comes between it and its opening. */
  async function pathOf(whenOpen: () => void): Promise<string | null> {
    const policy = root.policy({ allowRacyReads: true });
    const descriptors = selectDescriptors(withoutProc, policy);
    const sandbox = await openSandboxOn(withoutProc, policy, extractText);
    const [pinned] = sandbox.roots;
    if (pinned === undefined) throw new Error("no root is pinned");
    const place = { root: pinned, relativePath: "corpus/note.md" };
    const descriptor = descriptors.open(place);
    try {
      whenOpen();
      return descriptors.realPath(descriptor, place);
    } finally {
      descriptors.close(descriptor);
      sandbox.close();
    }
  }

  test("has none when another file lies there by now", async () => {
    expect(await pathOf(() => undefined)).toBe(join(realpathSync(corpus()), "note.md"));
    const other = root.write("other.md");
    const replace = () => {
      renameSync(other, join(corpus(), "note.md"));
    };
    expect(await pathOf(replace)).toBeNull();
  });

  test("has none when its folder is another one at each look", async () => {
    const aside = join(root.work, "aside");
    const leadOut = () => {
      renameSync(corpus(), aside);
      symlinkSync(join(root.folder, "outside"), corpus());
    };
    root.write("../outside/note.md");
    leadOut();
    const { native } = realpathSync;
    const leadBack = () => {
      rmSync(corpus());
      renameSync(aside, corpus());
      const nativeOnce = (path: string): string => {
        Reflect.set(realpathSync, "native", native);
        const found = native(path);
        leadOut();
        return found;
      };
      Reflect.set(realpathSync, "native", nativeOnce);
    };
    expect(await pathOf(leadBack)).toBeNull();
  });
});
