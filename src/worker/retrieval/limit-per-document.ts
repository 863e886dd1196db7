/** Keeps the first `limit` hits of each document, in their order. */
export function limitPerDocument<T extends { readonly docId: string }>(
  hits: readonly T[],
  limit: number,
): T[] {
  const taken = new Map<string, number>();
  return hits.filter(({ docId }) => {
    const count = (taken.get(docId) ?? 0) + 1;
    taken.set(docId, count);
    return count <= limit;
  });
}
