import { Failure } from "../../shared/failure.ts";
import type { Invocation } from "../../shared/commands/command.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { argumentOf } from "./options.ts";

const MOST_BYTES = 1_000_000;

/**
 * All of a stream as text.
 * @param what it is, to begin a sentence, such as "The text of the note"
 * @throws Failure INPUT_INVALID for more bytes, and for other text than UTF-8
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

/** The same with messages of one's own. @throws Failure INPUT_INVALID with one of them */
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
 * The argument of a command, or for `-` all of stdin without the blanks around it.
 * @throws Failure INPUT_INVALID as readAll, and for a stdin of blanks alone
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
