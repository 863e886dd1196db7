import { lstatSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, relative, resolve } from "node:path";
import { attachmentPlaces } from "../files/attachment-path.ts";
import { hasCode } from "../store/connection/errors.ts";
import { Failure } from "../failure.ts";
import { pathOf } from "../job/job.ts";
import type { JobInput } from "../job/job.ts";

type Input = {
  /** The batch gets its name from this: the file's name, or `stdin`. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
};

const CHUNK_BYTES = 256 * 1024;

/** Opens the file, or stdin for `-`. @throws Failure INPUT_INVALID when there is nothing to read */
export async function openInput(
  file: string,
  stdin: AsyncIterable<Uint8Array>,
  of: "job" | "question" | "path" = "job",
): Promise<Input> {
  if (file === "-") return { name: "stdin", chunks: stdin, close: async () => undefined };
  const unreadable = (reason: string) =>
    new Failure(
      "INPUT_INVALID",
      `${file} ${reason}. Expected a ${of === "path" ? "file" : "JSONL file"} with one ${of} a line, or - for stdin.`,
    );
  const handle = await open(file).catch((error: unknown) => {
    throw unreadable(formatOpenError(error));
  });
  if ((await handle.stat()).isDirectory()) {
    await handle.close();
    throw unreadable("is a folder");
  }
  const chunks = handle.createReadStream({ highWaterMark: CHUNK_BYTES });
  return { name: basename(file), chunks, close: () => handle.close() };
}

function formatOpenError(error: unknown): string {
  if (hasCode(error, "ENOENT")) return "does not exist";
  if (hasCode(error, "EACCES")) return "may not be read by this user";
  return `can't be read (${error instanceof Error ? error.message : String(error)})`;
}

/** A line with its number, from 1: its text, or why it can't be read. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly problem: string };

const MOST_LINE_BYTES = 8 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Splits bytes into lines that end in LF or CRLF. The bytes must be UTF-8; a byte order mark may come first. Blank lines are
 * skipped but counted. Holds one chunk and one line at a time, and nothing of a line over 8 MiB.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly Line[]> {
  const line = new PartialLine();
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      line.add(chunk.subarray(start, end));
      lines.push(...line.end());
      start = end + 1;
    }
    line.add(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  const last = line.end();
  if (last.length > 0) yield last;
}

class PartialLine {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #number = 1;
  #bytes = 0;
  #pieces: Uint8Array[] = [];

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > MOST_LINE_BYTES) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** Ends the line and returns it, unless it is blank. */
  end(): readonly Line[] {
    const number = this.#number;
    const isTooLong = this.#bytes > MOST_LINE_BYTES;
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    this.#number += 1;
    this.#bytes = 0;
    this.#pieces = [];
    if (isTooLong)
      return [{ number, problem: `is longer than ${MOST_LINE_BYTES / 1024 / 1024} MiB` }];
    return this.#decode(number, trimEnds(number, bytes ?? Buffer.alloc(0)));
  }

  #decode(number: number, bytes: Uint8Array): readonly Line[] {
    try {
      const text = this.#decoder.decode(bytes);
      return text.trim() === "" ? [] : [{ number, text }];
    } catch (error) {
      if (!hasCode(error, "ERR_ENCODING_INVALID_ENCODED_DATA")) throw error;
      return [{ number, problem: "is not UTF-8" }];
    }
  }
}

function trimEnds(number: number, bytes: Uint8Array): Uint8Array {
  const hasMark = number === 1 && BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte);
  return bytes.subarray(hasMark ? 3 : 0, bytes.at(-1) === CR ? -1 : undefined);
}

/**
 * Size in bytes of the file that a job reads, to run small files first; 0 when the input names no file or the file is missing.
 * Only looks the file up and never opens it: the worker's sandbox decides what is read.
 */
export const fileSizes =
  (workroot: string) =>
  (input: JobInput): number => {
    const path = pathOf(input);
    return path === undefined ? 0 : fileSize(workroot, path);
  };

/**
 * Size in bytes of the file at a path relative to the work root; for an attachment, the size of its mail. 0 for a path outside of
 * the work root and for a file whose size can't be read.
 */
export function fileSize(workroot: string, path: string): number {
  for (const file of [path, ...attachmentPlaces(path).map((place) => place.file)]) {
    const bytes = bytesAt(workroot, file);
    if (bytes !== undefined) return bytes;
  }
  return 0;
}

function bytesAt(workroot: string, path: string): number | undefined {
  const file = resolve(workroot, path);
  if (/^\.\.(?:$|\/)/.test(relative(workroot, file))) return undefined;
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.size;
  } catch {
    // The worker reports the cause when it reads the file.
    return undefined;
  }
}
