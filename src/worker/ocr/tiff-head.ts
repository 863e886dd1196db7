import { BrokenHead, RefusedPicture } from "./picture-head.ts";
import type { PictureHead } from "./picture-head.ts";

const MOST_FRAMES = 5_000;
const BIG = 0x2b;
/** Tags: sides, bits per sample, offsets and lengths of strips or tiles, samples per pixel. */
const TAG = {
  ...{ width: 256, height: 257, bits: 258, coding: 259 },
  ...{ strips: 273, samples: 277, lengths: 279 },
} as const;
const TILES = { strips: 324, lengths: 325 } as const;
/** Bytes of a value by its type (short, long). These tags have no other type. */
const TYPE_BYTES: Readonly<Record<number, number>> = { 3: 2, 4: 4 };

/** Reads the head of a frame, and returns a copy of the file whose header points to that frame as the first one. */
export function readTiff(bytes: Buffer, page: number): Omit<PictureHead, "kind"> {
  const isLittle = bytes.readUInt8(0) === 0x49;
  const short = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  if (short(2) === BIG) {
    throw new RefusedPicture("is a BigTIFF, which is not read: save it as TIFF or PNG.");
  }
  const frames = framesOf({ short, long });
  const frame = frames[page - 1];
  if (frame === undefined) {
    throw new RefusedPicture(`has ${frames.length} frames, and none of number ${page}.`);
  }
  const valuesOf = (tag: number) => readValues({ short, long }, frame, tag);
  const [width = 0] = valuesOf(TAG.width);
  const [height = 0] = valuesOf(TAG.height);
  const [samples = 1] = valuesOf(TAG.samples);
  if (samples > 4 || valuesOf(TAG.bits).some((bits) => bits > 16)) {
    throw new RefusedPicture("has more than four colours of 16 bits: save it as PNG or JPEG.");
  }
  if (!CODINGS.has(valuesOf(TAG.coding)[0] ?? 1)) {
    throw new RefusedPicture(
      "is a TIFF of a coding that is not read, such as ZIP: save it with LZW or as PNG.",
    );
  }
  const places = [...valuesOf(TAG.strips), ...valuesOf(TILES.strips)];
  const lengths = [...valuesOf(TAG.lengths), ...valuesOf(TILES.lengths)];
  const isWhole =
    places.length > 0 &&
    places.length === lengths.length &&
    places.every((place, at) => place + (lengths[at] ?? 0) <= bytes.length);
  if (!isWhole) throw new BrokenHead();
  const own = Buffer.from(bytes);
  if (isLittle) own.writeUInt32LE(frame, 4);
  else own.writeUInt32BE(frame, 4);
  return { format: "tiff", width, height, orientation: 1, pages: frames.length, bytes: own };
}

/** Compressions: none, CCITT, LZW, JPEG, PackBits. */
const CODINGS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 7, 32_773]);

type Numbers = {
  readonly short: (at: number) => number;
  readonly long: (at: number) => number;
};

function framesOf({ short, long }: Numbers): number[] {
  const frames: number[] = [];
  const seen = new Set<number>();
  for (let at = long(4); at !== 0; at = long(at + 2 + short(at) * 12)) {
    if (seen.has(at) || short(at) === 0) throw new BrokenHead();
    seen.add(at);
    frames.push(at);
    if (frames.length > MOST_FRAMES) {
      throw new RefusedPicture(`has more than ${MOST_FRAMES} frames: split it into several files.`);
    }
  }
  return frames;
}

function readValues({ short, long }: Numbers, frame: number, tag: number): number[] {
  for (let entry = 0; entry < short(frame); entry += 1) {
    const at = frame + 2 + entry * 12;
    if (short(at) !== tag) continue;
    const [type, count] = [short(at + 2), long(at + 4)];
    const size = TYPE_BYTES[type];
    if (size === undefined || count > MOST_VALUES) throw new BrokenHead();
    const first = size * count <= 4 ? at + 8 : long(at + 8);
    return Array.from({ length: count }, (_, index) =>
      size === 4 ? long(first + index * 4) : short(first + index * size),
    );
  }
  return [];
}

/** Enough for one-row strips of the tallest picture, and for tiles of 16 pixels of the largest. */
const MOST_VALUES = 200_000;
