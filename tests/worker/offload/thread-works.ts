import { isMainThread, threadId } from "node:worker_threads";
import type { PureWork } from "../../../src/worker/offload/offload.ts";

const home = import.meta.url;

type Told = { readonly text: string; readonly isMainThread: boolean; readonly threadId: number };

export const tellThread = (text: string): Told => ({ text, isMainThread, threadId });
export const TELL_THREAD: PureWork<string, Told> = { home, run: tellThread };

/** For so many milliseconds, without a pause. */
export function keepBusy(ms: number): string {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
  return "done";
}
export const KEEP_BUSY: PureWork<number, string> = { home, run: keepBusy };

export function refuseWork(word: string): string {
  throw new RangeError(`no ${word}`);
}
export const REFUSE_WORK: PureWork<string, string> = { home, run: refuseWork };

/** A list of so many links, one after another. */
export function hoard(count: number): number {
  let list: readonly unknown[] = [];
  for (let link = 0; link < count; link += 1) list = [list, link];
  return list.length;
}
export const HOARD: PureWork<number, number> = { home, run: hoard };
