import type { AnswerRow } from "../../shared/db/jobs/report-rows.ts";
import type { Place } from "../export/evidence-href.ts";

/** A piece of evidence with the number that the answer cites it by; null for one that it does not cite by number. */
export type ShownEvidence = Place & { readonly number: number | null; readonly sha256: string };

/**
 * What an answer rests on: what it cites, in the order of the numbers, or all that was read where it cites nothing.
 * `more` counts pieces that were read and are not shown.
 */
export function citedEvidence({ citations, evidence, pieces }: AnswerRow): {
  readonly shown: readonly ShownEvidence[];
  readonly more: number;
} {
  const cited = new Map<string, ShownEvidence>();
  const found = new Set<AnswerRow["evidence"][number]>();
  for (const { path, chunkKey, lineStart, lineEnd, number } of citations) {
    const piece = evidence.find(
      (candidate) => candidate.path === path && candidate.chunk_key === (chunkKey ?? null),
    );
    if (piece === undefined) continue;
    found.add(piece);
    const place = {
      path,
      line_start: lineStart ?? piece.line_start,
      line_end: lineEnd ?? piece.line_end,
    };
    const shown = { ...place, number: number ?? null, sha256: piece.sha256 };
    cited.set(`${number ?? ""} ${path} ${place.line_start}`, shown);
  }
  if (cited.size > 0) {
    const shown = [...cited.values()].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
    return { shown, more: pieces - found.size };
  }
  const shown = evidence.map((piece) => ({ ...piece, number: null }));
  return { shown, more: pieces - shown.length };
}

/** A job whose answer a digest cites. */
export type CitedChild = {
  readonly number: number | null;
  readonly path: string;
  readonly jobId: string;
};

/** The jobs that a digest cites, in the order of the numbers; none of another kind's answer. */
export const citedChildren = (citations: AnswerRow["citations"]): readonly CitedChild[] =>
  citations
    .flatMap(({ number, path, jobId }) =>
      typeof jobId === "string" ? [{ number: number ?? null, path, jobId }] : [],
    )
    .sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
