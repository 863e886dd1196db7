import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { runDatabase } from "../../../src/embedded/run-database.ts";
import { lockDirectory } from "../../../src/shared/store/embedded/embedded-directory.ts";
import { ALREADY_SERVED } from "../../../src/shared/store/embedded/embedded-process.ts";

let directory: string;
let umask: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nightdesk-lock-"));
  umask = process.umask(0o077);
});
afterEach(() => {
  process.umask(umask);
  rmSync(directory, { recursive: true });
});

const taken = async () => {
  const lock = await lockDirectory(directory);
  if (lock === "held") throw new Error("nobody else has it");
  return lock;
};

test("a directory that somebody has locked is held for all others until he lets go", async () => {
  const lock = await taken();
  expect(await lockDirectory(directory)).toBe("held");
  lock.release();
  (await taken()).release();
});

test("a database process whose directory another one serves ends, and opens nothing", async () => {
  const lock = await taken();
  const said: string[] = [];
  const status = await runDatabase({
    directory,
    idleSeconds: 0,
    log: (_, message) => said.push(message),
    migrate: async () => {
      throw new Error("it was opened");
    },
  });
  lock.release();
  expect({ status, said }).toEqual({ status: ALREADY_SERVED, said: [] });
});
