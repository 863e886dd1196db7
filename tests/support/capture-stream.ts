/**
 * Gives to `onText` what is written to a stream of this process.
 * @returns writes to it again
 */
export function captureStream(
  name: "stdout" | "stderr",
  onText: (text: string) => void,
): () => void {
  const stream = process[name];
  const original: unknown = Reflect.get(stream, "write");
  stream.write = (chunk: string | Uint8Array) => {
    onText(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
    return true;
  };
  return () => {
    Reflect.set(stream, "write", original);
  };
}
