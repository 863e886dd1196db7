import type { IncomingMessage } from "node:http";
import { Failure } from "../../shared/failure.ts";

/** A reply that a host gives as a whole, such as vectors. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;

/** How much of a streamed reply is read. */
export type ReplyLimits = {
  /** UTF-16 units of its text, with the arguments of its calls. */
  readonly chars: number;
  /** Of all that comes over the wire, thinking and the JSON around each token included. */
  readonly bytes: number;
};

/** Prose has 4 to 5 characters a token; lines of dashes and blanks have tokens of many more, among others. */
const CHARS_A_TOKEN = 32;
/** A token of a stream costs up to 300 bytes of JSON, and an escaped character up to 6. */
const BYTES_A_TOKEN = 1024;

/**
 * What a host may send for so many tokens of reply that were asked for. Small requests are given some room, since hosts
 * count differently, and some count no thinking; beyond the upper limits no reply is of use to anybody.
 */
export const replyLimits = (tokens: number): ReplyLimits => ({
  chars: within(tokens * CHARS_A_TOKEN, 16 * 1024, 512 * 1024),
  bytes: within(tokens * BYTES_A_TOKEN, 2 * 1024 * 1024, 16 * 1024 * 1024),
});

const within = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, value));

/**
 * The lines of a reply as they come, without their ends; a character may be split over chunks. Leaving the loop
 * closes the connection. Throws Failure MODEL_OUTPUT_INVALID for a reply over so many bytes.
 */
export async function* readLines(
  response: IncomingMessage,
  { bytes: most }: Pick<ReplyLimits, "bytes">,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let received = 0;
  let line: string[] = [];
  for await (const bytes of response as AsyncIterable<Buffer>) {
    received += bytes.length;
    if (received > most) throw tooLong(`${most} bytes`);
    const [end = "", ...next] = decoder.decode(bytes, { stream: true }).split("\n");
    line.push(end);
    for (const start of next) {
      yield withoutReturn(line.join(""));
      line = [start];
    }
  }
  const last = line.join("") + decoder.decode();
  if (last !== "") yield withoutReturn(last);
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

/** A whole text. Throws Failure MODEL_OUTPUT_INVALID when it is over 32 MB. */
export async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let received = 0;
  for await (const bytes of response as AsyncIterable<Buffer>) {
    received += bytes.length;
    if (received > MAX_WHOLE_BYTES) throw invalidReply(`it is over ${MAX_WHOLE_BYTES} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** The beginning of a text; the rest is not waited for. */
export async function readHead(response: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let received = 0;
  for await (const bytes of response as AsyncIterable<Buffer>) {
    received += bytes.length;
    parts.push(bytes);
    if (received >= maxBytes) break;
  }
  return Buffer.concat(parts).toString("utf8", 0, maxBytes);
}

export const tooLong = (most: string): Failure =>
  invalidReply(`it is over ${most}, which is more than the tokens that were asked for can take`);

/**
 * A stream that ended too early, or a piece of one that is none: what came before it is no whole reply. Nothing says
 * that it would come again, so that it counts as a connection that dropped.
 */
export class BrokenReply extends Error {
  override readonly name = "BrokenReply";
}

export const invalidReply = (why: string): Failure =>
  new Failure("MODEL_OUTPUT_INVALID", `The reply of the model host can't be read: ${why}.`);
