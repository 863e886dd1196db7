import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { start } from "../deploy/spawned.ts";
import { waitUntil } from "../services/wait-until.js";
import { root } from "./read-doc.ts";

export type Ran = { readonly exitCode: number | null; readonly output: string };

/** A copy of the examples with nothing in it yet, and a shell that knows `nightdesk`. */
export type Session = {
  run(script: string): Promise<Ran>;
  close(): Promise<void>;
};

export function openSession(): Session {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "nightdesk-docs-")));
  const desk = join(scratch, "desk");
  cpSync(join(root, "examples"), desk, {
    recursive: true,
    filter: (file) => basename(file) !== ".nightdesk",
  });
  const bin = join(scratch, "bin");
  mkdirSync(bin);
  const command = join(bin, "nightdesk");
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${root}/bin/nightdesk.js" "$@"\n`);
  chmodSync(command, 0o755);
  const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: scratch };
  return {
    async run(script) {
      const words = ["bash", "-c", `exec 2>&1; set -e\n${script}`];
      const { exitCode, stdout } = await start(words, { cwd: desk, env }).ended;
      return { exitCode, output: stdout.replaceAll(desk, "/home/you/desk") };
    },
    async close() {
      await stopDatabase(join(desk, ".nightdesk", "pid"));
      await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The process removes the file with its number when it has stopped. */
async function stopDatabase(pidFile: string): Promise<void> {
  const pid = await readFile(pidFile, "utf8").catch(() => undefined);
  if (pid === undefined) return;
  process.kill(Number(pid), "SIGTERM");
  const isGone = () =>
    readFile(pidFile).then(
      () => false,
      () => true,
    );
  await waitUntil(isGone, 10_000);
}
