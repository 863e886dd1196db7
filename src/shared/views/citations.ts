import { z } from "zod";
import type { StoredClaim } from "./claims.ts";
import { placesOfPiece } from "./claims.ts";
import { joinTexts } from "./section.ts";
import { countsByKind } from "./quantity.ts";
import type { LineRange, Piece, Text } from "./section.ts";

/** A citation as the worker stores it, in camelCase. */
export const storedCitation = z.object({
  jobId: z.string().nullish(),
  path: z.string(),
  heading: z.string().nullish(),
  chunkKey: z.string().nullish(),
  lineStart: z.number().nullish(),
  lineEnd: z.number().nullish(),
  quote: z.string().nullish(),
  number: z.number().nullish(),
  resolved: z.literal(false).nullish(),
});
export type StoredCitation = z.infer<typeof storedCitation>;

/** The columns of a piece of evidence that identify its source. */
type ReadPiece = {
  readonly kind: "file" | "chunk" | "web" | "output";
  readonly path: string;
  readonly chunk_key: string | null;
};

/** Whether a citation refers to this piece. */
export const isOfPiece = (
  { path, chunkKey }: StoredCitation,
  piece: Pick<ReadPiece, "path" | "chunk_key">,
): boolean => piece.path === path && piece.chunk_key === (chunkKey ?? null);

/**
 * The place that a citation refers to: lines of a file with the pages or rows that are cited there, or the job whose answer
 * a digest reports. A number that refers to nothing that was read is reported as such.
 */
export function citedText(
  { path, jobId, heading = null, lineStart, lineEnd, resolved, number }: StoredCitation,
  evidence: readonly Pick<ReadPiece, "kind" | "path">[],
  claims: readonly Pick<StoredClaim, "number" | "locator" | "other_places">[],
): Text {
  if (resolved === false) return `${path}, which stands for nothing that was read`;
  if (typeof jobId === "string") return [`${path}, job `, { kind: "id", of: "job", id: jobId }];
  if (typeof lineStart !== "number" || typeof lineEnd !== "number") return path;
  const kind = evidence.find((piece) => piece.path === path)?.kind ?? "file";
  const place = { kind, path, heading, line_start: lineStart, line_end: lineEnd };
  return joinTexts(placePiece(place), placesOfPiece(number, claims));
}

type Place = LineRange & { readonly kind: ReadPiece["kind"]; readonly heading?: string | null };

/** The place of lines in a file. Output of a tool has lines too, but no file to open. */
export function placePiece({ kind, path, heading = null, line_start, line_end }: Place): Piece {
  if (kind === "output")
    return `${path}, ${line_start === line_end ? `line ${line_start}` : `lines ${line_start}-${line_end}`}`;
  return {
    ...{ kind: "place", path, line_start, line_end },
    ...(heading === null ? {} : { heading }),
  };
}

type ReadSpan = {
  readonly path: string;
  readonly sha256: string;
  readonly start_char: number;
  readonly end_char: number;
};

/** Whether two pieces are the same span of the same bytes, under different paths. */
export const isCopy = (one: ReadSpan, other: ReadSpan): boolean =>
  one.path !== other.path &&
  one.sha256 === other.sha256 &&
  one.start_char === other.start_char &&
  one.end_char === other.end_char;

/** What extraction left out of the files that were read: `Not read of letter.docx: pictures: 3, encrypted parts: 1.` */
export const unreadLines = (evidence: readonly UnreadPiece[]): readonly string[] => [
  ...new Set(
    evidence.flatMap(({ path, left_out: counts }) =>
      Object.keys(counts).length === 0 ? [] : [`Not read of ${path}: ${countsByKind(counts)}.`],
    ),
  ),
];

/** Reports files whose bytes in the index are no longer those that were read. */
export const outdatedLines = (paths: readonly string[]): readonly string[] =>
  paths.length === 0 ? [] : [`Changed since it was read: ${paths.join(", ")}.`];

type UnreadPiece = { readonly path: string; readonly left_out: Readonly<Record<string, number>> };
