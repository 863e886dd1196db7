import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Extraction } from "../../../../src/worker/documents/extraction.ts";
import { NO_PLACES } from "../../../../src/worker/documents/places.ts";

// What a parser that a hostile file has led astray may do, each by its name.

export function spin(): never {
  for (;;);
}

/** Buffers, which a limit of the heap does not bound. */
export function grow(): never {
  const kept: Buffer[] = [];
  for (;;) kept.push(Buffer.alloc(4_000_000, 1));
}

/** More than it may, and no more than that: what looks at it may take its time. */
export function hold(): never {
  const kept = Buffer.alloc(400_000_000, 1);
  for (;;) kept[0] = 1;
}

export function crash(): never {
  process.abort();
}

/** Meets an error of the operating system: no process has that id. */
export function meetSystemError(): never {
  process.kill(2 ** 30, 0);
  throw new Error("there is such a process");
}

const ABSENT: string = "no-such-package";
export const lackPackage = (): Promise<Extraction> => import(ABSENT) as Promise<Extraction>;

export function recurse(): Extraction {
  return recurse();
}

export function throwLater(): Promise<Extraction> {
  void Promise.reject(new Error("nobody waits for this"));
  return Promise.resolve(echo(Buffer.from("read all the same")));
}

export const echo = (bytes: Buffer): Extraction => ({
  kind: "text",
  text: bytes.toString(),
  places: NO_PLACES,
});

export const whoAmI = (): Extraction => echo(Buffer.from(String(process.pid)));

export const environment = (): Extraction => echo(Buffer.from(JSON.stringify(process.env)));

/** What a parser that was taken over may want of the machine. */
const WISHES: Readonly<Record<string, () => unknown>> = {
  read: () => readFileSync("/etc/passwd", "utf8"),
  list: () => readdirSync("/"),
  environment: () => readFileSync("/proc/self/environ", "utf8"),
  leave: () => readFileSync(join(import.meta.dirname, "../".repeat(20), "etc/passwd"), "utf8"),
  write: () => {
    writeFileSync(join(tmpdir(), "nightdesk-was-here"), "");
  },
  writeBeside: () => {
    writeFileSync(join(import.meta.dirname, "nightdesk-was-here"), "");
  },
  link: () => {
    symlinkSync("/etc/passwd", join(import.meta.dirname, "nightdesk-was-here"));
  },
  start: () => {
    const { error } = spawnSync(process.execPath, ["--version"]);
    if (error !== undefined) throw error;
  },
};

/** Tries each, and says what came of it: the code that it was refused with, or `done`. */
export const wish = (): Extraction => {
  const outcomes = Object.entries(WISHES).map(([name, act]) => {
    try {
      act();
      return [name, "done"];
    } catch (error) {
      return [name, (error as NodeJS.ErrnoException).code];
    }
  });
  return echo(Buffer.from(JSON.stringify(Object.fromEntries(outcomes))));
};
