import { expect, test } from "@jest/globals";
import { nightWatch, currentNight } from "../../../src/worker/hosts/pacing.ts";

const WINDOWS = ["22:00-06:00 Europe/Berlin"];

test("a watch says the night of each time, also at noon, at a change of clocks, and when the clock is set back", () => {
  let time = new Date(0);
  const watch = nightWatch(() => time, WINDOWS);
  for (const at of [
    "2026-10-24T09:59:59Z",
    "2026-10-24T10:00:00Z",
    "2026-10-25T10:59:59Z",
    "2026-10-25T11:00:00Z",
    "2026-10-25T10:59:59Z",
    "2026-10-23T20:00:00Z",
    "2026-11-21T23:00:00Z",
  ]) {
    time = new Date(at);
    expect([at, watch()]).toEqual([at, currentNight(() => time, WINDOWS)]);
  }
});
