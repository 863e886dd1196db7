import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "@jest/globals";
import { keepRunning } from "../../../src/worker/commands/keep-running.ts";
import type { Ended } from "../../../src/worker/commands/keep-running.ts";
import { eventually } from "../../conformance/signal.ts";

let kept: ReturnType<typeof keepRunning> | undefined;
afterEach(() => kept?.stop());

const started: ChildProcess[] = [];
const ended: Ended[] = [];
/** Keeps `node …` running. */
function keep(...words: readonly string[]): void {
  started.length = 0;
  ended.length = 0;
  kept = keepRunning(
    () => {
      const child = spawn(process.execPath, [...words], { stdio: "ignore" });
      started.push(child);
      return child;
    },
    (end) => ended.push(end),
  );
}

test("what is killed is started again", async () => {
  keep("--eval", "setInterval(() => {}, 1_000)");
  started[0]?.kill("SIGKILL");
  await eventually("another runs", async () => started.length === 2);
  expect(ended).toEqual([{ ending: "SIGKILL", pauseMs: 1_000 }]);
  expect(started[1]?.exitCode).toBeNull();
});

test("what keeps ending is started again after longer and longer pauses", async () => {
  keep("--eval", "process.exit(3)");
  await eventually("it has ended twice", async () => ended.length === 2);
  expect(ended).toEqual([
    { ending: "exit 3", pauseMs: 1_000 },
    { ending: "exit 3", pauseMs: 2_000 },
  ]);
});

test("what is stopped ends, and no other is started", async () => {
  keep("--eval", "setInterval(() => {}, 1_000)");
  const [child] = started;
  if (child === undefined) throw new Error("nothing was started");
  kept?.stop();
  expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
  expect({ started: started.length, ended }).toEqual({ started: 1, ended: [] });
});
