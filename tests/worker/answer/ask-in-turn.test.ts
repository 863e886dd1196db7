import { describe, expect, test } from "@jest/globals";
import { Failure, HostFailure, refuse } from "../../../src/shared/failure.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { RunAborted } from "../../../src/shared/job/settlement.ts";
import { callInTurn, estimateOf } from "../../../src/worker/answer/call-model.ts";
import type { RecordedReply } from "../../../src/worker/evidence/types.ts";
import { chatOnce } from "../../../src/worker/jobs/chat.ts";
import type { CallEnding, Limiter } from "../../../src/worker/models/limiter.ts";
import { scripted, SETTINGS, worldOf } from "../../support/pipeline-world.ts";

const SIGNAL = new AbortController().signal;
const ESTIMATE = { promptTokens: 80, replyTokens: 20 };

/** Gives a turn at once, and notes how it was ended. */
function notingPace(waitedMs = 0): Limiter & { readonly endings: CallEnding[]; turns: number } {
  const limiter = {
    endings: [] as CallEnding[],
    turns: 0,
    acquireSlot: async () => {
      limiter.turns += 1;
      return { waitedMs, end: async (ending: CallEnding) => void limiter.endings.push(ending) };
    },
    pauseWhenBusy: async () => "give_up" as const,
  };
  return limiter;
}

const replyOf = (promptTokens: number, completionTokens: number): RecordedReply => ({
  reply: {
    kind: "reply",
    text: "yes",
    toolCalls: [],
    promptTokens,
    completionTokens,
    loadMs: 0,
    doneReason: "stop",
  },
  durationMs: 7,
});

async function endingOf(ask: () => Promise<RecordedReply>): Promise<CallEnding | undefined> {
  const limiter = notingPace();
  const parts = { limiter, trace: startTrace(), signal: SIGNAL };
  await callInTurn(ESTIMATE, ask, parts).catch(() => undefined);
  expect(limiter.endings).toHaveLength(1);
  return limiter.endings[0];
}

describe("a turn", () => {
  test("ends with what the host counted, or with the estimate where it counts nothing", async () => {
    expect(await endingOf(async () => replyOf(30, 5))).toEqual({
      kind: "answered",
      promptTokens: 30,
      completionTokens: 5,
      durationMs: 7,
    });
    expect(await endingOf(async () => replyOf(0, 0))).toMatchObject({ promptTokens: 80 });
    const refused = { reply: refuse("CONTEXT_OVERFLOW", "too long"), durationMs: 7 };
    expect(await endingOf(async () => refused)).toMatchObject({
      kind: "answered",
      promptTokens: 0,
    });
  });

  test.each([
    [new HostFailure("MODEL_OVERLOADED", "busy", { host: "http://h" }), "busy"],
    [new HostFailure("MODEL_UNREACHABLE", "down", { host: "http://h" }), "not_made"],
    [new Failure("MODEL_NOT_FOUND", "no such model"), "not_made"],
    [new Failure("MODEL_TIMEOUT", "too slow"), "unanswered"],
    [new Error("aborted"), "unanswered"],
  ])("that ends with %s is %s", async (error, kind) => {
    expect(await endingOf(() => Promise.reject(error))).toMatchObject({ kind });
  });

  test("is ended when its run is aborted while the host works", async () => {
    const limiter = notingPace();
    const stop = new AbortController();
    const cancelled = new RunAborted("cancelled");
    const ask = async (): Promise<never> => {
      stop.abort(cancelled);
      throw cancelled;
    };
    const parts = { limiter, trace: startTrace(), signal: stop.signal };
    await expect(callInTurn(ESTIMATE, ask, parts)).rejects.toBe(cancelled);
    expect(limiter.endings.map(({ kind }) => kind)).toEqual(["unanswered"]);
  });

  test("is ended once, also where its end can't be written", async () => {
    const limiter = notingPace();
    const gone = new Failure("DATABASE_UNREACHABLE", "gone");
    const breaking: Limiter = {
      ...limiter,
      acquireSlot: async () => ({
        waitedMs: 0,
        end: async (ending) => {
          limiter.endings.push(ending);
          throw gone;
        },
      }),
    };
    const parts = { limiter: breaking, trace: startTrace(), signal: SIGNAL };
    await expect(callInTurn(ESTIMATE, async () => replyOf(30, 5), parts)).rejects.toBe(gone);
    expect(limiter.endings.map(({ kind }) => kind)).toEqual(["answered"]);
  });

  test("that was waited for says so in the step of the call, added up", async () => {
    const trace = startTrace();
    const parts = { limiter: notingPace(1200.4), trace, signal: SIGNAL };
    await trace.step("chat", async () => {
      await callInTurn(ESTIMATE, async () => replyOf(1, 1), parts);
      await callInTurn(ESTIMATE, async () => replyOf(1, 1), parts);
    });
    expect(trace.record().events[0]?.detail).toEqual({ waited_ms: 2400 });
  });

  test("is not taken for the extractive model, nor for a reply that is there already", async () => {
    const limiter = notingPace();
    const world = worldOf({
      models: [scripted([])],
      settings: { ...SETTINGS, model: { ...SETTINGS.model, provider: "extractive", name: null } },
    });
    const chat = (calls: typeof world.calls, model?: string) =>
      chatOnce(
        {
          jobId: "j",
          input: { kind: "chat", prompt: "Hi", ...(model === undefined ? {} : { model }) },
        },
        { ...world, calls },
        startTrace(),
        SIGNAL,
      );
    await chat({ ...world.calls, limiter }, "extractive");
    await chat({ ...world.calls, limiter, recall: async () => replyOf(1, 1) }, "scripted");
    expect(limiter.turns).toBe(0);
  });
});

test("an estimate takes the prompt at its densest and the longest reply that the window has room for", () => {
  const messages = [{ role: "user", content: "a".repeat(300) }] as const;
  const model = scripted([]);
  expect(estimateOf(messages, model, 800)).toEqual({ promptTokens: 184, replyTokens: 800 });
  expect(estimateOf(messages, model, 9_000)).toEqual({ promptTokens: 184, replyTokens: 4096 });
});
