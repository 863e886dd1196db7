import { countCodePoints, firstCodePoints } from "../text/clean-text.ts";
import { FENCE_CHARS, fitPieces } from "./fence.ts";
import { isStale } from "./gate.ts";
import type { Passage, PipelineDependencies, Reading } from "./types.ts";

/**
 * The beginning of a file that was too long, and its passages that fit the question best, by position. Passages may overlap the
 * beginning.
 */
export type CutFile = {
  readonly kind: "cut";
  readonly reading: Reading;
  readonly passages: readonly Passage[];
};

type PassageRequest = {
  readonly question: string;
  readonly limit: number;
  /** Characters of the beginning and the passages together. */
  readonly room: number;
};

/**
 * Adds to a file that was cut its own best passages, and shortens its beginning for them. Passages take at most half of the
 * room. Null where the index holds no passage of this state of the file, or none that fits the room.
 */
export async function addOwnPassages(
  reading: Reading,
  { question, limit, room }: PassageRequest,
  search: PipelineDependencies["search"],
  signal: AbortSignal,
): Promise<CutFile | null> {
  const found = await search(
    { text: question, limit, pathPrefix: reading.path, source: null, documents: {} },
    signal,
  );
  signal.throwIfAborted();
  const own = found.filter(
    (passage) => passage.path === reading.path && !isStale(passage, reading),
  );
  const fitting = fitPieces(own, room / 2);
  if (fitting.length === 0) return null;
  const chars = fitting.reduce((sum, { text }) => sum + text.length + FENCE_CHARS, 0);
  const text = firstCodePoints(reading.text, Math.min(reading.charsReturned, room - chars));
  const charsReturned = countCodePoints(text);
  return {
    kind: "cut",
    reading: { ...reading, text, charsReturned },
    passages: fitting.toSorted((one, other) => one.startChar - other.startChar),
  };
}
