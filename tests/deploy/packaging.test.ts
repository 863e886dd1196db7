import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { COMMANDS } from "../../src/shared/commands/table.ts";
import { start } from "./spawned.ts";
import type { Ended } from "./spawned.ts";

const checkout = join(import.meta.dirname, "..", "..");
const units = join(checkout, "deploy", "systemd");

/** Values by section and key; a key that stands twice has the later one. */
async function readUnit(name: string): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  let section = "";
  for (const line of (await readFile(join(units, name), "utf8")).split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const head = /^\[(\w+)\]$/.exec(line)?.[1];
    const pair = /^(\w+)=(.*)$/.exec(line);
    if (head !== undefined) section = head;
    else if (pair !== null) values.set(`${section}.${pair[1] ?? ""}`, pair[2] ?? "");
    else throw new Error(`${name}: ${line} is no line of a unit`);
  }
  return values;
}

describe("the units of systemd", () => {
  test.each(["worker", "dashboard", "backup"])(
    "%s runs a command of ours, hardened",
    async (name) => {
      const unit = await readUnit(`nightdesk-${name}.service`);
      const [, command] =
        /^\/usr\/bin\/env nightdesk (\w+)/.exec(unit.get("Service.ExecStart") ?? "") ?? [];
      expect(COMMANDS.map((each) => each.name)).toContain(command);
      expect(unit.get("Service.User")).toBe("nightdesk");
      for (const key of [
        "NoNewPrivileges",
        "PrivateTmp",
        "PrivateDevices",
        "RestrictSUIDSGID",
        "ProtectHome",
      ]) {
        expect([key, unit.get(`Service.${key}`)]).toEqual([key, "yes"]);
      }
      expect(unit.get("Service.ProtectSystem")).toBe("strict");
      expect(unit.get("Service.CapabilityBoundingSet")).toBe("");
    },
  );

  test("the timer belongs to the dump, and makes up for one that was missed", async () => {
    const timer = await readUnit("nightdesk-backup.timer");
    expect(timer.get("Timer.Persistent")).toBe("true");
    expect(await readdir(units)).toContain("nightdesk-backup.service");
  });
});

describe("the scripts", () => {
  let folder: string;
  const run = (...words: readonly string[]): Promise<Ended> =>
    start(words, { cwd: folder, env: { PATH: process.env["PATH"] ?? "", HOME: folder } }).ended;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nightdesk-release-"));
    await mkdir(join(folder, "scripts"));
    for (const name of ["scripts/release", "scripts/clean", "package.json"]) {
      await cp(join(checkout, name), join(folder, name));
    }
    await writeFile(join(folder, ".gitignore"), "dist/\ncoverage/\nout/\n*.tsbuildinfo\n");
    const git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"];
    await run("git", "init", "--quiet");
    await run("git", "add", "--all");
    expect(await run(...git, "commit", "--quiet", "--message=All")).toMatchObject({ exitCode: 0 });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("release writes an archive of what is committed, and refuses a tree with changes", async () => {
    const dry = await run("scripts/release", "--dry-run");
    expect(dry.stdout).toMatch(
      /^would write nightdesk-[\d.]+\.tar\.gz: commit [0-9a-f]{40}, 4 files\n$/,
    );
    await mkdir(join(folder, "out"));
    const ended = await run("scripts/release", "out");
    expect(ended).toMatchObject({ exitCode: 0 });
    expect((await readdir(join(folder, "out"))).sort()).toEqual([
      expect.stringMatching(/^nightdesk-[\d.]+\.tar\.gz$/),
      expect.stringMatching(/\.sha256$/),
    ]);
    await writeFile(join(folder, "new.txt"), "x");
    const dirty = await run("scripts/release", "--dry-run");
    expect(dirty).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringContaining("new.txt"),
    });
    await rm(join(folder, "new.txt"));
  });

  test("clean takes what a build leaves, and nothing else", async () => {
    await mkdir(join(folder, "dist"));
    await mkdir(join(folder, ".nightdesk"));
    await writeFile(join(folder, "a.tsbuildinfo"), "");
    expect(await run("scripts/clean")).toMatchObject({ exitCode: 0 });
    const left = await readdir(folder);
    expect(left).toEqual(expect.arrayContaining([".nightdesk", "package.json", "scripts"]));
    expect(left).not.toContain("dist");
    expect(left).not.toContain("a.tsbuildinfo");
    expect(await run("scripts/clean", "--everything")).toMatchObject({ exitCode: 2 });
  });
});
