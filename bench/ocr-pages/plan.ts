import { seededRandom } from "../synthetic-corpus.ts";
import type { Turn } from "../../src/shared/pages/page-record.ts";
import type { CarrierName } from "./carriers.ts";
import type { Language } from "./fill.ts";
import { A4, A5 } from "./layouts.ts";

/** How a page is made. */
export type Plan = {
  readonly kind: string;
  readonly language: Language;
  readonly seed: number;
  readonly paper: typeof A4;
  readonly dpi: readonly [across: number, down: number];
  readonly carrier: CarrierName;
  /** JPEG and WebP. */
  readonly quality: number;
  readonly skew: number;
  readonly noise: number;
  readonly blur: number;
  readonly turn: Turn;
  /** Pages that follow each other with the same name are one file. */
  readonly file?: string;
};

const COUNTS = {
  ...{ letter: 32, invoice: 24, "invoice-ruled": 24, columns: 24, table: 24 },
  ...{ receipt: 24, form: 16, stamp: 16, fax: 16 },
};
const SPOKEN: readonly Language[] = ["en", "de", "fr", "en", "it", "de", "es", "en", "fr"];
const CARRIED: readonly CarrierName[] = [
  ...(["jpeg", "jpeg", "jpeg", "jpeg", "jpeg", "png", "webp", "tiff", "tiff"] as const),
  ...(["pdf", "pdf", "ccitt pdf", "jpx pdf"] as const),
];

/** The 200 pages, in an order in which the first N are of all kinds. */
export function planPages(seed: number): Plan[] {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return Object.entries(COUNTS)
    .flatMap(([kind, count]) => Array.from({ length: count }, (_, at) => ({ kind, at, count })))
    .sort((one, other) => one.at / one.count - other.at / other.count)
    .map(({ kind, at }, index) => {
      const isFax = kind === "fax";
      const dpi = pick([150, 200, 300]);
      return {
        ...{ kind, seed: seed * 1_000 + index, paper: A4 },
        language: SPOKEN[(at * 4 + kind.length) % SPOKEN.length] ?? "en",
        dpi: isFax ? ([204, pick([98, 196])] as const) : ([dpi, dpi] as const),
        carrier: isFax ? pick(["tiff", "tiff", "ccitt pdf"] as const) : pick(CARRIED),
        quality: pick([0.4, 0.4, 0.85]),
        skew: random() < 0.3 ? 0 : Number((random() * 3 - 1.5).toFixed(2)),
        noise: pick([0, 10, 25, 40]),
        blur: Number(((pick([0, 0.5, 0.8]) * dpi) / 200).toFixed(2)),
        turn: !isFax && random() < 0.12 ? pick([90, 180, 270] as const) : (0 as const),
      };
    });
}

const SMALL = {
  ...{ paper: A5, dpi: [150, 150] as const, quality: 0.4 },
  ...{ skew: 0, noise: 0, blur: 0, turn: 0 as const },
};
const FRENCH = {
  language: "fr",
  carrier: "ccitt pdf",
  file: "three-pages.pdf",
  dpi: [200, 200],
} as const;
const SMALL_PAGES: readonly (Pick<Plan, "kind" | "language" | "carrier"> & Partial<Plan>)[] = [
  { kind: "letter", language: "en", carrier: "jpeg", skew: 0.8, blur: 0.4, quality: 0.3 },
  { kind: "letter", language: "de", carrier: "tiff", dpi: [200, 200], skew: -1.2 },
  { ...FRENCH, kind: "letter" },
  { kind: "table", ...FRENCH, skew: 0.6 },
  { kind: "columns", ...FRENCH },
  { kind: "invoice-ruled", language: "en", carrier: "webp", noise: 8 },
  { kind: "invoice", language: "de", carrier: "jpeg", turn: 90 },
  { kind: "receipt", language: "it", carrier: "jpeg", noise: 10, dpi: [200, 200] },
  { kind: "table", language: "es", carrier: "jpeg", skew: 1.1 },
  { kind: "small-stamp", language: "en", carrier: "ccitt pdf" },
  { kind: "text-and-picture", language: "de", carrier: "text pdf", quality: 0.2 },
  { kind: "fax", language: "es", carrier: "tiff", dpi: [204, 98], noise: 10 },
];

/** The 12 pages of tests/corpora/scans. */
export const SMALL_PLAN: readonly Plan[] = SMALL_PAGES.map((page, at) => ({
  ...{ ...SMALL, seed: 50 + at },
  ...page,
}));
