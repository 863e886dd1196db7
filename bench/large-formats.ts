// What the process of the parsers holds at most for a file of SIZE MiB (64) of each format, and what came of it:
//   node --import ./bench/register.js bench/large-formats.ts [SIZE] [NAME…]
// The limits are those of configs/default.yaml but for the time, and each file has a process of its own. Text is read by the
// process that asks, whose own memory is given for it.

import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { extractTextBy } from "../src/worker/documents/formats/registry.ts";
import { openDocumentReader } from "../src/worker/documents/reader/reader.ts";
import {
  MAIL_HEAD,
  paragraph,
  run,
  writeDocx,
  writeMail,
  writeMailbox,
  writeObjects,
  writeXlsx,
  writeZip,
} from "../tests/support/format-writers.ts";
import { READER_LIMITS } from "../tests/support/read-documents.ts";

const MEBIBYTE = 1_048_576;
const limits = { ...READER_LIMITS, text: { ...READER_LIMITS.text, chars: 10 * MEBIBYTE } };
const size = Number(process.argv[2] ?? 64) * MEBIBYTE;
const wanted = process.argv.slice(3);

const SENTENCE =
  "The harbour master counted 412 crates of herring before the ferry left pier two. ";
const words = (bytes: number, end = "\n"): string =>
  (SENTENCE + end).repeat(Math.floor(bytes / (SENTENCE.length + end.length)));
const noise = (bytes: number): Buffer => randomBytes(Math.max(0, Math.floor(bytes)));
/** Words of no use to a compressor. */
const coded = (bytes: number): string => noise((bytes * 3) / 4).toString("base64");
const mail = (text: string, attached = 0): Buffer =>
  writeMail({
    ...MAIL_HEAD,
    text,
    attachments:
      attached === 0 ? [] : [{ name: "a.png", type: "image/png", content: noise(attached) }],
  });
