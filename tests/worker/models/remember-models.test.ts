import { describe, expect, test } from "@jest/globals";
import { rememberModels } from "../../../src/worker/models/create-model.ts";
import { extractiveModel } from "../../../src/worker/models/extractive/extractive.ts";
import type { Model } from "../../../src/worker/models/model.ts";

const signal = new AbortController().signal;

/** Openings that a test ends by hand. */
function openings() {
  const signals: AbortSignal[] = [];
  const ends: ((model: Model) => void)[] = [];
  const open = (_: string, until: AbortSignal): Promise<Model> => {
    signals.push(until);
    return new Promise((resolve, reject) => {
      ends.push(resolve);
      until.addEventListener("abort", () => {
        reject(until.reason as Error);
      });
    });
  };
  return { signals, ends, open };
}

describe("rememberModels", () => {
  test("asks again after five minutes", async () => {
    let minutes = 0;
    let opened = 0;
    const get = rememberModels(
      async () => {
        opened += 1;
        return extractiveModel();
      },
      () => minutes * 60_000,
    );
    for (minutes of [0, 4.9, 5, 9.9, 10]) await get("m", signal);
    expect(opened).toBe(3);
  });

  test("one who goes away leaves the others their opening", async () => {
    const { signals, ends, open } = openings();
    const get = rememberModels(open);
    const leaving = new AbortController();
    const left = get("m", leaving.signal);
    const stayed = get("m", signal);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    ends[0]?.(extractiveModel());
    expect((await stayed).name).toBe("extractive");
  });

  test("the last who goes away ends it, and the next begins another", async () => {
    const { signals, ends, open } = openings();
    const get = rememberModels(open);
    const leaving = new AbortController();
    const left = get("m", leaving.signal);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    const next = get("m", signal);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    ends[1]?.(extractiveModel());
    expect((await next).name).toBe("extractive");
  });

  test("does not remember one that failed", async () => {
    let fails = true;
    const get = rememberModels(async () => {
      if (fails) throw new Error("down");
      return extractiveModel();
    });
    await expect(get("m", signal)).rejects.toThrow("down");
    fails = false;
    expect((await get("m", signal)).name).toBe("extractive");
  });
});
