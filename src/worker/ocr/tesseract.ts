import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { PixelBox } from "../../shared/pages/page-record.ts";

type Pointer = object;

/** Tesseract's own names; only the functions and fields that are used. */
type BaseApi = {
  Init(folder: string, languages: string, mode: number): number;
  SetVariable(name: string, value: string): boolean;
  SetImageFile(orientation: number, angle: number, upright: boolean): number;
  Recognize(monitor: null): number;
  GetJSONText(page: number): string;
  GetThresholdedImage(): Pointer;
  /** Writes PNG into the file DRAWN; kind 2 is black and white. */
  WriteImage(kind: number): void;
  DetectOS(results: Pointer): boolean;
  Clear(): void;
  Version(): string;
};

type Core = {
  readonly FS: {
    writeFile(path: string, bytes: Uint8Array): void;
    readFile(path: string): Uint8Array;
    unlink(path: string): void;
    mkdir(path: string): void;
  };
  readonly TessBaseAPI: new () => BaseApi;
  readonly OSResults: new () => { readonly best_result: { readonly orientation_id: number } };
  getPointer(object: Pointer): number;
  getValue(place: number, type: "i32"): number;
  setValue(place: number, value: number, type: "i32"): void;
  destroy(object: Pointer): void;
  _malloc(bytes: number): number;
  _free(place: number): void;
  /** @param place where the pointer to the picture stands, as Leptonica's pixDestroy takes it */
  _pixDestroy(place: number): void;
};

type Start = (options: object) => Promise<Core>;

/** Builds of the core; only "simd" can detect how a page is rotated. */
type Build = "simd-lstm" | "simd";

/** Tesseract's engine modes: 1 neural, 0 legacy. */
const ENGINE_MODE: Readonly<Record<Build, number>> = { "simd-lstm": 1, simd: 0 };

export type EngineWord = {
  readonly text: string;
  readonly box: PixelBox;
  readonly confidence: number;
  /** Pixels from the top to its baseline, if lines were level. */
  readonly base: number;
  /** Height of its line in pixels. */
  readonly lineHeight: number;
};

/** One bit per pixel, set where there is ink; 32 bits in a number, the highest bit leftmost. */
export type Ink = {
  readonly width: number;
  readonly height: number;
  readonly perRow: number;
  readonly words: Int32Array;
};

export type EngineReading = {
  readonly words: readonly EngineWord[];
  readonly ink: Ink;
  /** Angle of the lines in degrees clockwise, -180 to 180. */
  readonly lean: number;
};

/** Tesseract's page segmentation: 3 finds the parts of a page, 6 takes it as one block of lines. */
export type PageMode = 3 | 6;

export type Picture = {
  readonly bytes: Buffer;
  /** The EXIF orientation. */
  readonly orientation: number;
};

/** A picture that Leptonica can't decode. */
export class UndecodedPicture extends Error {}

export type Engine = {
  /** The version of Tesseract, and each model with the first 8 hex digits of its SHA-256. */
  readonly name: string;
  readonly read: (picture: Picture, mode: PageMode) => EngineReading;
  /** Degrees by which to turn a picture clockwise to make it upright. */
  readonly findTurn: (picture: Picture) => 0 | 90 | 180 | 270;
  /** A PNG of the picture in the black and white that Tesseract reads. */
  readonly draw: (picture: Picture) => Uint8Array;
};

const INPUT = "/input";
const DRAWN = "/image.png";
const BLACK_AND_WHITE = 2;

async function startCore(folder: string, build: Build): Promise<Core> {
  const path = join(folder, `tesseract-core-${build}`);
  const start = createRequire(import.meta.url)(`${path}.js`) as Start;
  const wasmBinary = readFileSync(`${path}.wasm`);
  // It prints guesses of the resolution, and faults that its functions also return.
  const silent = () => undefined;
  return start({ wasmBinary, print: silent, printErr: silent });
}

/**
 * Starts Tesseract with one model per language.
 * @param folder of the package of its core
 */
