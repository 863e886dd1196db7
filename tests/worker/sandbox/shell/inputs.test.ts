import { closeSync, linkSync, readSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { admitInputs, closeInputs } from "../../../../src/worker/sandbox/shell/inputs.ts";
import type { AdmittedFile } from "../../../../src/worker/sandbox/shell/inputs.ts";
import { SHELL_LIMITS } from "../../../../src/worker/sandbox/shell/limits.ts";
import { MAIL_HEAD, writeMail } from "../../../support/format-writers.ts";
import { codeOf, makeWorkroot } from "../make-workroot.ts";
import type { Workroot } from "../make-workroot.ts";
import { describeShell, runScript } from "./shell-here.ts";

let root: Workroot;
beforeEach(() => {
  root = makeWorkroot();
});
afterEach(() => {
  root.remove();
});

const admit = async (paths: readonly string[], quota = {}): ReturnType<typeof admitInputs> =>
  admitInputs(await root.open(), paths, { ...SHELL_LIMITS, ...quota });

async function admitted(paths: readonly string[]): Promise<readonly AdmittedFile[]> {
  const outcome = await admit(paths);
  if (outcome.kind === "refused") throw new Error(outcome.message);
  return outcome.files;
}

test("admits files by the rules of the sandbox of files, each once", async () => {
  root.write("allowed/a.md", "one");
  root.write("allowed/deep/b.md", "two");
  const files = await admitted(["a.md", "allowed/deep/b.md", "deep/b.md"]);
  expect(files.map(({ path, bytes }) => [path, bytes])).toEqual([
    ["allowed/a.md", 3],
    ["allowed/deep/b.md", 3],
  ]);
  const [first] = files.map((file) => ("descriptor" in file ? file.descriptor : -1));
  const buffer = Buffer.alloc(10);
  expect(readSync(first ?? -1, buffer)).toBe(3);
  closeInputs(files);
  expect(() => {
    closeSync(first ?? -1);
  }).toThrow(/EBADF/);
});

test("refuses what the sandbox of files refuses, and leaves nothing open", async () => {
  root.write("allowed/a.md");
  root.write("allowed/b.sh");
  root.write("allowed/.hidden.md");
  root.write("allowed/twice.md");
  linkSync(join(root.work, "allowed/twice.md"), join(root.work, "allowed/again.md"));
  symlinkSync(join(root.folder, "outside/secret.md"), join(root.work, "allowed/link.md"));
  const server = createServer().listen(join(root.work, "allowed/socket.md"));
  await once(server, "listening");
  const sandbox = await root.open();
  const before = root.openFiles();
  const codes = [];
  for (const path of [
    "b.sh",
    ".hidden.md",
    "twice.md",
    "link.md",
    "socket.md",
    "none.md",
    "../outside/secret.md",
    " ",
  ]) {
    const outcome = await admitInputs(sandbox, ["a.md", path], SHELL_LIMITS);
    codes.push([path, codeOf(outcome)]);
  }
  expect(root.openFiles()).toEqual(before);
  server.close();
  expect(Object.fromEntries(codes)).toEqual({
    "b.sh": "PATH_DENIED",
    ".hidden.md": "PATH_DENIED",
    "twice.md": "PATH_DENIED",
    "link.md": "PATH_DENIED",
    "socket.md": "FILE_READ_ERROR",
    "none.md": "FILE_NOT_FOUND",
    "../outside/secret.md": "PATH_DENIED",
    " ": "INVALID_ARGS",
  });
});

test("refuses more files or bytes than the quota", async () => {
  root.write("allowed/a.md", "12345");
  root.write("allowed/b.md", "12345");
  expect(codeOf(await admit(["a.md", "b.md"], { inputBytes: 9 }))).toBe("FILE_TOO_LARGE");
  expect(codeOf(await admit(["a.md", "b.md"], { inputFiles: 1 }))).toBe("FILE_TOO_LARGE");
  root.write("allowed/c.md", "x".repeat(1_000_001));
  expect(codeOf(await admit(["c.md"]))).toBe("FILE_TOO_LARGE");
});

describeShell("an admitted file", () => {
  test("is copied to its path below /input, and 250 of them are", async () => {
    const paths = Array.from({ length: 250 }, (_, index) => `allowed/set/${index}.md`);
    for (const path of paths) root.write(path, `content of ${path}`);
    const inputs = await admitted(paths);
    const outcome = await runScript("cat /input/allowed/set/7.md; ls /input/allowed/set | wc -l", {
      inputs,
    });
    closeInputs(inputs);
    expect(outcome.stdout.head).toBe("content of allowed/set/7.md250\n");
  });

  test("may be an attachment, which is read out of its mail", async () => {
    const rooms = "Room,Area\nKitchen,12\n";
    const inner = writeMail({
      ...MAIL_HEAD,
      attachments: [{ name: "rooms.csv", type: "text/csv", content: rooms }],
    });
    const attachments = [
      { name: "rooms.csv", type: "text/csv", content: rooms },
      { name: "inner.eml", type: "message/rfc822", content: inner },
    ];
    root.write("allowed/offer.eml", writeMail({ ...MAIL_HEAD, attachments }));
    const sandbox = await root.open({ allowedExts: [".eml"] });
    const mail = "allowed/offer.eml";
    const paths = [
      `${mail}/attachments/1/rooms.csv`,
      "offer.eml/attachments/1/rooms.csv",
      `${mail}/attachments/2/inner.eml/attachments/1/rooms.csv`,
    ];
    const outcome = await admitInputs(sandbox, paths, SHELL_LIMITS);
    if (outcome.kind === "refused") throw new Error(outcome.message);
    for (let call = 0; call < 2; call += 1) {
      const { stdout } = await runScript(
        `cd /input/${mail}; cat attachments/1/rooms.csv; find . -type f | sort`,
        { inputs: outcome.files },
      );
      expect(stdout.head).toBe(
        `${rooms}./attachments/1/rooms.csv\n./attachments/2/inner.eml/attachments/1/rooms.csv\n`,
      );
    }
    expect(outcome.files.every((file) => "content" in file)).toBe(true);
    const before = root.openFiles();
    for (const [beside, code] of [
      [mail, "INVALID_ARGS"],
      [`${mail}/attachments/2/inner.eml`, "INVALID_ARGS"],
      [`${mail}/attachments/9/none.csv`, "FILE_NOT_FOUND"],
    ] as const) {
      expect(codeOf(await admitInputs(sandbox, [...paths, beside], SHELL_LIMITS))).toBe(code);
    }
    const quota = { ...SHELL_LIMITS, inputBytes: 10 };
    expect(codeOf(await admitInputs(sandbox, paths, quota))).toBe("FILE_TOO_LARGE");
    expect(root.openFiles()).toEqual(before);
  });
});
