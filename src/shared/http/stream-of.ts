/** Texts or bytes as a response body. It reads the next chunk when the client has consumed the one before. */
export function streamOf(chunks: AsyncIterable<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else {
        const { value } = next;
        controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      }
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
