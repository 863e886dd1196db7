import { expect, test } from "@jest/globals";
import { MOST_CHARS_AT_ONCE } from "../../../src/worker/offload/offload.ts";
import { LOADING_MS, SAY_LOADED } from "./slow-module.ts";
import { testOffload, turnsUntil } from "./test-offload.ts";
import { HOARD, KEEP_BUSY, REFUSE_WORK, TELL_THREAD } from "./thread-works.ts";

const FOREVER = Number.POSITIVE_INFINITY;
const long = (signal = new AbortController().signal) => ({ chars: 1_000_000, signal });

test("works on a short text in this thread, and on a long one in another", async () => {
  const offload = testOffload();
  const short = { ...long(), chars: 1_000 };
  expect(await offload(TELL_THREAD, "bell", short)).toMatchObject({
    text: "bell",
    isMainThread: true,
  });
  expect(await offload(TELL_THREAD, "bell", long())).toMatchObject({
    text: "bell",
    isMainThread: false,
  });
});

test("counts the characters of a reply fourfold", async () => {
  const offload = testOffload();
  const limits = { ...long(), chars: MOST_CHARS_AT_ONCE };
  const [evidence, reply] = [
    await offload(TELL_THREAD, "bell", limits),
    await offload(TELL_THREAD, "bell", { ...limits, replyChars: MOST_CHARS_AT_ONCE }),
  ];
  expect([evidence.isMainThread, reply.isMainThread]).toEqual([true, false]);
});

test("keeps its thread for what comes next", async () => {
  const offload = testOffload();
  const one = await offload(TELL_THREAD, "one", long());
  const next = await offload(TELL_THREAD, "next", long());
  expect(next.threadId).toBe(one.threadId);
});

test("lets others have their turns while a long text is worked on", async () => {
  const offload = testOffload();
  expect(await turnsUntil(offload(KEEP_BUSY, 100, long()))).toBeGreaterThan(20);
});

test("an abort ends the work in the middle, and the next work is done all the same", async () => {
  const offload = testOffload();
  const cancel = new AbortController();
  const endless = offload(KEEP_BUSY, FOREVER, long(cancel.signal));
  const waiting = offload(TELL_THREAD, "next", long());
  setImmediate(() => {
    cancel.abort(new Error("cancelled"));
  });
  await expect(endless).rejects.toThrow("cancelled");
  expect(await waiting).toMatchObject({ text: "next" });
});

test("an abort while another text is worked on does not wait for that", async () => {
  const offload = testOffload();
  const [first, second] = [new AbortController(), new AbortController()];
  const endless = offload(KEEP_BUSY, FOREVER, long(first.signal));
  const waiting = offload(TELL_THREAD, "never", long(second.signal));
  second.abort(new Error("not wanted any more"));
  await expect(waiting).rejects.toThrow("not wanted any more");
  first.abort(new Error("cancelled"));
  await expect(endless).rejects.toThrow("cancelled");
});

test("gives on what the work throws, and goes on with the next", async () => {
  const offload = testOffload();
  await expect(offload(REFUSE_WORK, "bell", long())).rejects.toThrow("no bell");
  expect(await offload(TELL_THREAD, "next", long())).toMatchObject({ text: "next" });
});

test("work that takes longer than it may is ended, and the next is done", async () => {
  const offload = testOffload();
  const endless = offload(KEEP_BUSY, FOREVER, { ...long(), limitMs: 500 });
  await expect(endless).rejects.toMatchObject({
    code: "TOOL_ERROR",
    message: expect.stringContaining("longer than 0.5 s"),
  });
  expect(await offload(TELL_THREAD, "next", long())).toMatchObject({ text: "next" });
});

test("the start of a thread and of its modules does not count as work", async () => {
  const loaded = testOffload()(SAY_LOADED, null, { ...long(), limitMs: LOADING_MS / 3 });
  expect(await loaded).toBe("loaded");
});

test("waiting for others does not count as work", async () => {
  const offload = testOffload();
  const first = offload(KEEP_BUSY, 2_000, long());
  const second = offload(TELL_THREAD, "second", { ...long(), limitMs: 1_500 });
  expect(await first).toBe("done");
  expect(await second).toMatchObject({ text: "second" });
});

test("work of unknown length is never done in this thread, however short its text", async () => {
  const unknown = { ...long(), chars: 0, place: "thread" } as const;
  expect(await testOffload()(TELL_THREAD, "bell", unknown)).toMatchObject({ isMainThread: false });
});

test("a text that takes more memory than there is fails alone, and says what to lower", async () => {
  const offload = testOffload({ resourceLimits: { maxOldGenerationSizeMb: 40 } });
  await expect(offload(HOARD, 10_000_000, long())).rejects.toMatchObject({
    code: "TOOL_ERROR",
    message: expect.stringContaining("ask.max_chars_full_read"),
  });
  expect(await offload(TELL_THREAD, "next", long())).toMatchObject({ text: "next" });
});
