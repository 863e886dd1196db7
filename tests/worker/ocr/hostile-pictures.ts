// Heads that promise far more than they hold, and files that end early.

function chunk(name: string, data: Buffer): Buffer {
  const framed = Buffer.concat([Buffer.alloc(4), Buffer.from(name), data, Buffer.alloc(4)]);
  framed.writeUInt32BE(data.length);
  return framed;
}

export function pngOf(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", Buffer.alloc(40)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

export function jpegOf(width: number, height: number): Buffer {
  const head = Buffer.from("ffd8ffc0000b080000000001011100ffda0008010100003f00ffd9", "hex");
  head.writeUInt16BE(height, 7);
  head.writeUInt16BE(width, 9);
  return head;
}

/** A JPEG with these APP1 segments, where cameras and programs write EXIF and XMP. */
export function withSegments(jpeg: Buffer, ...contents: readonly Buffer[]): Buffer {
  const segments = contents.map((content) => {
    const head = Buffer.from([0xff, 0xe1, 0, 0]);
    head.writeUInt16BE(content.length + 2, 2);
    return Buffer.concat([head, content]);
  });
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

export function gifOf(width: number, height: number, frames: number): Buffer {
  const head = Buffer.from("GIF89a\0\0\0\0\0\0\0", "latin1");
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  const frame = Buffer.from("2c000000000100010000020144003b", "hex").subarray(0, -1);
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(";")]);
}

export function bmpOf(width: number, height: number): Buffer {
  const head = Buffer.alloc(54);
  head.write("BM");
  head.writeUInt32LE(54, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(24, 28);
  return head;
}

export function webpOf(width: number, height: number): Buffer {
  const head = Buffer.alloc(30);
  head.write("RIFF");
  head.writeUInt32LE(22, 4);
  head.write("WEBPVP8L", 8);
  head.writeUInt32LE(10, 16);
  head[20] = 0x2f;
  head.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 21);
  return head;
}

/** Frames of one strip each, every one with these sides; the last one leads on to `next`. */
export function tiffOf(width: number, height: number, frames: number, next = 0): Buffer {
  const tags = [
    ...[
      [256, width],
      [257, height],
      [258, 1],
      [259, 1],
      [262, 0],
      [273, 0],
      [277, 1],
      [279, 8],
    ],
  ] as const;
  const bytes = 2 + tags.length * 12 + 4;
  const file = Buffer.alloc(8 + frames * bytes);
  file.write("II*\0", "latin1");
  file.writeUInt32LE(8, 4);
  for (let frame = 0; frame < frames; frame += 1) {
    const start = 8 + frame * bytes;
    file.writeUInt16LE(tags.length, start);
    tags.forEach(([tag = 0, value = 0], at) => {
      const place = start + 2 + at * 12;
      file.writeUInt16LE(tag, place);
      file.writeUInt16LE(4, place + 2);
      file.writeUInt32LE(1, place + 4);
      file.writeUInt32LE(value, place + 8);
    });
    file.writeUInt32LE(frame === frames - 1 ? next : start + bytes, start + bytes - 4);
  }
  return file;
}

/** A page of so many points, with an image that claims its own sides and holds nothing. */
export function pdfOf(points: number, image?: readonly [number, number]): Buffer {
  const [width, height] = image ?? [1, 1];
  const draw = image === undefined ? "" : `q ${points} 0 0 ${points} 0 0 cm /I Do Q`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${points} ${points}] /Resources << /XObject << /I 4 0 R >> >> /Contents 5 0 R >>`,
    `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /JBIG2Decode /Length 4 >>\nstream\nabcd\nendstream`,
    `<< /Length ${draw.length} >>\nstream\n${draw}\nendstream`,
  ];
  const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join("");
  return Buffer.from(`%PDF-1.4\n${body}trailer\n<< /Size 6 /Root 1 0 R >>\n%%EOF\n`, "latin1");
}
