import { Failure } from "../../shared/failure.ts";
import type { Invocation } from "../../shared/commands/command.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { argumentOf } from "./options.ts";

const MOST_BYTES = 1_000_000;

/**
 * Reads a whole stream as text.
 * @param what names the text at the start of a message, such as "The text of the note"
 * @throws Failure INPUT_INVALID for too many bytes, and for text that is not UTF-8
 */
export const readAll = (
  stdin: AsyncIterable<Uint8Array>,
  what: string,
  mostBytes = MOST_BYTES,
): Promise<string> =>
  readText(stdin, mostBytes, {
    tooLong: `${what} on stdin is over ${formatCount(mostBytes)} bytes. Shorten it.`,
    notUtf8: `${what} on stdin is not UTF-8. Convert it.`,
  });

/** Reads a whole stream as text, with the caller's messages. @throws Failure INPUT_INVALID with one of them */
export async function readText(
  chunks: AsyncIterable<Uint8Array>,
  mostBytes: number,
  messages: { readonly tooLong: string; readonly notUtf8: string },
): Promise<string> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    read.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new Failure("INPUT_INVALID", messages.tooLong);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(read));
  } catch {
    throw new Failure("INPUT_INVALID", messages.notUtf8);
  }
}

/**
 * The argument of a command, or for `-` the trimmed stdin.
 * @throws Failure INPUT_INVALID as readAll, and for an empty stdin
 */
export async function textArgumentOf(invocation: Invocation, what: string): Promise<string> {
  const argument = argumentOf(invocation);
  if (argument !== "-") return argument;
  const text = (await readAll(process.stdin, what)).trim();
  if (text !== "") return text;
  throw new Failure(
    "INPUT_INVALID",
    `${what} on stdin is empty. Give it there, or as the argument.`,
  );
}
