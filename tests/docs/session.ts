import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { start } from "../deploy/spawned.ts";
import { waitUntil } from "../services/wait-until.js";
import { root } from "./read-doc.ts";

export type Ran = { readonly exitCode: number | null; readonly output: string };

/** A copy of the examples with nothing in it yet, and a shell that knows `nightdesk` and has documents in ~/notes. */
export type Session = {
  readonly desk: string;
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
  cpSync(join(desk, "corpus", "contracts"), join(scratch, "notes"), { recursive: true });
  const bin = join(scratch, "bin");
  mkdirSync(bin);
  const command = join(bin, "nightdesk");
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${root}/bin/nightdesk.js" "$@"\n`);
  chmodSync(command, 0o755);
  const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: scratch, TZ: "UTC" };
  return {
    desk,
    async run(script) {
      const noon = zoneAtNoon(new Date());
      const closed = script.replaceAll(WINDOW, `$1 ${noon}`);
      const words = ["bash", "-c", `exec 2>&1; set -e\n${closed}`];
      const { exitCode, stdout } = await start(words, { cwd: desk, env }).ended;
      return {
        exitCode,
        // What an earlier hour of the session took is told, too.
        output: stdout
          .replaceAll(desk, "/home/you/desk")
          .replaceAll(/Etc\/GMT[+-]\d+/g, "Europe/Berlin"),
      };
    },
    async close() {
      await stopDatabase(join(desk, ".nightdesk", "pid"));
      const state = join(scratch, ".local", "state", "nightdesk");
      for (const name of existsSync(state) ? readdirSync(state) : [])
        await stopDatabase(join(state, name, "pid"));
      await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A window as the documents show it. */
const WINDOW = /(\d\d:\d\d-\d\d:\d\d) Europe\/Berlin/g;

/**
 * A zone where it is between noon and one: the windows of a night are closed there, whatever the time of the test is.
 * The signs of these names are the other way round: Etc/GMT-3 is UTC+3.
 */
function zoneAtNoon(now: Date): string {
  const ahead = 12 - now.getUTCHours();
  return `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`;
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
