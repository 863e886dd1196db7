const BLOCK = 512;
const ROOT = "./";

/** The content of an archive, without its root. */
export type ArchiveContent = {
  readonly entries: number;
  /** Absolute path of each link to its target as written. */
  readonly links: Readonly<Record<string, string>>;
};

/**
 * Reads the headers of a tar that `tar --format=gnu` wrote of a folder. The command may have forged it. So anything that the
 * unpacking tar could read differently is refused, and no link stays hidden. Each entry has a unique name, in a folder that
 * comes before it.
 * @param folder the archive is unpacked there
 * @returns null for anything else
 */
export function readArchive(archive: Buffer, folder: string): ArchiveContent | null {
  if (archive.length === 0) return { entries: 0, links: {} };
  if (archive.length % BLOCK !== 0) return null;
  const kinds = new Map<string, string>();
  const links: Record<string, string> = {};
  let long: { name?: string; target?: string } = {};
  for (let at = 0; at < archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    if (isZero(header)) {
      const isEnd = isZero(archive.subarray(at)) && Object.keys(long).length === 0;
      return isEnd ? { entries: Math.max(0, kinds.size - 1), links } : null;
    }
    const read = readHeader(header);
    if (read === null) return null;
    const { type, size } = read;
    const data = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (data.length < size) return null;
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (type === "L" || type === "K") {
      const key = type === "L" ? "name" : "target";
      if (long[key] !== undefined || data.indexOf(0) !== size - 1) return null;
      long = { ...long, [key]: data.toString("utf8", 0, size - 1) };
      continue;
    }
    const name = nameOf(long.name ?? read.name, type);
    const target = long.target ?? read.target;
    long = {};
    if (name === null || kinds.has(name) || !hasFolder(name, kinds)) return null;
    kinds.set(name, type);
    if (type === "2") links[`${folder}/${name}`] = target;
    if (type !== "1") continue;
    // A hard link to a file, or to a symbolic link.
    const first = nameOf(target, "0");
    if (first === null || !kinds.has(first) || kinds.get(first) === "5") return null;
    const same = links[`${folder}/${first}`];
    if (same !== undefined) links[`${folder}/${name}`] = same;
  }
  return null;
}

type Header = {
  readonly type: string;
  readonly size: number;
  readonly name: string;
  readonly target: string;
};

/** File, hard link, symbolic link, devices, folder, FIFO; L and K hold a long name or target for the next entry. */
const TYPES = /^[0-6LK]$/;
const WITH_CONTENT = /^[0LK]$/;

function readHeader(header: Buffer): Header | null {
  const type = header.toString("latin1", 156, 157);
  const size = octalAt(header, 124, 12);
  const isOurs =
    header.toString("latin1", 257, 265) === "ustar  \0" &&
    octalAt(header, 148, 7) === sumOf(header) &&
    TYPES.test(type);
  if (!isOurs || size === null || (size > 0 && !WITH_CONTENT.test(type))) return null;
  return { type, size, name: textAt(header, 0, 100), target: textAt(header, 157, 100) };
}

/** A field of octal digits that ends with a NUL. */
function octalAt(header: Buffer, start: number, length: number): number | null {
  const text = header.toString("latin1", start, start + length);
  return /^[0-7]+\0$/.test(text) ? Number.parseInt(text, 8) : null;
}

/** The sum of all bytes, with the field of the checksum taken as spaces. */
const sumOf = (header: Buffer): number =>
  header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);

function textAt(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end);
}

/** The path relative to the root, without a slash at its end; empty for the root itself. */
function nameOf(path: string, type: string): string | null {
  if (!path.startsWith(ROOT)) return null;
  const name = path.slice(ROOT.length);
  if (name === "") return type === "5" ? name : null;
  const plain = type === "5" && name.endsWith("/") ? name.slice(0, -1) : name;
  return plain.split("/").some((part) => /^\.{0,2}$/.test(part)) ? null : plain;
}

/** Whether the entry's folder came before it; the root must be the first entry. */
function hasFolder(name: string, kinds: ReadonlyMap<string, string>): boolean {
  if (name === "") return kinds.size === 0;
  return kinds.get(name.slice(0, Math.max(0, name.lastIndexOf("/")))) === "5";
}

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);
