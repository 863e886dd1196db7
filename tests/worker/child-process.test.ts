import { tmpdir } from "node:os";
import { describe, expect, test } from "@jest/globals";
import { runChild } from "../../src/worker/child-process.ts";
import { signal } from "../conformance/signal.ts";

const node = (script: string) => ({
  file: process.execPath,
  args: ["-e", script],
  cwd: tmpdir(),
  env: {},
});
const never = () => new AbortController().signal;

describe("a program that is run", () => {
  test("reads its input, and says how it ended", async () => {
    const echo = node("process.stdin.pipe(process.stdout); process.exitCode = 7");
    expect(await runChild({ ...echo, input: "one\ntwo" }, never())).toEqual({
      code: 7,
      signal: null,
      output: ["one", "two"],
      messages: [],
    });
  });

  test("need not read its input", async () => {
    const deaf = node("process.stdin.destroy()");
    expect(await runChild({ ...deaf, input: "x".repeat(1_000_000) }, never())).toMatchObject({
      code: 0,
    });
  });

  test("that does not exist is an error of the system", async () => {
    const missing = { ...node(""), file: "/nowhere/to/be/found" };
    await expect(runChild(missing, never())).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("and does not heed SIGTERM is killed with what it started", async () => {
    const begun = signal();
    const stubborn = node(`
      process.on("SIGTERM", () => {});
      require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      console.error("here");
      setInterval(() => {}, 1000);`);
    const abort = new AbortController();
    const onMessage = () => {
      begun.resolve();
    };
    const running = runChild({ ...stubborn, onMessage }, abort.signal, 100);
    await begun.promise;
    abort.abort();
    expect(await running).toMatchObject({ code: null, signal: "SIGKILL" });
  });
});
