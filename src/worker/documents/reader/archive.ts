import { isUtf8 } from "node:buffer";
import { crc32, inflateRawSync } from "node:zlib";
import { decodeBytes } from "../encoding.ts";
import { NoText, tooMany } from "./text-builder.ts";
import type { TextLimits } from "./text-builder.ts";

/** A ZIP archive whose total size is checked; nothing is unpacked yet. */
export type Archive = {
  readonly files: readonly ArchiveFile[];
  /** The text of a file, by its name in any case; undefined if there is none. */
  text(name: string): string | undefined;
};

export type ArchiveFile = Pick<Entry, "name" | "isEncrypted" | "packed" | "size"> & {
  readonly bytes: () => Buffer;
};

type Entry = {
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
};

const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END = 0x06054b50;
const END_BYTES = 22;
const CENTRAL_BYTES = 46;
const LOCAL_BYTES = 30;
const LONGEST_COMMENT = 65_535;
const MEGABYTE = 1_000_000;
/** Start of a compound file: Office writes one for a document with a password, and in the formats before 2007. */
const COMPOUND = Buffer.from("d0cf11e0a1b11ae1", "hex");

const broken = (what: string): NoText =>
  new NoText(
    "FILE_FORMAT_INVALID",
    `is no whole archive: ${what}. Save it anew with the program that made it.`,
  );

/**
 * Reads the directory of an archive. No file can unpack to more than the size that the directory states.
 * @throws NoText FILE_ENCRYPTED, FILE_FORMAT_INVALID, FILE_TOO_LARGE
 */
export function openArchive(bytes: Buffer, limits: TextLimits): Archive {
  if (bytes.subarray(0, COMPOUND.length).equals(COMPOUND)) throw encryptedOrOld(bytes);
  const entries = readDirectory(bytes, limits);
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total > limits.unpackedBytes) {
    throw tooMany(
      "megabytes when it is unpacked",
      limits.unpackedBytes / MEGABYTE,
      "max_unpacked_mb",
    );
  }
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const inSmall = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]));
  return {
    files: entries.map((entry) => ({ ...entry, bytes: () => unpack(bytes, entry) })),
    text(name) {
      const entry = byName.get(name) ?? inSmall.get(name.toLowerCase());
      if (entry === undefined) return undefined;
      const decoded = decodeBytes(unpack(bytes, entry));
      if (decoded === undefined) throw broken(`its part ${entry.name.slice(0, 100)} is no text`);
      return decoded.text;
    },
  };
}

const encryptedOrOld = (bytes: Buffer): NoText =>
  bytes.includes(Buffer.from("EncryptedPackage", "utf16le"))
    ? new NoText("FILE_ENCRYPTED", "is encrypted: save it without a password.")
    : new NoText("FILE_FORMAT_INVALID", "is of a format before 2007: save it in the present one.");

function readDirectory(bytes: Buffer, { entries: most }: TextLimits): Entry[] {
  const end = findEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count > most) throw tooMany("files in it", most, "max_entries");
  const entries: Entry[] = [];
  for (let index = 0; index < count; index += 1) {
    if (at + CENTRAL_BYTES > end || bytes.readUInt32LE(at) !== CENTRAL) {
      throw broken("its directory ends too early");
    }
    const nameBytes = bytes.readUInt16LE(at + 28);
    entries.push({
      name: nameOf(bytes.subarray(at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameBytes)),
      isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
    });
    at += CENTRAL_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

/** Code page 437 of DOS from 128 on, for names that are no UTF-8. */
const FROM_128 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";

/** The name of a file, with slashes between folders whatever program wrote it. */
const nameOf = (bytes: Buffer): string =>
  (isUtf8(bytes)
    ? bytes.toString("utf8")
    : Array.from(bytes, (byte) =>
        byte < 128 ? String.fromCharCode(byte) : FROM_128.charAt(byte - 128),
      ).join("")
  ).replaceAll("\\", "/");

function findEnd(bytes: Buffer): number {
  const least = Math.max(0, bytes.length - END_BYTES - LONGEST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= least; at -= 1) {
    if (bytes.readUInt32LE(at) === END) return at;
  }
  throw broken("it has no directory");
}

function unpack(bytes: Buffer, entry: Entry): Buffer {
  const { name, isEncrypted, method, crc, packed, size, offset } = entry;
  const shown = name.slice(0, 100);
  if (isEncrypted) throw new NoText("FILE_ENCRYPTED", "is encrypted: save it without a password.");
  if (offset + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(offset) !== LOCAL) {
    throw broken(`its part ${shown} is not where it says`);
  }
  const start =
    offset + LOCAL_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  const data = bytes.subarray(start, start + packed);
  const content = method === 0 ? data : inflate(data, size, shown);
  // A part that understates its size would evade the check of the total.
  if (content.length !== size) throw broken(`its part ${shown} is not as long as it says`);
  if (crc32(content) !== crc) throw broken(`its part ${shown} is damaged`);
  return content;
}

function inflate(data: Buffer, size: number, name: string): Buffer {
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw broken(`its part ${name} can't be unpacked`);
  }
}
