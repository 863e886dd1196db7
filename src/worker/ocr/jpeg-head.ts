import { BrokenHead } from "./picture-head.ts";
import type { PictureHead } from "./picture-head.ts";

const END = 0xd9;
const SCAN = 0xda;
const APP1 = 0xe1;
/** A start of frame of any coding (SOF0 to SOF15); C4, C8 and CC are other markers. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

export function readJpeg(bytes: Buffer): Omit<PictureHead, "kind"> {
  let size: readonly [width: number, height: number] | undefined;
  let orientation = 1;
  for (let at = 2; ;) {
    if (bytes.readUInt8(at) !== 0xff) throw new BrokenHead();
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) at += 1;
    else if (marker === SCAN) {
      if (size === undefined || !hasEnd(bytes, at)) throw new BrokenHead();
      return { format: "jpeg", width: size[0], height: size[1], orientation, pages: 1, bytes };
    } else {
      const length = bytes.readUInt16BE(at + 2);
      if (isFrame(marker)) {
        if (size !== undefined) throw new BrokenHead();
        size = [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
      }
      // XMP comes behind EXIF, in a segment of the same kind.
      if (marker === APP1 && orientation === 1)
        orientation = orientationOf(bytes.subarray(at + 4, at + 2 + length));
      if (length < 2 || at + 2 + length > bytes.length) throw new BrokenHead();
      at += 2 + length;
    }
  }
}

/** Looks for the end marker anywhere behind the scan: cameras append data behind it, and the thumbnail before it has its own. */
const hasEnd = (bytes: Buffer, scan: number): boolean =>
  bytes.lastIndexOf(Buffer.from([0xff, END])) > scan;

const ORIENTATION = 0x0112;

/** The orientation that EXIF gives; 1 (upright) if it gives none that can be read. */
function orientationOf(segment: Buffer): number {
  if (segment.toString("latin1", 0, 6) !== "Exif\0\0") return 1;
  const tiff = segment.subarray(6);
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const long = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  try {
    const first = long(4);
    for (let entry = 0; entry < short(first); entry += 1) {
      const at = first + 2 + entry * 12;
      if (short(at) !== ORIENTATION) continue;
      const value = short(at + 8);
      return value >= 1 && value <= 8 ? value : 1;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return 1;
}
