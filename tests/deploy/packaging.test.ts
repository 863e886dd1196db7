import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
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
    expect(await run("scripts/clean", "--dry-run")).toMatchObject({
      exitCode: 0,
      stdout: "would remove dist\nwould remove ./a.tsbuildinfo\n",
    });
    expect(await run("scripts/clean")).toMatchObject({ exitCode: 0 });
    const left = await readdir(folder);
    expect(left).toEqual(expect.arrayContaining([".nightdesk", "package.json", "scripts"]));
    expect(left).not.toContain("dist");
    expect(left).not.toContain("a.tsbuildinfo");
    expect(await run("scripts/clean", "--everything")).toMatchObject({ exitCode: 2 });
  });
});

/** Docker and the registries are not there in a test; this says which image it was asked for, by a digest made of its name. */
const DOCKER = `#!/bin/sh
[ "$1 $2 $3 $5" = "buildx imagetools inspect --format" ] || exit 64
[ -z "$REFUSE" ] || case "$4" in "$REFUSE"*) echo "$4: not found" >&2; exit 1 ;; esac
printf 'sha256:%s\\n' "$(printf %s "$4" | sha256sum | cut -c 1-64)"
`;

describe("the images of the deployment", () => {
  const FILES = ["Dockerfile", "docker-compose.yml", ".devcontainer/docker-compose.yml"];
  const script = join(checkout, "scripts", "pin-images.js");
  let folder: string;
  const read = (): Promise<string[]> =>
    Promise.all(FILES.map((name) => readFile(join(folder, name), "utf8")));
  const pin = (more: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
    start([process.execPath, script, "--folder", folder, ...more], {
      cwd: folder,
      env: { PATH: `${folder}:${process.env["PATH"] ?? ""}`, ...env },
    }).ended;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "nightdesk-images-"));
    await mkdir(join(folder, ".devcontainer"));
    for (const name of FILES) await cp(join(checkout, name), join(folder, name));
    await writeFile(join(folder, "docker"), DOCKER, { mode: 0o755 });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("are pinned by what docker says of their tags, and nothing else changes", async () => {
    const before = await read();
    const pinned = await pin([]);
    expect(pinned).toMatchObject({ exitCode: 0, stderr: "" });
    const after = await read();
    expect(after).not.toEqual(before);
    expect(after.map((text) => text.replaceAll(/@sha256:[0-9a-f]{64}/g, ""))).toEqual(before);
    const [dockerfile = "", compose = ""] = after;
    expect(dockerfile).toMatch(/^FROM node:[\w.-]+@sha256:[0-9a-f]{64} AS build$/m);
    expect(compose).toMatch(/^ {4}image: pgvector\/pgvector:[\w.-]+@sha256:[0-9a-f]{64}$/m);
    expect(compose).toMatch(/^ {2}image: nightdesk:[\d.]+$/m);
    expect(await pin(["--check"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await pin([])).toEqual(pinned);
    expect(await read()).toEqual(after);
  });

  test("are named where they have no digest", async () => {
    const checked = await pin(["--check"]);
    expect(checked.exitCode).toBe(1);
    expect(checked.stdout.split("\n")).toContain("redis:7.2-bookworm has no digest");
    expect(await pin(["--all"])).toMatchObject({ exitCode: 2 });
  });

  test("stay as they are where one has no digest, or docker is not there", async () => {
    const before = await read();
    const refused = await pin([], { REFUSE: "ollama" });
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      /^The digest of ollama\/ollama:\S+ can't be asked for: .*not found/,
    );
    await rm(join(folder, "docker"));
    const missing = await pin([], { PATH: folder });
    expect(missing.stderr).toContain("docker is not on the PATH");
    expect(await read()).toEqual(before);
  });
});
