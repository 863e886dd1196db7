import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeObjects } from "../../tests/support/format-writers.ts";

/** What a scanner gives: a file of a picture, grey bytes, or bits. */
export type Scan = {
  readonly wide: number;
  readonly high: number;
  readonly data: Buffer;
  readonly dpi: readonly [across: number, down: number];
};

/** Each carrier: the form of its scan, and how scans become a file. Ghostscript packs bits, OpenJPEG JPX; no program here writes JBIG2. */
export const CARRIERS = {
  jpeg: { form: "image/jpeg", ending: "jpg", write: picture },
  png: { form: "image/png", ending: "png", write: picture },
  webp: { form: "image/webp", ending: "webp", write: picture },
  tiff: { form: "bits", ending: "tif", write: tiff },
  pdf: {
    form: "image/jpeg",
    ending: "pdf",
    write: (scans) => pdf(scans, "/DCTDecode", "/DeviceRGB"),
  },
  /** Text of the page itself beside the picture, as a browser prints it. */
  "text pdf": { form: "image/jpeg", ending: "pdf", write: picture },
  "ccitt pdf": { form: "bits", ending: "pdf", write: ccittPdf },
  "jpx pdf": { form: "grey", ending: "pdf", write: jpxPdf },
} as const satisfies Record<string, Carrier>;

type Carrier = {
  readonly form: string;
  readonly ending: string;
  readonly write: (scans: readonly Scan[]) => Buffer;
};
export type CarrierName = keyof typeof CARRIERS;

function picture([scan]: readonly Scan[]): Buffer {
  if (scan === undefined) throw new Error("A picture is made of one scan.");
  return scan.data;
}

function pdf(scans: readonly Scan[], filter: string, colours: string): Buffer {
  const bits = filter === "" ? 1 : 8;
  const pages = scans.flatMap(({ wide, high, data, dpi: [across, down] }, at) => {
    const [width, height] = [(wide * 72) / across, (high * 72) / down];
    const content = `${width} 0 0 ${height} 0 0 cm /I Do`;
    const packed = filter === "" ? "" : `/Filter ${filter}`;
    return [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${4 + at * 3} 0 R /Resources << /XObject << /I ${5 + at * 3} 0 R >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      `<< /Type /XObject /Subtype /Image /Width ${wide} /Height ${high} /BitsPerComponent ${bits} /ColorSpace ${colours} ${packed} /Length ${data.length} >>\nstream\n${data.toString("latin1")}\nendstream`,
    ];
  });
  const kids = scans.map((_, at) => `${3 + at * 3} 0 R`).join(" ");
  const count = `<< /Type /Pages /Count ${scans.length} /Kids [${kids}] >>`;
  return writeObjects(["<< /Type /Catalog /Pages 2 0 R >>", count, ...pages], "");
}

function tiff(scans: readonly Scan[]): Buffer {
  const [{ wide, high, dpi } = { wide: 0, high: 0, dpi: [1, 1] as const }] = scans;
  const size = [`-r${dpi.join("x")}`, `-g${wide}x${high}`, "-dFIXEDMEDIA"];
  const file = ghostscript(scans, ["-sDEVICE=tiffg4", "-dMaxStripSize=0", ...size]);
  // Of the day that it was written.
  const day = /\d{4}:\d\d:\d\d \d\d:\d\d:\d\d/.exec(file.toString("latin1"));
  if (day !== null) file.write("2026:01:01 00:00:00", day.index, "latin1");
  return file;
}

function ccittPdf(scans: readonly Scan[]): Buffer {
  return ghostscript(scans, [
    ...["-sDEVICE=pdfwrite", "-dDownsampleMonoImages=false", "-dMonoImageFilter=/CCITTFaxEncode"],
    "-dOmitInfoDate=true",
    "-dOmitID=true",
    "-dOmitXMP=true",
  ]);
}

function ghostscript(scans: readonly Scan[], words: readonly string[]): Buffer {
  return inScratch((folder) => {
    const [from, to] = [join(folder, "bits.pdf"), join(folder, "out")];
    writeFileSync(from, pdf(scans, "", "/DeviceGray"));
    execFileSync("gs", ["-q", "-dBATCH", "-dNOPAUSE", ...words, `-sOutputFile=${to}`, from]);
    return readFileSync(to);
  });
}

function jpxPdf(scans: readonly Scan[]): Buffer {
  const packed = scans.map((scan) =>
    inScratch((folder) => {
      const [from, to] = [join(folder, "grey.pgm"), join(folder, "out.jp2")];
      const head = Buffer.from(`P5\n${scan.wide} ${scan.high}\n255\n`);
      writeFileSync(from, Buffer.concat([head, scan.data]));
      execFileSync("opj_compress", ["-i", from, "-o", to, "-r", "16"], { stdio: "ignore" });
      return { ...scan, data: readFileSync(to) };
    }),
  );
  return pdf(packed, "/JPXDecode", "/DeviceGray");
}

function inScratch<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "scan-"));
  try {
    return run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
