import { open } from "node:fs/promises";
import { basename } from "node:path";
import { hasCode } from "../../shared/db/error-code.ts";
import { Failure } from "../../shared/failure.ts";

export type Input = {
  /** What the batch is called after: the file's name, or `stdin`. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
};

const CHUNK_BYTES = 256 * 1024;

/** Opens the file, or stdin for `-`. @throws Failure INPUT_INVALID when there is nothing to read */
export async function openInput(file: string, stdin: AsyncIterable<Uint8Array>): Promise<Input> {
  if (file === "-") return { name: "stdin", chunks: stdin, close: async () => undefined };
  const unreadable = (reason: string) =>
    new Failure(
      "INPUT_INVALID",
      `${file} ${reason}. Expected a JSONL file with one job a line, or - for stdin.`,
    );
  const handle = await open(file).catch((error: unknown) => {
    throw unreadable(describeOpenError(error));
  });
  if ((await handle.stat()).isDirectory()) {
    await handle.close();
    throw unreadable("is a folder");
  }
  const chunks = handle.createReadStream({ highWaterMark: CHUNK_BYTES });
  return { name: basename(file), chunks, close: () => handle.close() };
}

function describeOpenError(error: unknown): string {
  if (hasCode(error, "ENOENT")) return "does not exist";
  if (hasCode(error, "EACCES")) return "may not be read by this user";
  return `can't be read (${error instanceof Error ? error.message : String(error)})`;
}
