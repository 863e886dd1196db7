import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { constants, open, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import busboy from "busboy";
import type { Busboy } from "busboy";
import { invalid, Refused } from "./failures.ts";

/** A received file with the other fields of its form. */
export type Upload = {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Its content in pieces. */
  readonly parts: () => AsyncGenerator<Uint8Array, void>;
};

const MOST_FIELDS = 20;
const MOST_FIELD_BYTES = 1_000;
const MOST_NAME_CHARS = 255;
const PART_BYTES = 128 * 1024;

export type UploadLimits = {
  readonly mostBytes: number;
  /** The longest time between two pieces of the form. */
  readonly stalledMs: number;
};

/**
 * Receives a form with one file, with its fields in any order, and holds one piece in memory at a time. The file lies in the
 * folder for temporary files without a name, so that nothing is left however this process ends.
 * @throws Refused for any other form, a file that is empty or too large, and a client that stalls
 */
export async function withUpload<T>(
  incoming: IncomingMessage,
  { mostBytes, stalledMs }: UploadLimits,
  body: (upload: Upload) => Promise<T>,
): Promise<T> {
  if (Number(incoming.headers["content-length"] ?? 0) > mostBytes + MOST_FORM_BYTES)
    throw tooLarge(mostBytes);
  const parser = openParser(incoming, mostBytes);
  const handle = await openUnnamedFile();
  try {
    return await body(await receiveForm(incoming, parser, { handle, mostBytes, stalledMs }));
  } finally {
    await handle.close();
  }
}

/** The limit of all boundaries and other fields. */
const MOST_FORM_BYTES = 64 * 1024;

function openParser(incoming: IncomingMessage, mostBytes: number): Busboy {
  try {
    return busboy({
      headers: incoming.headers,
      defParamCharset: "utf8",
      limits: {
        ...{ files: 1, fields: MOST_FIELDS, fieldSize: MOST_FIELD_BYTES },
        fileSize: mostBytes + 1,
      },
    });
  } catch {
    throw invalid("content-type", "Send the file as multipart/form-data with a boundary.");
  }
}

async function openUnnamedFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `nightdesk-upload-${randomUUID()}`);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
  const handle = await open(path, flags, 0o600);
  await unlink(path);
  return handle;
}

type Written = { readonly name: string; readonly bytes: number; readonly sha256: string };
type Receiving = UploadLimits & { readonly handle: FileHandle };

async function receiveForm(
  incoming: IncomingMessage,
  parser: Busboy,
  { handle, mostBytes, stalledMs }: Receiving,
): Promise<Upload> {
  const fields = new Map<string, string>();
  const state: { written?: Promise<Written>; problem?: Error } = {};
  const fail = (error: Error): void => {
    state.problem ??= error;
  };
  parser.on("field", (name, value) => fields.set(name.slice(0, 100), value));
  parser.on("filesLimit", () => {
    fail(invalid("file", "Send one file at a time."));
  });
  parser.on("file", (field, stream, { filename }) => {
    if (field !== "file") fail(invalid("file", "Send the file as the field file."));
    stream.once("limit", () => {
      fail(tooLarge(mostBytes));
    });
    state.written = writeStream(stream, handle, filename);
    state.written.catch((error: unknown) => {
      fail(error instanceof Error ? error : new Error(String(error)));
      stream.resume();
    });
  });
  const closed = once(parser, "close");
  closed.catch(() => {
    fail(cutShortFailure());
  });
  try {
    for await (const piece of readPieces(incoming, stalledMs)) {
      if (!parser.write(piece)) await Promise.race([once(parser, "drain"), closed]);
      if (state.problem !== undefined) throw state.problem;
    }
    parser.end();
    await closed;
  } catch (error) {
    parser.destroy();
    throw state.problem ?? (error instanceof Refused ? error : cutShortFailure());
  }
  if (state.problem !== undefined) throw state.problem;
  if (state.written === undefined) throw invalid("file", "The form holds no file.");
  const written = await state.written;
  if (written.bytes === 0) throw invalid("file", "The file is empty.");
  return { ...written, fields, parts: () => partsOf(handle, written.bytes) };
}

/** The pieces of a request. @throws Refused if the next one does not arrive in time */
async function* readPieces(
  incoming: IncomingMessage,
  stalledMs: number,
): AsyncGenerator<Buffer, void> {
  const pieces = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  const stalled = new Promise<never>((_, reject) => {
    incoming.setTimeout(stalledMs, () => {
      reject(stalledFailure(stalledMs));
    });
  });
  stalled.catch(() => undefined);
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), stalled]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    incoming.setTimeout(0);
  }
}

const stalledFailure = (stalledMs: number): Refused =>
  new Refused({
    status: 408,
    code: "timeout",
    message: `Nothing came for ${stalledMs / 1_000} s. Send the file again; nothing of it was kept.`,
    param: "file",
  });

const tooLarge = (mostBytes: number): Refused =>
  new Refused({
    status: 413,
    code: "file_too_large",
    message: `A file has at most ${mostBytes / 1_000_000} MB (serve.max_file_mb).`,
    param: "file",
  });

const cutShortFailure = (): Refused =>
  invalid("file", "The form ends before its last boundary, or is none. Nothing of it was kept.");

async function writeStream(
  stream: Readable & { readonly truncated?: boolean },
  handle: FileHandle,
  filename: string | undefined,
): Promise<Written> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of stream) {
    const data = piece as Buffer;
    hash.update(data);
    // Unlike write(), it goes on after a short write, and so reports a full disk.
    await handle.appendFile(data);
    bytes += data.length;
  }
  return { name: nameOf(filename), bytes, sha256: hash.digest("hex") };
}

/** The name for display, never used as a path: without characters that a terminal or a row can't hold. */
const nameOf = (filename = ""): string => {
  const name = filename.toWellFormed().replaceAll(/\p{Cc}/gu, "\u{FFFD}");
  return Array.from(name.trim() === "" ? "file" : name)
    .slice(0, MOST_NAME_CHARS)
    .join("");
};

/** Each part is valid until the next one is requested: all are read into the same buffer. */
async function* partsOf(handle: FileHandle, bytes: number): AsyncGenerator<Uint8Array, void> {
  const held = Buffer.alloc(Math.min(PART_BYTES, bytes));
  for (let at = 0; at < bytes; at += PART_BYTES) {
    const part = held.subarray(0, Math.min(PART_BYTES, bytes - at));
    await handle.read(part, 0, part.length, at);
    yield part;
  }
}
