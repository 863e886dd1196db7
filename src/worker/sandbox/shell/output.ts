import { createHash } from "node:crypto";
import type { Readable } from "node:stream";

/** One stream of a command. `sha256` covers all counted bytes, in lower-case hex. */
export type CapturedStream = {
  readonly bytes: number;
  readonly sha256: string;
  /** The whole stream if it fits into `keptBytes`; otherwise the first three quarters of them, and `tail` has the last quarter. */
  readonly head: string;
  readonly tail: string;
};

/** Receives the whole stream piece by piece, as it arrives. */
export type OutputSink = { write(stream: "stdout" | "stderr", piece: Buffer): void };

type CaptureBounds = {
  /** Bytes of the stream that stay in memory. */
  readonly keptBytes: number;
  /** Above this many bytes `onFlood` is called once; bytes beyond are neither counted nor passed on. */
  readonly maxBytes: number;
  readonly onPiece: (piece: Buffer) => void;
  readonly onFlood: () => void;
};

/** Counts, hashes and bounds a stream while it arrives. Call the returned function after the stream has ended. */
export function captureStream(stream: Readable, bounds: CaptureBounds): () => CapturedStream {
  const hash = createHash("sha256");
  const tailBytes = Math.floor(bounds.keptBytes / 4);
  const first = Buffer.alloc(bounds.keptBytes);
  const end = collectTail(tailBytes);
  let bytes = 0;
  let isFlooded = false;
  stream.on("data", (received: Buffer) => {
    const piece = received.subarray(0, bounds.maxBytes - bytes);
    if (piece.length > 0) {
      if (bytes < first.length) piece.copy(first, bytes);
      bytes += piece.length;
      hash.update(piece);
      end.add(piece);
      bounds.onPiece(piece);
    }
    if (piece.length === received.length || isFlooded) return;
    isFlooded = true;
    bounds.onFlood();
  });
  return () => {
    const isWhole = bytes <= bounds.keptBytes;
    return {
      bytes,
      sha256: hash.digest("hex"),
      head: isWhole
        ? first.toString("utf8", 0, bytes)
        : decodeStart(first.subarray(0, bounds.keptBytes - tailBytes)),
      tail: isWhole ? "" : decodeEnd(end.read()),
    };
  };
}

/** Collects the last bytes of a stream; the cost per piece is constant. */
function collectTail(keptBytes: number): { add(piece: Buffer): void; read(): Buffer } {
  let pieces: Buffer[] = [];
  let held = 0;
  const read = (): Buffer => Buffer.concat(pieces).subarray(-keptBytes);
  return {
    add: (piece) => {
      const end = Buffer.from(piece.subarray(-keptBytes));
      pieces.push(end);
      held += end.length;
      if (held <= 4 * keptBytes) return;
      pieces = [read()];
      held = keptBytes;
    },
    read,
  };
}

/** Drops a character that the cut split. */
const decodeStart = (bytes: Buffer): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });

function decodeEnd(bytes: Buffer): string {
  const start = bytes.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(start === -1 ? Math.min(3, bytes.length) : start).toString();
}
