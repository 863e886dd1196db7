import type { RunDetail } from "./runs.ts";

type Claim = RunDetail["claims"][number];

/** What is shown of the statements of a run: those that stand, those that were left out, and all of the last draft. */
export function shownClaims({ claims }: RunDetail): readonly Claim[] {
  const last = Math.max(-1, ...claims.map(({ draft }) => draft));
  return claims.filter(({ draft, stands, fate }) => stands || fate === "dropped" || draft === last);
}

/** A statement of a run, or a value of its extraction, with the words of a file that carry it. */
export type CarriedWords = {
  /** From 1, in the order in which they are shown. */
  readonly number: number;
  readonly text: string;
  readonly grade: string;
  readonly path: string;
  readonly sha256: string;
  /** Null where the format has no pages, and where it is not known. */
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

/** Those that a file carries. */
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
    placed(run, place, at + 1),
  );
}

function placed(run: RunDetail, place: Place, number: number): readonly CarriedWords[] {
  const { path, line_start: lineStart, line_end: lineEnd, locator, words } = place;
  const source = run.evidence.find(
    (piece) =>
      piece.path === path && piece.admitted && (piece.kind === "file" || piece.kind === "chunk"),
  );
  if (source === undefined || lineStart === null || lineEnd === null || words === null) return [];
  const page = locator?.page ?? null;
  const { text, grade } = place;
  return [
    {
      number,
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

/** Files whose pages can be drawn, by their names. */
export const hasPages = (path: string): boolean => /\.(?:pdf|png|jpe?g|gif|webp|bmp)$/i.test(path);
