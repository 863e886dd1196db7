import { setImmediate } from "node:timers/promises";
import { unlessAborted } from "../unless-aborted.ts";
import { openThread } from "./open-thread.ts";
import type { PureWork, ThreadLimits, ThreadOptions } from "./open-thread.ts";

export type AsideLimits = ThreadLimits & {
  /** So many of `chars` are of a reply. A model may write a mark in each of them: they count fourfold. */
  readonly replyChars?: number;
  /** Where the length of the text says nothing of the time, as with rules that somebody wrote: never here. */
  readonly place?: "thread";
};

/**
 * Does pure work on texts so that nobody waits for it: on a short text at once, on a long one in a thread, one after
 * another. What goes in and comes out is what `structuredClone` can copy.
 * @throws the signal's reason, as soon as it is aborted; what the work throws; Failure TOOL_ERROR without memory for it;
 * WorkTooLong, a TOOL_ERROR as well, when the thread was at it for its limit, which ends the thread
 */
export type Aside = <Input, Output>(
  work: PureWork<Input, Output>,
  input: Input,
  limits: AsideLimits,
) => Promise<Output>;

/** How long work on short texts may follow each other before others have their turn. */
const TURN_MS = 25;

/** The slowest steps take about 100 ms for the worst of so much, and 200 ms on a busy machine; a thread takes as long to start. */
export const MOST_CHARS_AT_ONCE = 40_000;

export function openAside(options: ThreadOptions = { execArgv: process.execArgv }): Aside {
  const inThread = openThread(options);
  // Two long texts at once would need twice the memory, and a worker has other jobs for its other cores.
  let turn: Promise<unknown> = Promise.resolve();
  let turnStartedAt = performance.now();
  return async (work, input, limits) => {
    const { chars, replyChars = 0, signal, place } = limits;
    if (performance.now() - turnStartedAt > TURN_MS) {
      await setImmediate();
      turnStartedAt = performance.now();
    }
    signal.throwIfAborted();
    if (place === undefined && chars + 3 * replyChars <= MOST_CHARS_AT_ONCE)
      return await work.run(input);
    const done = turn.then(() => inThread(work, input, limits));
    turn = done.catch(() => undefined);
    return unlessAborted(done, signal);
  };
}

/** Faults of a value can be as many as its parts times those of its schema. */
const MOST_SCHEMA_MB = 256;

/** For schemas that somebody wrote: what they hold up or break is only the work of other such schemas. */
export const openSchemaThread = (execArgv: readonly string[] = process.execArgv): Aside =>
  openAside({ execArgv, resourceLimits: { maxOldGenerationSizeMb: MOST_SCHEMA_MB } });
