import type { Extraction } from "../../../../src/worker/documents/extraction.ts";
import { NO_PLACES } from "../../../../src/worker/documents/places.ts";

// What a parser that a hostile file has led astray may do, each by its name.

export function spin(): never {
  for (;;);
}

/** Buffers, which a limit of the heap does not bound. */
export function grow(): never {
  const kept: Buffer[] = [];
  for (;;) kept.push(Buffer.alloc(4_000_000, 1));
}

/** More than it may, and no more than that: what looks at it may take its time. */
export function hold(): never {
  const kept = Buffer.alloc(400_000_000, 1);
  for (;;) kept[0] = 1;
}

export function crash(): never {
  process.abort();
}

export function recurse(): Extraction {
  return recurse();
}

export function throwLater(): Promise<Extraction> {
  void Promise.reject(new Error("nobody waits for this"));
  return Promise.resolve(echo(Buffer.from("read all the same")));
}

export const echo = (bytes: Buffer): Extraction => ({
  kind: "text",
  text: bytes.toString(),
  places: NO_PLACES,
});

export const whoAmI = (): Extraction => echo(Buffer.from(String(process.pid)));

export const environment = (): Extraction => echo(Buffer.from(JSON.stringify(process.env)));
