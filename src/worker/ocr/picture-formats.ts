import { BrokenHead, RefusedPicture } from "./picture-head.ts";
import type { PictureHead } from "./picture-head.ts";

type Head = Omit<PictureHead, "kind">;

function assertWhole(isWhole: boolean): void {
  if (!isWhole) throw new BrokenHead();
}

const UPRIGHT = { orientation: 1, pages: 1 };
const PNG_SIGNATURE = 8;
/** Bytes of length, name and checksum of a chunk. */
const PNG_FRAME = 12;

export function readPng(bytes: Buffer): Head {
  assertWhole(bytes.readUInt32BE(PNG_SIGNATURE) === 13 && nameAt(bytes, 12) === "IHDR");
  let at = PNG_SIGNATURE;
  let name = "";
  let heads = 0;
  while (name !== "IEND") {
    name = nameAt(bytes, at + 4);
    if (name === "IHDR") heads += 1;
    at += PNG_FRAME + bytes.readUInt32BE(at);
    assertWhole(at <= bytes.length);
  }
  assertWhole(heads === 1);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  return { format: "png", width, height, ...UPRIGHT, bytes };
}

const nameAt = (bytes: Buffer, at: number): string => bytes.toString("latin1", at, at + 4);

export function readBmp(bytes: Buffer): Head {
  const isOld = bytes.readUInt32LE(14) === 12;
  const width = isOld ? bytes.readUInt16LE(18) : bytes.readInt32LE(18);
  const height = Math.abs(isOld ? bytes.readUInt16LE(20) : bytes.readInt32LE(22));
  const bits = bytes.readUInt16LE(isOld ? 24 : 28);
  if (!isOld && bytes.readUInt32LE(30) !== 0) {
    throw new RefusedPicture("is a compressed BMP, which is not read: save it as PNG.");
  }
  const row = Math.ceil((width * bits) / 32) * 4;
  const isSane = width > 0 && [1, 2, 4, 8, 16, 24, 32].includes(bits);
  // A huge picture is refused later for its size, not here for its missing bytes.
  const isHuge = row * height > bytes.length && width * height > bytes.length * 64;
  assertWhole(isSane && (isHuge || bytes.readUInt32LE(10) + row * height <= bytes.length));
  return { format: "bmp", width, height, ...UPRIGHT, bytes };
}

/** Bytes of the colour table, whose size the lowest three bits give. */
const colours = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

export function readGif(bytes: Buffer): Head {
  const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  let at = 13 + colours(bytes.readUInt8(10));
  let frames = 0;
  for (let kind = bytes.readUInt8(at); kind !== 0x3b; kind = bytes.readUInt8(at)) {
    if (kind === 0x21) at += 2;
    else if (kind === 0x2c) {
      frames += 1;
      const right = bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5);
      const bottom = bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7);
      assertWhole(right <= width && bottom <= height);
      at += 11 + colours(bytes.readUInt8(at + 9));
    } else throw new BrokenHead();
    for (let size = bytes.readUInt8(at); size !== 0; size = bytes.readUInt8(at)) at += size + 1;
    at += 1;
  }
  if (frames > 1) throw animated("GIF", `of ${frames} frames`);
  assertWhole(frames === 1);
  return { format: "gif", width, height, ...UPRIGHT, bytes };
}

const animated = (format: string, more: string): RefusedPicture =>
  new RefusedPicture(
    `is an animated ${format} ${more}, which is not read: save the frame you need as PNG.`,
  );

const ANIMATION = 0x02;

export function readWebp(bytes: Buffer): Head {
  assertWhole(bytes.readUInt32LE(4) + 8 <= bytes.length);
  let canvas: readonly [number, number] | undefined;
  for (let at = 12; ; at += 8 + Math.ceil(bytes.readUInt32LE(at + 4) / 2) * 2) {
    const name = nameAt(bytes, at);
    assertWhole(at + 8 + bytes.readUInt32LE(at + 4) <= bytes.length);
    if (name === "VP8X") {
      if ((bytes.readUInt8(at + 8) & ANIMATION) !== 0) throw animated("WebP", "of several frames");
      canvas = [bytes.readUIntLE(at + 12, 3) + 1, bytes.readUIntLE(at + 15, 3) + 1];
    }
    if (name !== "VP8 " && name !== "VP8L") continue;
    const [width, height] =
      name === "VP8 " ? lossySize(bytes, at + 8) : losslessSize(bytes, at + 8);
    assertWhole(canvas === undefined || (canvas[0] === width && canvas[1] === height));
    return { format: "webp", width, height, ...UPRIGHT, bytes };
  }
}

function lossySize(bytes: Buffer, at: number): readonly [number, number] {
  assertWhole(bytes.readUIntBE(at + 3, 3) === 0x9d012a);
  return [bytes.readUInt16LE(at + 6) & 0x3fff, bytes.readUInt16LE(at + 8) & 0x3fff];
}

function losslessSize(bytes: Buffer, at: number): readonly [number, number] {
  assertWhole(bytes.readUInt8(at) === 0x2f);
  const bits = bytes.readUInt32LE(at + 1);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}
