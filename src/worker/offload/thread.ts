import { parentPort } from "node:worker_threads";
import type { ThreadReply, ThreadTask } from "./offload.ts";

parentPort?.on("message", (task: ThreadTask) => {
  void runTask(task);
});

/** Errors stay unhandled on purpose: they end the thread, and reach the caller of the task. */
async function runTask({ home, name, input }: ThreadTask): Promise<void> {
  const exported = (await import(home)) as Readonly<Record<string, unknown>>;
  const run = exported[name];
  if (typeof run !== "function") throw new TypeError(`${home} exports no function ${name}`);
  reply({ kind: "begins" });
  reply({ kind: "done", output: await (run as (input: unknown) => unknown)(input) });
}

const reply = (message: ThreadReply): void => parentPort?.postMessage(message);
