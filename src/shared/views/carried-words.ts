import type { Queryable } from "../store/connection/database.ts";
import { linesOf, selectPassages } from "./result-list.ts";
import type { RunDetail } from "./runs.ts";

type Claim = RunDetail["claims"][number];

/** The statements of a run that a page shows: those that stand, those that were dropped, and all of the last draft. */
export function shownClaims({ claims }: RunDetail): readonly Claim[] {
  const last = Math.max(-1, ...claims.map(({ draft }) => draft));
  return claims.filter(({ draft, stands, fate }) => stands || fate === "dropped" || draft === last);
}

/** A statement of a run, or a value of its extraction, with the words of the file that support it. */
export type CarriedWords = {
  /** From 1, in the order of the page. */
  readonly number: number;
  /** 0 for the place of the supporting words; from 1 for each other cited piece that says the same. */
  readonly place: number;
  readonly text: string;
  readonly grade: string;
  readonly path: string;
  readonly sha256: string;
  /** Null if the format has no pages, or the page is unknown. */
  readonly page: number | null;
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly words: string;
};

type Place = Pick<Claim, "path" | "line_start" | "line_end"> &
  Partial<Pick<Claim, "locator">> & {
    readonly text: string;
    readonly grade: string | null;
    readonly words: string | null;
  };

/** The statements, or else the field values, that words of a file support. */
export function carriedWords(run: RunDetail): readonly CarriedWords[] {
  const claims = shownClaims(run).map((claim) => ({
    ...claim,
    words: claim.carrier ?? claim.quote,
  }));
  const fields = run.field_bindings.map(({ pointer, value, quote, ...place }) => ({
    ...place,
    text: `${pointer}: ${String(value)}`,
    words: quote,
  }));
  return (claims.length > 0 ? claims : fields).flatMap((place: Place, at) =>
    carriedAt(run, place, { number: at + 1, place: 0 }),
  );
}

/** Another cited piece that supports a statement, with the lines of that place. @param at from 1 */
export async function carriedElsewhere(
  db: Queryable,
  run: RunDetail,
  { number, place: at }: Pick<CarriedWords, "number" | "place">,
): Promise<CarriedWords | undefined> {
  const claim = shownClaims(run)[number - 1];
  const other = claim?.other_places[at - 1];
  const source = other && sourceOf(run, other.path);
  if (claim === undefined || other === undefined || source === undefined) return undefined;
  const { path, line_start: lineStart, line_end: lineEnd } = other;
  const { sha256, extractor } = source;
  const passages = await selectPassages(db, { path, sha256, extractor, lineStart, lineEnd });
  const lines = linesOf(passages, lineStart, lineEnd).map(({ text }) => text);
  const { text, grade } = claim;
  const words = lines.join("\n") || null;
  const [carried] = carriedAt(run, { ...other, text, grade, words }, { number, place: at });
  return carried;
}

const sourceOf = (run: RunDetail, path: string | null): RunDetail["evidence"][number] | undefined =>
  run.evidence.find(
    (piece) =>
      piece.path === path && piece.admitted && (piece.kind === "file" || piece.kind === "chunk"),
  );

function carriedAt(
  run: RunDetail,
  place: Place,
  at: Pick<CarriedWords, "number" | "place">,
): readonly CarriedWords[] {
  const { path, line_start: lineStart, line_end: lineEnd, locator, words } = place;
  const source = sourceOf(run, path);
  if (source === undefined || lineStart === null || lineEnd === null || words === null) return [];
  const page = locator?.page ?? null;
  const { text, grade } = place;
  return [
    {
      ...at,
      text,
      grade: grade ?? "",
      path: source.path,
      sha256: source.sha256,
      page,
      lineStart,
      lineEnd,
      words,
    },
  ];
}

/** Whether the pages of a file can be drawn, judged by the extension of its name. */
export const hasPages = (path: string): boolean =>
  /\.(?:pdf|png|jpe?g|gif|webp|bmp|tiff?)$/i.test(path);
