import { writeObjects } from "./format-writers.ts";

type ScannedPage = {
  readonly jpeg: Buffer;
  /** Of the picture, in pixels. */
  readonly width: number;
  readonly height: number;
  /** Of the text that the scanner laid over it, unpainted, from top to bottom. */
  readonly lines: readonly string[];
};

/** A PDF of pages as copiers write them: a picture all over the page, and what they read of it as text that is not painted. */
export function writeSearchablePdf(pages: readonly ScannedPage[]): Buffer {
  const kids = pages.map((_, at) => `${FIRST_PAGE + at * 3} 0 R`).join(" ");
  return writeObjects([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    "<< /Producer (Copier) >>",
    ...pages.flatMap(pageObjects),
  ]);
}

const FIRST_PAGE = 5;
const POINTS_OF_A_PIXEL = 72 / 150;

function pageObjects({ jpeg, width, height, lines }: ScannedPage, at: number): string[] {
  const [wide, high] = [width * POINTS_OF_A_PIXEL, height * POINTS_OF_A_PIXEL];
  const down = high / (lines.length + 1);
  const layer = lines.map(
    (line, row) =>
      `1 0 0 1 40 ${high - down * (row + 1)} Tm (${line.replaceAll(/[()\\]/g, "\\$&")}) Tj`,
  );
  const content = `q ${wide} 0 0 ${high} 0 0 cm /I Do Q\nBT /F1 9 Tf 3 Tr ${layer.join(" ")} ET`;
  const own = FIRST_PAGE + at * 3;
  return [
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${wide} ${high}] /Contents ${own + 1} 0 R ` +
      `/Resources << /Font << /F1 3 0 R >> /XObject << /I ${own + 2} 0 R >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 ` +
      `/ColorSpace /DeviceRGB /Filter /DCTDecode /Length ${jpeg.length} >>\nstream\n${jpeg.toString("latin1")}\nendstream`,
  ];
}
