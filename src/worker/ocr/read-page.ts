import { NoText } from "../documents/reader/text-builder.ts";
import { heightOf, LONGEST_STROKE, unreadShare, withoutGiants } from "./left-ink.ts";
import type { PageRecord, ReadLine, Turn } from "../../shared/pages/page-record.ts";
import type { PageOutcome, PageRequest, ReadPageOutcome, UnreadablePage } from "./page-outcome.ts";
import { cutOutsOf } from "./cut-outs.ts";
import { drawPdfPage } from "./pdf-pages.ts";
import { unreadable } from "./picture-head.ts";
import type { OcrPlaces } from "./places.ts";
import { isPdf, readPictureHead } from "./read-head.ts";
import { inReadingOrder } from "./reading-order.ts";
import { startEngine, UndecodedPicture } from "./tesseract.ts";
import type { Engine, EngineReading, EngineWord, PageMode, Picture } from "./tesseract.ts";
import { judgeFigures } from "./two-readers.ts";
import type { JudgedWord } from "./two-readers.ts";
import { drawWithoutRules } from "./without-rules.ts";

// Runs in the process with limited rights: page-reader.ts names the function to call.

export type PageOptions = Omit<PageRequest, "bytes"> & { readonly places: OcrPlaces };
type LoadedPicture = Picture & Pick<PageRecord, "picture">;

export async function readPageHere(bytes: Buffer, options: PageOptions): Promise<PageOutcome> {
  const shown = await loadPicture(bytes, options);
  if ("kind" in shown) return shown;
  try {
    const { first, second } = await enginesOf(options);
    return await readLoaded(shown, { first, second, options });
  } catch (error) {
    if (!(error instanceof UndecodedPicture)) throw error;
    return unreadable("can't be decoded: save it anew with the program that made it, or as PNG.");
  } finally {
    // The memory of an engine never shrinks.
    if (shown.picture.width * shown.picture.height > LARGE) engines.clear();
  }
}

const LARGE = 12_000_000;

async function loadPicture(
  bytes: Buffer,
  { page, places }: PageOptions,
): Promise<LoadedPicture | UnreadablePage> {
  if (isPdf(bytes)) {
    const drawn = await drawPdfPage(places.pdfium, bytes, page).catch(unreadableOnNoText);
    if (drawn.kind === "unreadable") return drawn;
    const { width, height, dpi } = drawn;
    return { bytes: drawn.bytes, orientation: 1, picture: { format: "pdf", width, height, dpi } };
  }
  const head = readPictureHead(bytes, page);
  if (head.kind === "unreadable") return head;
  const { format, width, height, orientation } = head;
  return { bytes: head.bytes, orientation, picture: { format, width, height } };
}

function unreadableOnNoText(error: unknown): UnreadablePage {
  if (error instanceof NoText) return unreadable(error.message);
  throw error;
}

/** Each is started once per process; the key is the files of its models. */
const engines = new Map<string, Promise<Engine>>();

function engineOf(core: string, models: readonly (readonly [string, string])[]): Promise<Engine> {
  const key = JSON.stringify([core, models]);
  const started = engines.get(key) ?? startEngine(core, models);
  engines.set(key, started);
  return started;
}

type Engines = { readonly first: Engine; readonly second: Engine | undefined };

/** Only the first reader reads a language that has one model. */
async function enginesOf({ languages, second, places }: PageOptions): Promise<Engines> {
  const modelsOf = (reader: 0 | 1) =>
    languages.flatMap((language) => {
      const file = places.models[language]?.[reader];
      return file === undefined ? [] : [[language, file] as const];
    });
  const others = second === "fast" ? modelsOf(1) : [];
  return {
    first: await engineOf(places.core, modelsOf(0)),
    second: others.length === 0 ? undefined : await engineOf(places.core, others),
  };
}

type Readers = Engines & { readonly options: PageOptions };

async function readLoaded(shown: LoadedPicture, readers: Readers): Promise<ReadPageOutcome> {
  const { first, second, options } = readers;
  const upright = readInBestMode(first, shown);
  const { picture, reading, turned } = await turnIfUnreadable(shown, upright, readers);
  const { mode, rules, ink } = reading;
  const other = second?.read(rules === undefined ? picture : withoutRules(reading), mode);
  const judged: readonly JudgedWord[] =
    options.second === "text" ? reading.words : judgeFigures(reading.words, other && clean(other));
  const record: PageRecord = {
    // The sides of the ink, which EXIF, the tag of a TIFF or the reader itself may have turned.
    picture: { ...shown.picture, width: ink.width, height: ink.height },
    turned,
    skew: Math.round(reading.lean * 100) / 100,
    engine: [first.name, ...(second === undefined ? [] : [second.name])].join("; "),
    languages: options.languages,
    mode,
    ...(rules === undefined ? {} : { rules }),
    leftInk: round(unreadShare({ words: judged, ink })),
    confidence: Math.round(reading.confidence),
    lines: inReadingOrder(judged).map((line): ReadLine => ({
      ...line,
      words: line.words.map(({ text, box, confidence, figure, other: instead, place }) => ({
        ...{ text, box, confidence: Math.round(confidence) },
        ...(figure === undefined ? {} : { figure }),
        ...(instead === undefined ? {} : { other: instead }),
        ...(place === undefined ? {} : { place }),
      })),
    })),
  };
  return { kind: "read", record, cutOuts: options.cutOuts ? cutOutsOf(record, ink) : [] };
}

