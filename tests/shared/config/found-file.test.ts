import { execFileSync } from "node:child_process";
import { chmod, chown, lchown, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { distrustOfFile } from "../../../src/shared/config/read-config-chain.ts";
import { jsonLine, runBin } from "../../support/run-bin.ts";
import { makeScratch } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

const STRANGER = 65_534;
const testAsRoot = process.geteuid?.() === 0 ? test : test.skip;

let scratch: Scratch;
let file: string;
beforeEach(async () => {
  scratch = await makeScratch();
  file = await scratch.write("nightdesk.yaml", "log: { level: warn }\n");
});
afterEach(() => scratch.remove());

describe("owner and rights of a file that was found", () => {
  const bob = { uid: 1000, ownGid: 1000 };
  const root = { uid: 0, ownGid: 0 };
  const onMac = { uid: 501, ownGid: null };
  test.each([
    ["his own", { uid: 1000, gid: 1000, mode: 0o644 }, bob],
    ["his own, in his own group", { uid: 1000, gid: 1000, mode: 0o664 }, bob],
    ["root's", { uid: 0, gid: 0, mode: 0o644 }, bob],
    ["root's, for root", { uid: 0, gid: 0, mode: 0o664 }, root],
    ["a user's of macOS", { uid: 501, gid: 20, mode: 0o644 }, onMac],
  ])("are trusted for %s", (_, found, user) => {
    expect(distrustOfFile(found, user)).toBeUndefined();
  });

  test.each([
    ["a stranger's", { uid: 1001, gid: 1000, mode: 0o644 }, bob, "another user (uid 1001)"],
    ["a user's, for root", { uid: 1000, gid: 1000, mode: 0o600 }, root, "another user (uid 1000)"],
    ["one for everybody", { uid: 1000, gid: 1000, mode: 0o646 }, bob, "by everybody"],
    ["root's for everybody", { uid: 0, gid: 0, mode: 0o666 }, bob, "by everybody"],
    ["one of a shared group", { uid: 1000, gid: 50, mode: 0o664 }, bob, "group (gid 50)"],
    ["root's of a shared group", { uid: 0, gid: 50, mode: 0o664 }, bob, "group (gid 50)"],
    ["one for staff on macOS", { uid: 501, gid: 20, mode: 0o664 }, onMac, "group (gid 20)"],
  ])("are not trusted for %s", (_, found, user, reason) => {
    expect(distrustOfFile(found, user)).toContain(reason);
  });
});

describe("a configuration that was found", () => {
  test("is refused by name where everybody may write it, and never passed over", async () => {
    await chmod(file, 0o666);
    const cwd = join(scratch.folder, "a", "b");
    await mkdir(cwd, { recursive: true });
    const message = await scratch.loadError({ cwd });
    expect(message).toContain(`the configuration file "${file}" can be written by everybody`);
    expect(message).toContain(`if you trust it, give --config "${file}"`);
    expect((await scratch.load({ flags: { config: file } })).log.level).toBe("warn");
    expect((await scratch.load({ env: { NIGHTDESK_CONFIG: file } })).log.level).toBe("warn");
  });

  testAsRoot("is refused where it belongs to somebody else", async () => {
    await chown(file, STRANGER, STRANGER);
    expect(await scratch.loadError()).toContain(`belongs to another user (uid ${STRANGER})`);
    expect((await scratch.load({ flags: { config: file } })).log.level).toBe("warn");
  });

  testAsRoot("is refused where it is a stranger's link, also to a file of ours", async () => {
    await rename(file, join(scratch.folder, "ours.yaml"));
    await symlink("ours.yaml", file);
    expect((await scratch.load()).log.level).toBe("warn");
    await lchown(file, STRANGER, STRANGER);
    expect(await scratch.loadError()).toContain("is a link of another user");
  });

  test("is refused in a folder where everybody may replace it, unless the folder is sticky", async () => {
    const cwd = join(scratch.folder, "open", "below");
    await mkdir(cwd, { recursive: true });
    await rename(file, join(cwd, "nightdesk.yaml"));
    await chmod(join(scratch.folder, "open"), 0o777);
    expect(await scratch.loadError({ cwd })).toMatch(
      /lies in ".*open", where everybody may replace/,
    );
    await chmod(join(scratch.folder, "open"), 0o1777);
    expect((await scratch.load({ cwd })).log.level).toBe("warn");
  });

  test("is refused where it is a link that leads nowhere, and where it is a pipe that nobody writes to", async () => {
    await rm(file);
    await symlink("nowhere", file);
    expect(await scratch.loadError()).toContain('"nightdesk.yaml" does not exist');
    await rm(file);
    execFileSync("mkfifo", [file]);
    expect(await scratch.loadError()).toContain('"nightdesk.yaml" is no regular file');
  });

  test("hands its rule on to what it extends, and a named one does not", async () => {
    await chmod(await scratch.write("base.yaml", "log: { level: debug }\n"), 0o666);
    await scratch.write("nightdesk.yaml", "extends: base.yaml\n");
    expect(await scratch.loadError()).toMatch(
      /^nightdesk\.yaml:1:1: the configuration file "base\.yaml" can be written by everybody/,
    );
    expect((await scratch.load({ flags: { config: file } })).log.level).toBe("debug");
  });

  test("tells how it was chosen", async () => {
    expect((await scratch.load()).chosen).toBe("found");
    expect((await scratch.load({ flags: { config: file } })).chosen).toBe("named");
    await rm(file);
    expect((await scratch.load()).chosen).toBe("shipped");
  });
});

describe("a command", () => {
  const cwd = () => join(scratch.folder, "a");
  beforeEach(() => mkdir(cwd()));

  test("ends with 78 over a file that can't be trusted, before it does anything that the file says", async () => {
    await scratch.write(
      "nightdesk.yaml",
      `on_batch_end: { command: [sh, -c, "echo ran > ${join(scratch.folder, "ran")}"] }\n`,
    );
    await chmod(file, 0o666);
    const ended = await runBin(["enqueue", "-", "--batch-name", "x", "--wait", "--json"], {
      cwd: cwd(),
      stdin: '{"kind":"ask","question":"Who?"}\n',
    });
    expect({ code: ended.code, ...jsonLine(ended) }).toMatchObject({
      code: 78,
      error_code: "CONFIG_ERROR",
      error_message: expect.stringContaining(`give --config "${file}"`),
    });
    await expect(readFile(join(scratch.folder, "ran"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("says which file it goes by when that is not in the current folder", async () => {
    const below = await runBin(["batch", "list"], { cwd: cwd() });
    expect(below.stderr).toContain(`Configuration: ${file}\n`);
    const beside = await runBin(["batch", "list"], { cwd: scratch.folder });
    expect(beside.stderr).not.toContain("Configuration:");
    const shown = await runBin(["config", "show"], { cwd: cwd() });
    expect(shown.stdout).toContain(`# configuration: ${file} (found)`);
    const doctor = await runBin(["doctor", "--no-ollama"], { cwd: cwd() });
    expect(doctor.stdout).toContain(`DOCTOR_CONFIG_PATH_OK: ${file} (found), work root`);
  });
});
