import type { IncomingMessage } from "node:http";
import { Failure } from "../../shared/failure.ts";

/** A token of a stream costs up to 300 bytes of JSON around it. */
const MAX_REPLY_BYTES = 32 * 1024 * 1024;
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * The lines of a reply as they come, without their ends; a character may be split over chunks. Leaving the loop
 * closes the connection. Throws Failure MODEL_OUTPUT_INVALID for a line over 8 MB and for a reply over 32 MB.
 */
export async function* readLines(response: IncomingMessage): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let received = 0;
  let lineBytes = 0;
  let line: string[] = [];
  for await (const bytes of response as AsyncIterable<Buffer>) {
    received += bytes.length;
    lineBytes += bytes.length;
    if (received > MAX_REPLY_BYTES) throw tooLong("it is", MAX_REPLY_BYTES);
    const [end = "", ...next] = decoder.decode(bytes, { stream: true }).split("\n");
    line.push(end);
    if (next.length === 0 && lineBytes > MAX_LINE_BYTES) throw tooLong("a line is", MAX_LINE_BYTES);
    for (const start of next) {
      yield withoutReturn(line.join(""));
      line = [start];
      lineBytes = Buffer.byteLength(start);
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
    if (received > MAX_REPLY_BYTES) throw tooLong("it is", MAX_REPLY_BYTES);
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

const tooLong = (what: string, bytes: number): Failure =>
  invalidReply(`${what} over ${bytes} bytes`);

/**
 * A stream that ended too early, or a piece of one that is none: what came before it is no whole reply. Nothing says
 * that it would come again, so that it counts as a connection that dropped.
 */
export class BrokenReply extends Error {
  override readonly name = "BrokenReply";
}

export const invalidReply = (why: string): Failure =>
  new Failure("MODEL_OUTPUT_INVALID", `The reply of the model host can't be read: ${why}.`);
