import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, renameSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";

/** The status of a database process that found another one serving its directory. */
export const ALREADY_SERVED = 75;

export type Exit = { readonly status: number | null; readonly signal: string | null };

export type StartedProcess = {
  /** How it ended; undefined while it runs. */
  exit(): Exit | undefined;
  /** The last lines that it wrote to the log, as one line of text. */
  lastWords(): Promise<string>;
};

const MAX_LOG_BYTES = 1024 * 1024;
const LAST_LINES = 5;
const MAX_WORDS = 4_000;

/**
 * Starts `bin database --directory DIR` apart from this process: it goes on when this one ends, and writes
 * to `<directory>/database.log`.
 */
export function startEmbedded(directory: string, bin: string): StartedProcess {
  const file = path.join(directory, "database.log");
  rotate(file);
  const log = openSync(file, "a", 0o600);
  const start = fstatSync(log).size;
  const child = spawn(
    process.execPath,
    [path.resolve(bin), "database", "--directory", path.resolve(directory)],
    { detached: true, stdio: ["ignore", log, log], cwd: directory },
  );
  closeSync(log);
  let exit: Exit | undefined;
  child.once("exit", (status, signal) => (exit = { status, signal }));
  child.once("error", () => (exit = { status: null, signal: null }));
  child.unref();
  return { exit: () => exit, lastWords: () => lastWords(file, start) };
}

function rotate(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && found.size > MAX_LOG_BYTES) renameSync(file, `${file}.old`);
}

async function lastWords(file: string, start: number): Promise<string> {
  const written = (await readFile(file)).subarray(start).toString();
  const lines = written.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-LAST_LINES).map(messageOf).join(" ").slice(0, MAX_WORDS);
}

function messageOf(line: string): string {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === "object" && entry !== null && "msg" in entry) return String(entry.msg);
  } catch {
    // Not every line is the logger's: Node's own messages are plain text.
  }
  return line;
}