export async function startEngine(
  folder: string,
  models: readonly (readonly [language: string, file: string])[],
  build: Build = "simd-lstm",
): Promise<Engine> {
  const core = await startCore(folder, build);
  const api = new core.TessBaseAPI();
  core.FS.mkdir("/models");
  const names = models.map(([language, file]) => {
    const read = readFileSync(file);
    const model = file.endsWith(".gz") ? gunzipSync(read) : read;
    core.FS.writeFile(`/models/${language}.traineddata`, model);
    return `${language} ${hash("sha256", model).slice(0, 8)}`;
  });
  const languages = models.map(([language]) => language);
  if (api.Init("/models", languages.join("+"), ENGINE_MODE[build]) !== 0) {
    throw new Error(
      `no model of Tesseract: ${models.map(([, file]) => basename(file)).join(", ")}`,
    );
  }
  for (const language of languages) core.FS.unlink(`/models/${language}.traineddata`);
  const loadImage = ({ bytes, orientation }: Picture): void => {
    core.FS.writeFile(INPUT, bytes);
    const failed = api.SetImageFile(orientation, 0, false);
    core.FS.unlink(INPUT);
    if (failed !== 0) throw new UndecodedPicture();
  };
  return {
    name: `${api.Version()}: ${names.join(", ")}`,
    read: (picture, mode) => {
      api.SetVariable("tessedit_pageseg_mode", String(mode));
      loadImage(picture);
      if (api.Recognize(null) !== 0) throw new UndecodedPicture();
      const reading = { ...readLines(api.GetJSONText(0)), ink: inkOf(core, api) };
      api.Clear();
      return reading;
    },
    findTurn: (picture) => {
      loadImage(picture);
      const results = new core.OSResults();
      const turns = api.DetectOS(results) ? results.best_result.orientation_id : 0;
      core.destroy(results);
      api.Clear();
      return ([0, 270, 180, 90] as const)[turns] ?? 0;
    },
    draw: (picture) => {
      loadImage(picture);
      api.WriteImage(BLACK_AND_WHITE);
      api.Clear();
      return core.FS.readFile(DRAWN);
    },
  };
}

type Corners = {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
};
type JsonWord = { readonly bbox: Corners; readonly text: string; readonly confidence: number };
type JsonLine = {
  readonly baseline: Corners;
  readonly rowAttributes: { readonly rowHeight: number };
  readonly words: readonly JsonWord[];
};
type JsonPage = {
  readonly blocks?: readonly {
    readonly paragraphs?: readonly { readonly lines?: readonly JsonLine[] }[];
  }[];
};

function readLines(json: string): Pick<EngineReading, "words" | "lean"> {
  const { blocks = [] } = JSON.parse(json) as JsonPage;
  const lines = blocks.flatMap(({ paragraphs = [] }) =>
    paragraphs.flatMap((paragraph) => paragraph.lines ?? []),
  );
  const [along, down] = lines.reduce(
    ([x, y], { baseline }) => [x + baseline.x1 - baseline.x0, y + baseline.y1 - baseline.y0],
    [0, 0],
  );
  const lean = (Math.atan2(down, along) * 180) / Math.PI;
  // Vertical lines have no slope; the page is turned and read again.
  const slope = along === 0 ? 0 : down / along;
  const words = lines.flatMap(({ baseline, rowAttributes, words: own }) =>
    own.flatMap(({ bbox, text, confidence }): EngineWord[] => {
      const { x0, y0, x1, y1 } = bbox;
      const base = (baseline.y0 + baseline.y1) / 2 - (slope * (baseline.x0 + baseline.x1)) / 2;
      const word = text.trim();
      const { rowHeight } = rowAttributes;
      return word === ""
        ? []
        : [{ text: word, box: [x0, y0, x1, y1], confidence, base, lineHeight: rowHeight }];
    }),
  );
  return { words, lean };
}

/** Byte offsets in Leptonica's Pix. */
const PIX = { width: 0, height: 4, perRow: 16, bits: 48 };

function inkOf(core: Core, api: BaseApi): Ink {
  const pix = core.getPointer(api.GetThresholdedImage());
  const readNumber = (place: number): number => core.getValue(place, "i32");
  const [width, height, perRow] = [
    readNumber(pix + PIX.width),
    readNumber(pix + PIX.height),
    readNumber(pix + PIX.perRow),
  ];
  const bits = readNumber(pix + PIX.bits);
  const words = Int32Array.from({ length: perRow * height }, (_, at) => readNumber(bits + at * 4));
  destroyPix(core, pix);
  return { width, height, perRow, words };
}

/** The caller owns the picture that Tesseract returns: half a megabyte a page, which its memory would keep for good. */
function destroyPix(core: Core, pix: number): void {
  const place = core._malloc(4);
  core.setValue(place, pix, "i32");
  core._pixDestroy(place);
  core._free(place);
}
