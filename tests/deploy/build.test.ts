import {
  cpSync,
  existsSync,
  mkdtempSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { checkout } from "./compose-file.ts";
import { start } from "./spawned.ts";
import type { Ended } from "./spawned.ts";

describe("the build", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "nightdesk-build-"));
    for (const name of [
      "scripts",
      "package.json",
      "package-lock.json",
      "tsconfig.json",
      "tsconfig.build.json",
    ]) {
      cpSync(join(checkout, name), join(folder, name), { recursive: true });
    }
    symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
    mkdirSync(join(folder, "src/deep"), { recursive: true });
    write("src/main.ts", "export const main = 1;\n");
    write("src/deep/step.ts", "export const step = 1;\n");
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test("compiles what is there, and then finds nothing to do", async () => {
    expect(await build()).toMatchObject({ exitCode: 0, stderr: "build: built\n" });
    expect(existsSync(join(folder, "dist/deep/step.js"))).toBe(true);
    expect(await build()).toMatchObject({ exitCode: 0, stderr: "build: unchanged\n" });
  });

  test("writes a file again that was deleted from dist", async () => {
    rmSync(join(folder, "dist/deep/step.js"));
    expect(await build()).toMatchObject({ exitCode: 0, stderr: "build: built\n" });
    expect(existsSync(join(folder, "dist/deep/step.js"))).toBe(true);
  });

  test("is done again where a migration changed, of which the empty database is made", async () => {
    mkdirSync(join(folder, "migrations"));
    write("migrations/0001_jobs.sql", "select 1;\n");
    expect(await build()).toMatchObject({ exitCode: 0, stderr: "build: built\n" });
    expect(await build()).toMatchObject({ exitCode: 0, stderr: "build: unchanged\n" });
  });

  test("removes what has no source any more", async () => {
    rmSync(join(folder, "src/deep"), { recursive: true });
    expect(await build()).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(folder, "dist/deep"))).toBe(false);
    expect(existsSync(join(folder, "dist/main.js"))).toBe(true);
  });

  test("fails with the compiler's words, and again until it is mended", async () => {
    write("src/wrong.ts", 'export const wrong: number = "text";\n');
    for (const attempt of [await build(), await build()]) {
      expect(attempt.exitCode).toBe(1);
      expect(attempt.stderr).toContain("src/wrong.ts(1,14): error TS2322");
    }
    rmSync(join(folder, "src/wrong.ts"));
    expect(await build()).toMatchObject({ exitCode: 0 });
  });

  test("what is built says in a line that a package of it is missing", async () => {
    cpSync(join(checkout, "bin"), join(folder, "bin"), { recursive: true });
    write("dist/main.js", 'import "no-such-package";\n');
    const words = [process.execPath, join(folder, "bin/nightdesk.js"), "--version"];
    const { exitCode, stderr } = await start(words, { cwd: folder, env: {} }).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^nightdesk: a package that it needs is not there: .*no-such-package.* npm ci\n$/,
    );
  });

  function write(file: string, text: string): void {
    writeFileSync(join(folder, file), text);
  }

  function build(): Promise<Ended> {
    const words = [process.execPath, join(folder, "scripts/build.js")];
    return start(words, { cwd: folder, env: {} }).ended;
  }
});
