import type { SearchFilter } from "../../../shared/store/index/search-filter.ts";
import { foldSharpS } from "../../../shared/normalise-text.ts";
import type { SearchRequest } from "../search.ts";

/** What both searches must keep to. Twice the limit, because a document's chunks beyond its share make way for others. */
export function searchFilterOf(request: SearchRequest, k: number): SearchFilter {
  const { pathPrefix, source, where, since, until, limit } = request;
  const documents = { pathPrefix, source, where, since, until };
  const phrases = request.phrases?.map(foldSharpS);
  const excluded = request.excluded?.map(foldSharpS);
  return { ...documents, phrases, excluded, limit: Math.max(k, 2 * limit) };
}
