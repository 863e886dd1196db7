import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

/** The text of a file, or why it can't be read: `reason` completes a sentence that begins with the file's name. */
type SmallFile =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly reason: string };

/** Checks an open file, and returns the reason if it must not be read. */
export type Inspection = (handle: FileHandle, file: string) => Promise<string | undefined>;

/**
 * Reads a UTF-8 file of at most `maxBytes` bytes, without its byte order mark. Pipes are read to their end. With an inspection
 * the file is opened without blocking, so that a pipe cannot delay the inspection.
 */
export async function readSmallFile(
  file: string,
  maxBytes: number,
  inspect?: Inspection,
): Promise<SmallFile> {
  let bytes: Uint8Array;
  try {
    const found = await readUpTo(file, maxBytes + 1, inspect);
    if (typeof found === "string") return { kind: "unreadable", reason: found };
    bytes = found;
  } catch (error) {
    return explainError(error);
  }
  if (bytes.length > maxBytes) {
    return { kind: "unreadable", reason: `has more than ${maxBytes} bytes` };
  }
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    // The decoder throws only for bytes that are not UTF-8.
    return { kind: "unreadable", reason: "is not UTF-8 text" };
  }
}

async function readUpTo(
  file: string,
  limit: number,
  inspect: Inspection | undefined,
): Promise<Uint8Array | string> {
  const waiting = inspect === undefined ? 0 : constants.O_NONBLOCK;
  const handle = await open(file, constants.O_RDONLY | waiting);
  try {
    const reason = await inspect?.(handle, file);
    if (reason !== undefined) return reason;
    const buffer = new Uint8Array(limit);
    let filled = 0;
    while (filled < limit) {
      const { bytesRead } = await handle.read(buffer, filled, limit - filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  } finally {
    await handle.close();
  }
}

function explainError(error: unknown): SmallFile {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case undefined:
      throw error;
    case "ENOENT":
    case "ENOTDIR":
      return { kind: "missing" };
    case "EISDIR":
      return { kind: "unreadable", reason: "is a folder" };
    default:
      return { kind: "unreadable", reason: `can't be read (${code})` };
  }
}
