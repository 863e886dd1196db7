export type BatchLimits = { readonly texts: number; readonly chars: number };

/** Cuts a list into batches within both limits, in order; a text that is too long alone is a batch of its own. */
export function splitBatches(texts: readonly string[], limits: BatchLimits): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let chars = 0;
  for (const text of texts) {
    if (batch.length >= limits.texts || chars + text.length > limits.chars) {
      if (batch.length > 0) batches.push(batch);
      batch = [];
      chars = 0;
    }
    batch.push(text);
    chars += text.length;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