const round = (share: number): number => Math.round(share * 10_000) / 10_000;

type RatedReading = EngineReading & {
  readonly mode: PageMode;
  readonly rules?: "removed";
  readonly left: number;
  readonly confidence: number;
};

/** The largest share of letter shapes outside of all words on a well-read page. */
const MOST_LEFT = 0.05;
/** Confidence; a page on its side is read with less. */
const FEWEST_SURE = 60;

/** Confidence; letters that rules cross are read with less, although none is left out. */
const FEWEST_SURE_IN_RULES = 80;

/**
 * Reads a page as its parts. If many letters are left out or the confidence is low, it also reads the page as one block, then
 * without rules. It returns the reading that leaves out few letters with the highest confidence.
 */
function readInBestMode(engine: Engine, picture: Picture): RatedReading {
  const parts = rate(engine.read(picture, 3), { mode: 3 });
  if (!isPoor(parts)) return parts;
  const { ink } = parts;
  const block = rate({ ...engine.read(picture, 6), ink }, { mode: 6 });
  const better = betterOf(parts, block);
  if (!isPoor(better)) return better;
  const plain = engine.read(withoutRules(better), 6);
  return betterOf(better, rate({ ...plain, ink }, { mode: 6, rules: "removed" }));
}

const isPoor = ({ left, confidence, words }: RatedReading): boolean =>
  left > MOST_LEFT || (words.length > 0 && confidence < FEWEST_SURE_IN_RULES);

function betterOf(one: RatedReading, other: RatedReading): RatedReading {
  const isOneWhole = one.left <= MOST_LEFT;
  if (isOneWhole !== other.left <= MOST_LEFT) return isOneWhole ? one : other;
  const isOther = isOneWhole ? other.confidence > one.confidence : other.left < one.left;
  return isOther ? other : one;
}

/** Orientation 1, because the ink is upright already. */
const withoutRules = ({ ink, words, lean }: EngineReading): Picture => ({
  bytes: drawWithoutRules(ink, heightOf(words) * LONGEST_STROKE, lean),
  orientation: 1,
});

function rate(reading: EngineReading, how: Pick<RatedReading, "mode" | "rules">): RatedReading {
  const words = clean(reading);
  const letters = words.reduce((sum, { text }) => sum + text.length, 0);
  const sure = words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0);
  const left = unreadShare({ words, ink: reading.ink });
  return { ...reading, ...how, words, left, confidence: letters === 0 ? 0 : sure / letters };
}

/** Drops strokes: Tesseract reads the rest of a rule as one. */
const clean = ({ words }: EngineReading): EngineWord[] =>
  withoutGiants(words.filter(({ text }) => !/^[|¦_—–]+$/u.test(text)));

type Turned = {
  readonly picture: Picture;
  readonly reading: RatedReading;
  readonly turned: Turn;
};

/** EXIF orientations, each a quarter clockwise from the one before it; the second row is mirrored. */
const QUARTERS = [
  [1, 6, 3, 8],
  [2, 7, 4, 5],
];

/** Turns a page that was read with low confidence, or whose lines run vertically, and reads it again. */
async function turnIfUnreadable(
  picture: Picture,
  reading: RatedReading,
  { first, options }: Readers,
): Promise<Turned> {
  const upright = { picture, reading, turned: 0 } as const;
  const turned = await findTurn(picture, reading, options.places);
  if (turned === 0) return upright;
  let best: Turned = upright;
  for (const turn of [turned, OPPOSITE[turned]]) {
    const other = readTurned(first, picture, turn);
    const isFirst = best === upright && isOnSide(reading);
    if (isFirst || other.reading.confidence > best.reading.confidence) best = other;
    // A confident reading is upright; otherwise the page may be upside down.
    if (best.turned !== 0 && best.reading.confidence >= FEWEST_SURE) break;
  }
  return best;
}

const OPPOSITE: Readonly<Record<Turn, Turn>> = { 0: 180, 90: 270, 180: 0, 270: 90 };

function readTurned(engine: Engine, { bytes, orientation }: Picture, turned: Turn): Turned {
  const row = QUARTERS.find((quarters) => quarters.includes(orientation)) ?? [];
  const picture = { bytes, orientation: row[(row.indexOf(orientation) + turned / 90) % 4] ?? 1 };
  return { picture, reading: readInBestMode(engine, picture), turned };
}

const isOnSide = ({ lean }: RatedReading): boolean => Math.abs(lean) > 45;

async function findTurn(
  picture: Picture,
  reading: RatedReading,
  { core, turns }: OcrPlaces,
): Promise<Turn> {
  // Tesseract also reads vertical lines, but returns them in no order.
  if (isOnSide(reading)) return reading.lean > 0 ? 270 : 90;
  const isBlank = reading.words.length === 0 && reading.left === 0;
  if (reading.confidence >= FEWEST_SURE || isBlank || turns === undefined) return 0;
  const finder = await startEngine(core, [["osd", turns]], "simd");
  return finder.findTurn(picture);
}
