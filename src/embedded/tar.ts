import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

const BLOCK = 512;
const MAX_NAME_BYTES = 100;

/**
 * Packs the files and folders below a folder as a tar in the ustar format of POSIX.1-1988, by name. It reads files in pieces.
 * The folder must not change meanwhile.
 */
export async function* packFolder(folder: string): AsyncGenerator<Buffer> {
  const names = await readdir(folder, { recursive: true });
  for (const name of names.sort()) {
    const file = path.join(folder, name);
    const found = await stat(file);
    const isFolder = found.isDirectory();
    yield headerOf({ name, isFolder, size: isFolder ? 0 : found.size, mtimeMs: found.mtimeMs });
    if (isFolder) continue;
    for await (const piece of createReadStream(file)) yield piece as Buffer;
    yield Buffer.alloc(paddingOf(found.size));
  }
  yield Buffer.alloc(2 * BLOCK);
}

/**
 * Unpacks a tar into an empty folder: files 0600, folders 0700. Memory does not grow with the tar.
 * @throws Error if it is no tar, is cut short, or contains anything but files and folders below its top
 */
export async function unpackInto(folder: string, tar: AsyncIterable<Buffer>): Promise<void> {
  const bytes = new ByteReader(tar);
  for (;;) {
    const entry = parseHeader(await bytes.read(BLOCK));
    if (entry === undefined) break;
    const target = path.join(folder, entry.name);
    await mkdir(entry.isFolder ? target : path.dirname(target), { recursive: true, mode: 0o700 });
    if (entry.isFolder) continue;
    const handle = await open(target, "wx", 0o600);
    try {
      await writeFile(handle, bytes.pieces(entry.size));
    } finally {
      await handle.close();
    }
    await bytes.read(paddingOf(entry.size));
  }
  // The packer may have padded it to a record of several blocks.
  await bytes.drain();
}

const GZIP = Buffer.from([0x1f, 0x8b]);

/** The same for a file, with or without gzip, into a new folder. */
export async function unpackFile(file: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(GZIP.length), 0, GZIP.length, 0);
    const bytes = handle.createReadStream({ start: 0, autoClose: false });
    const into = (tar: AsyncIterable<Buffer>) => unpackInto(folder, tar);
    await (buffer.equals(GZIP) ? pipeline(bytes, createGunzip(), into) : pipeline(bytes, into));
  } finally {
    await handle.close();
  }
}

type Entry = { readonly name: string; readonly isFolder: boolean; readonly size: number };

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function headerOf({ name, isFolder, size, mtimeMs }: Entry & { readonly mtimeMs: number }): Buffer {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new Error(`the name ${name} is too long`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    block.write(value.toString(8).padStart(digits, "0"), at, "latin1");
  block.write(name, 0);
  octal(isFolder ? 0o700 : 0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(Math.floor(mtimeMs / 1_000), 136, 11);
  block.write(isFolder ? "5" : "0", 156, "latin1");
  block.write("ustar\0" + "00", 257, "latin1");
  octal(checksumOf(block), 148, 6);
  block.write("\0 ", 154, "latin1");
  return block;
}

/** The sum of a header's bytes, with blanks instead of the checksum itself. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (const [at, byte] of block.entries()) if (at < 148 || at >= 156) sum += byte;
  return sum;
}

/** Undefined for the block of zeros that ends a tar. */
function parseHeader(block: Buffer): Entry | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  const text = (from: number, to: number) =>
    block.toString("utf8", from, to).split("\0", 1)[0] ?? "";
  const number = (from: number, to: number) => Number.parseInt(text(from, to).trim(), 8);
  if (number(148, 156) !== checksumOf(block)) throw new Error("it is no tar, or is damaged");
  const name = path.posix.normalize(text(0, MAX_NAME_BYTES)).replace(/^\/+|\/+$/g, "");
  const type = text(156, 157);
  const size = number(124, 136);
  const isFolder = type === "5";
  if (!isFolder && type !== "0" && type !== "")
    throw new Error(`it holds a link or device, ${name}`);
  if (name.split("/").includes("..")) throw new Error(`it holds ${name}, which leads out of it`);
  if (!Number.isSafeInteger(size) || size < 0) throw new Error(`it gives ${name} no size`);
  return { name, isFolder, size: isFolder ? 0 : size };
}

/** Reads a stream by counts of bytes. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async read(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(count)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *pieces(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async drain(): Promise<void> {
    while ((await this.#source.next()).done !== true);
  }

  async #next(): Promise<Buffer> {
    for (;;) {
      const next = await this.#source.next();
      if (next.done === true) throw new Error("it is cut short");
      if (next.value.length > 0) return next.value;
    }
  }
}
