import { readSync } from "node:fs";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { quotePath } from "./quote-path.ts";
import type { OpenFile } from "./visit-file.ts";

/**
 * The whole content of an open file, or FILE_TOO_LARGE. The size only spares the work: what counts is the
 * bytes that come, so a file that grows, or lies about its size, stops at the cap too.
 */
export function readBytes(file: OpenFile, readable: number, maxBytes: number): Buffer | Refusal {
  if (file.stat.size > BigInt(maxBytes)) return refuseSize(file.path, maxBytes);
  let buffer: Buffer = Buffer.allocUnsafe(Number(file.stat.size) + 1);
  let filled = 0;
  for (;;) {
    const count = readSync(readable, buffer, filled, buffer.length - filled, null);
    if (count === 0) return buffer.subarray(0, filled);
    filled += count;
    if (filled > maxBytes) return refuseSize(file.path, maxBytes);
    if (filled === buffer.length) buffer = enlarge(buffer, maxBytes);
  }
}

function enlarge(buffer: Buffer, maxBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(Math.max(buffer.length * 2, 65_536), maxBytes + 1));
  buffer.copy(larger);
  return larger;
}

const refuseSize = (path: string, maxBytes: number): Refusal =>
  refuse(
    "FILE_TOO_LARGE",
    `${quotePath(path)} is over ${maxBytes} bytes: split it, or raise security.max_file_bytes.`,
  );
