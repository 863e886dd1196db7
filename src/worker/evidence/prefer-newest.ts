import { asksNewest } from "../../shared/files/version-family.ts";
import type { Passage, PipelineDependencies, SearchLimits } from "./types.ts";

/** A passage that was replaced by passages of a newer version of its document. `newer` is the path of that version. */
export type PassedOver = { readonly passage: Passage; readonly newer: string };

type Found = { readonly passages: readonly Passage[]; readonly passedOver: readonly PassedOver[] };

/** Passages that are searched in a newer version that the first search did not find. */
const MOST_OF_NEWER = 3;

/**
 * Where a question asks for the newest version ("the newest price list"), replaces passages of older versions by those that the
 * same search finds in the newest one. Where it finds none there, the older passages stay.
 */
export async function preferNewest(
  { question, limits }: { readonly question: string; readonly limits: SearchLimits },
  passages: readonly Passage[],
  { search, versions }: Pick<PipelineDependencies, "search" | "versions">,
  signal: AbortSignal,
): Promise<Found> {
  if (passages.length === 0 || !asksNewest(question)) return { passages, passedOver: [] };
  const known = await versions([...new Set(passages.map(({ path }) => path))]);
  const kept: Passage[] = [];
  const passedOver: PassedOver[] = [];
  const add = (passage: Passage) => {
    if (!kept.some(({ chunkKey }) => chunkKey === passage.chunkKey)) kept.push(passage);
  };
  const foundInNewer = new Map<string, readonly Passage[]>();
  const findInNewer = async (newer: string) => {
    const found =
      foundInNewer.get(newer) ??
      (await passagesOf(newer, { passages, question, limits, search, signal }));
    foundInNewer.set(newer, found);
    return found;
  };
  for (const passage of passages) {
    const [newer] = known.get(passage.path)?.newer ?? [];
    const instead = newer === undefined ? [] : await findInNewer(newer);
    if (newer === undefined || instead.length === 0) add(passage);
    else {
      passedOver.push({ passage, newer });
      for (const one of instead) add(one);
    }
  }
  return { passages: kept, passedOver };
}

type NewerSearch = {
  readonly passages: readonly Passage[];
  readonly question: string;
  readonly limits: SearchLimits;
  readonly search: PipelineDependencies["search"];
  readonly signal: AbortSignal;
};

async function passagesOf(
  path: string,
  { passages, question, limits, search, signal }: NewerSearch,
): Promise<readonly Passage[]> {
  const found = passages.filter((passage) => passage.path === path);
  if (found.length > 0) return found;
  if (!path.startsWith(limits.pathPrefix ?? "")) return [];
  const hits = await search(
    { ...limits, text: question, limit: MOST_OF_NEWER, pathPrefix: path },
    signal,
  );
  return hits.filter((passage) => passage.path === path);
}
