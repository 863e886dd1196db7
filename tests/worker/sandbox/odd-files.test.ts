import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readBytes } from "../../../src/worker/sandbox/descriptors.ts";
import { codeOf, makeWorkroot, type Workroot } from "./make-workroot.ts";

/** Making a device, or mounting, needs rights that a container may not have. */
const can = (script: string): typeof test | typeof test.skip => {
  try {
    execFileSync("unshare", ["--mount", "sh", "-ec", script], { stdio: "ignore" });
    return test;
  } catch {
    return test.skip;
  }
};
const testDevice = can("d=$(mktemp -u); mknod $d c 1 5; rm $d");
const testMount = can("mount -t tmpfs none /mnt");

let root: Workroot;
const at = (path: string): string => join(root.work, path);
beforeEach(() => {
  root = makeWorkroot();
});
afterEach(() => {
  root.remove();
});

describe("files that are no regular files", () => {
  test("refuses a named pipe at once, by path and by bare name", async () => {
    execFileSync("mkfifo", [at("allowed/pipe.md")]);
    expect(codeOf(await root.read("allowed/pipe.md"))).toBe("FILE_READ_ERROR");
    expect(codeOf(await root.read("pipe.md"))).toBe("FILE_READ_ERROR");
  }, 5_000);

  test("refuses a socket", async () => {
    const server = createServer().listen(at("allowed/socket.md"));
    await once(server, "listening");
    try {
      expect(codeOf(await root.read("allowed/socket.md"))).toBe("FILE_READ_ERROR");
    } finally {
      server.close();
    }
  });

  testDevice("refuses a device that lies below the root", async () => {
    execFileSync("mknod", [at("allowed/zero.md"), "c", "1", "5"]);
    expect(codeOf(await root.read("allowed/zero.md"))).toBe("FILE_READ_ERROR");
  });

  testMount("denies a file system mounted below the root, until it is a root itself", async () => {
    mkdirSync(at("allowed/mounted"));
    execFileSync("mount", ["-t", "tmpfs", "none", at("allowed/mounted")]);
    try {
      root.write("allowed/mounted/note.md");
      expect(codeOf(await root.read("allowed/mounted/note.md"))).toBe("PATH_DENIED");
      const allowedRoots = ["allowed", "allowed/mounted"];
      expect(codeOf(await root.read("allowed/mounted/note.md", { allowedRoots }))).toBe("read");
    } finally {
      root.close();
      execFileSync("umount", ["-l", at("allowed/mounted")]);
    }
  });
});

describe("sizes", () => {
  test("refuses a sparse file of a terabyte without reading it", async () => {
    root.write("allowed/sparse.md", "start");
    truncateSync(at("allowed/sparse.md"), 2 ** 40);
    const startedAt = performance.now();
    expect(codeOf(await root.read("allowed/sparse.md"))).toBe("FILE_TOO_LARGE");
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  test.each([
    [100, "read"],
    [101, "FILE_TOO_LARGE"],
  ])("with a cap of 100 bytes, %i bytes give %s", async (size, expected) => {
    root.write("allowed/note.md", "x".repeat(size));
    expect(codeOf(await root.read("allowed/note.md", { maxFileBytes: 100 }))).toBe(expected);
  });

  test("stops at the cap when a file grew after its size was taken", () => {
    const descriptor = openSync(root.write("allowed/log.md", "small"), "r");
    try {
      const file = {
        path: "allowed/log.md",
        descriptor,
        stat: fstatSync(descriptor, { bigint: true }),
      };
      appendFileSync(at("allowed/log.md"), "x".repeat(300_000));
      expect(readBytes(file, descriptor, 100_000)).toMatchObject({ code: "FILE_TOO_LARGE" });
    } finally {
      closeSync(descriptor);
    }
  });

  test("returns all of a file that grew within the cap", () => {
    const descriptor = openSync(root.write("allowed/log.md", "small"), "r");
    try {
      const file = {
        path: "allowed/log.md",
        descriptor,
        stat: fstatSync(descriptor, { bigint: true }),
      };
      appendFileSync(at("allowed/log.md"), "x".repeat(200_000));
      expect(readBytes(file, descriptor, 1_000_000)).toHaveLength(200_005);
    } finally {
      closeSync(descriptor);
    }
  });
});

describe("permissions", () => {
  // Root reads everything, so these run as nobody for the moment of the read.
  const asNobody = async <T>(read: () => Promise<T>): Promise<T> => {
    if (process.geteuid?.() !== 0) return read();
    process.seteuid?.(65_534);
    try {
      return await read();
    } finally {
      process.seteuid?.(0);
    }
  };

  test("refuses a file and a folder that the user may not read, and reads the others", async () => {
    root.write("allowed/open.md", "hello");
    chmodSync(root.write("allowed/closed.md"), 0o000);
    root.write("allowed/folder/note.md");
    chmodSync(root.folder, 0o755);
    const sandbox = await root.open();
    chmodSync(at("allowed/folder"), 0o000);
    const codes = await asNobody(async () => {
      const paths = ["allowed/open.md", "allowed/closed.md", "allowed/folder/note.md"];
      const outcomes = await Promise.all(
        paths.map((path) => sandbox.readTextFile({ path, maxChars: 200 })),
      );
      return outcomes.map(codeOf);
    });
    chmodSync(at("allowed/folder"), 0o755);
    expect(codes).toEqual(["read", "FILE_READ_ERROR", "FILE_READ_ERROR"]);
  });

  test("denies rather than reports a closed file behind a link that leads out", async () => {
    chmodSync(join(root.folder, "outside/secret.md"), 0o000);
    chmodSync(root.folder, 0o755);
    symlinkSync(join(root.folder, "outside/secret.md"), at("allowed/link.md"));
    const sandbox = await root.open();
    const outcome = await asNobody(() =>
      sandbox.readTextFile({ path: "allowed/link.md", maxChars: 200 }),
    );
    expect(codeOf(outcome)).toBe("PATH_DENIED");
  });
});
