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
export async function readAll(
  stdin: AsyncIterable<Uint8Array>,
  what: string,
  mostBytes = MOST_BYTES,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > mostBytes) {
      const most = formatCount(mostBytes);
      throw new Failure("INPUT_INVALID", `${what} on stdin is over ${most} bytes. Shorten it.`);
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Failure("INPUT_INVALID", `${what} on stdin is not UTF-8. Convert it.`);
  }
}

/**
 * The argument of a command, or for `-` all of stdin without the blanks around it.
 * @throws Failure INPUT_INVALID as readAll, and for a stdin of blanks alone
 */
export async function textArgumentOf(
  invocation: Invocation,
  what: string,
  stdin: AsyncIterable<Uint8Array> = process.stdin,
): Promise<string> {
  const argument = argumentOf(invocation);
  if (argument !== "-") return argument;
  const text = (await readAll(stdin, what)).trim();
  if (text !== "") return text;
  throw new Failure(
    "INPUT_INVALID",
    `${what} on stdin is empty. Give it there, or as the argument.`,
  );
}
