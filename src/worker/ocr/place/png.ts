import { crc32, deflateSync } from "node:zlib";

export type GreyPicture = {
  readonly width: number;
  readonly height: number;
  /** One byte per pixel; 0 is black. */
  readonly pixels: Uint8Array;
};

/** Encodes a grey picture as PNG (ISO/IEC 15948). */
export function greyPng({ width, height, pixels }: GreyPicture): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Bits per pixel; the colour type behind it stays 0: grey.
  head.writeUInt8(8, 8);
  // Each row begins with its filter type, 0: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row += 1) {
    rows.set(pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