const mailbox = (one: Buffer): Buffer => {
  const box = writeMailbox([one]);
  return Buffer.concat(Array.from({ length: Math.floor(size / box.length) }, () => box));
};
const picturePdf = (pictures: number): Buffer => {
  const image = (bytes: number): string =>
    `<< /Type /XObject /Subtype /Image /Width 1000 /Height 1000 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /DCTDecode /Length ${bytes} >>\nstream\n${noise(bytes).toString("latin1")}\nendstream`;
  const text = "BT /F1 12 Tf 50 700 Td (The ferry leaves pier two.) Tj ET";
  return writeObjects(
    [
      "<< /Type /Catalog /Pages 2 0 R >>",
      `<< /Type /Pages /Count ${pictures} /Kids [${Array.from({ length: pictures }, (_, at) => `${5 + at * 3} 0 R`).join(" ")}] >>`,
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
      "<< >>",
      ...Array.from({ length: pictures }, (_, at) => [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${6 + at * 3} 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /I ${7 + at * 3} 0 R >> >> >>`,
        `<< /Length ${text.length + 26} >>\nstream\n${text} q 90 0 0 90 0 0 cm /I Do Q\nendstream`,
        image(size / pictures),
      ]).flat(),
    ],
    "",
  );
};

const FILES: Readonly<Record<string, () => readonly [path: string, bytes: Buffer]>> = {
  "txt: words": () => ["a.txt", Buffer.from(words(size))],
  "txt: windows-1250": () => ["a.txt", Buffer.from(words(size).replaceAll("o", "\xf3"), "latin1")],
  "csv: short rows": () => [
    "a.csv",
    Buffer.from(`a,b,c\n${"12,herring,3.50\n".repeat(size / 16)}`),
  ],
  "csv: codes": () => ["a.csv", Buffer.from(`a,b\n${`${coded(900)},1\n`.repeat(size / 904)}`)],
  "html: words": () => ["a.html", Buffer.from(`<p>${words(size, "<p>")}`)],
  "html: pictures": () => [
    "a.html",
    Buffer.from(
      `<p>${SENTENCE}<img src="data:image/png;base64,${coded(MEBIBYTE)}">`.repeat(size / MEBIBYTE),
    ),
  ],
  "docx: pictures": () => [
    "a.docx",
    withParts(writeDocx({ body: paragraph(run(SENTENCE)) }), "word/media"),
  ],
  "docx: words": () => ["a.docx", writeDocx({ body: paragraph(run(coded(size))) })],
  "xlsx: pictures": () => [
    "a.xlsx",
    withParts(writeXlsx([{ name: "A", rows: [["a", "b"]] }]), "xl/media"),
  ],
  "xlsx: codes": () => [
    "a.xlsx",
    writeXlsx([
      { name: "A", rows: Array.from({ length: size / 12_000 }, () => [coded(12_000), 1]) },
    ]),
  ],
  "pdf: pictures": () => ["a.pdf", picturePdf(16)],
  "pdf: one picture": () => ["a.pdf", picturePdf(1)],
  "eml: one attachment": () => ["a.eml", mail(SENTENCE, (size * 74) / 104)],
  "eml: words": () => ["a.eml", mail(words(size))],
  "mbox: words": () => ["a.mbox", mailbox(mail(words(2_000)))],
  "mbox: attachments": () => ["a.mbox", mailbox(mail(SENTENCE, MEBIBYTE))],
  "zip: pictures": () => [
    "a.zip",
    writeZip(
      Array.from({ length: 64 }, (_, at) => ({ name: `${at}.png`, content: noise(size / 64) })),
    ),
  ],
};

/** A package with pictures beside its parts, whose directory comes last. */
function withParts(packed: Buffer, folder: string): Buffer {
  const parts = unzip(packed);
  return writeZip([
    ...parts,
    ...Array.from({ length: 16 }, (_, at) => ({
      name: `${folder}/image${at}.png`,
      content: noise(size / 16),
    })),
  ]);
}

function unzip(bytes: Buffer): { name: string; content: Buffer }[] {
  const parts: { name: string; content: Buffer }[] = [];
  for (let at = 0; bytes.readUInt32LE(at) === 0x04034b50;) {
    const [packed, named] = [bytes.readUInt32LE(at + 18), bytes.readUInt16LE(at + 26)];
    const start = at + 30 + named;
    const name = bytes.toString("utf8", at + 30, start);
    parts.push({ name, content: inflateRawSync(bytes.subarray(start, start + packed)) });
    at = start + packed;
  }
  return parts;
}

const earlier = new Set<string>();

/** Of the child that has come last. @param pids of those that it is none of */
function peakOfChild(pids: ReadonlySet<string>): number {
  const peaks = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || pids.has(name)) return [];
    try {
      const status = readFileSync(join("/proc", name, "status"), "latin1");
      const isChild = Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]) === process.pid;
      return isChild ? [Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)] : [];
    } catch {
      return [];
    }
  });
  return Math.max(0, ...peaks) * 1_024;
}

for (const [name, write] of Object.entries(FILES)) {
  if (wanted.length > 0 && !wanted.some((one) => name.startsWith(one))) continue;
  const [path, bytes] = write();
  for (const pid of readdirSync("/proc")) earlier.add(pid);
  const extract = extractTextBy(openDocumentReader({ ...limits, timeoutMs: 600_000 }), {
    mostChars: limits.text.chars,
  });
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOfChild(earlier));
  }, 20);
  const startedAt = performance.now();
  const read = await extract(path, bytes);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  peak = Math.max(peak, peakOfChild(earlier));
  clearInterval(timer);
  const own = peak === 0 ? `${Math.round(process.memoryUsage.rss() / 1e6)} here` : "";
  const came =
    read.kind === "text"
      ? `${read.text.length.toLocaleString("en-US")} characters`
      : `${read.code}: ${read.why}`;
  console.log(
    `${name.padEnd(20)} ${(bytes.length / MEBIBYTE).toFixed(0).padStart(3)} MiB ${String(Math.round(peak / 1e6)).padStart(5)} MB ${own} ${seconds} s  ${came}`,
  );
}
process.exit(0);
