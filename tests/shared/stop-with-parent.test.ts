import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "@jest/globals";

const built = pathToFileURL(
  resolve(import.meta.dirname, "..", "..", "dist", "shared", "child-process.js"),
).href;

/** A command of ours: what it does until it ends, with a channel to this process as its parent. */
function start(script: string, killMs = 60_000): ChildProcess {
  const code = `import { stopWithParent } from ${JSON.stringify(built)};
    ${script}
    stopWithParent(${killMs});
    process.send?.("here");`;
  return spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    detached: true,
  });
}

const STAYS = "setInterval(() => {}, 1000);";

/** Ends the channel as the death of this process would. @returns how the child ended then */
async function leave(child: ChildProcess): Promise<unknown[]> {
  const ended = once(child, "exit");
  child.disconnect();
  return ended;
}

describe("a command whose parent is gone", () => {
  test("ends as by SIGTERM", async () => {
    const child = start(STAYS);
    await once(child, "message");
    expect(await leave(child)).toEqual([null, "SIGTERM"]);
  });

  test("may say good-bye as at any SIGTERM", async () => {
    const child = start(`${STAYS} process.on("SIGTERM", () => process.exit(143));`);
    await once(child, "message");
    expect(await leave(child)).toEqual([143, null]);
  });

  test("is killed when it does not heed SIGTERM, with what it started", async () => {
    const deaf = `process.on("SIGTERM", () => {}); ${STAYS}`;
    const child = start(
      `import { spawn } from "node:child_process";
       ${deaf}
       const other = spawn(process.execPath, ["-e", ${JSON.stringify(`${deaf} process.send("up");`)}], { stdio: ["ignore", "inherit", "ignore", "ipc"] });
       await new Promise((settle) => other.once("message", settle));`,
      50,
    );
    await once(child, "message");
    const allOfIt = once(child.stdout ?? child, "end");
    child.stdout?.resume();
    expect(await leave(child)).toEqual([null, "SIGKILL"]);
    await allOfIt;
  });

  test("ends when it hears of it only after its start", async () => {
    const child = start(
      `${STAYS} process.send("up"); await new Promise((settle) => process.once("disconnect", settle));`,
    );
    await once(child, "message");
    expect(await leave(child)).toEqual([null, "SIGTERM"]);
  });
});

describe("a command whose parent stays", () => {
  test("ends when it is done", async () => {
    const child = start("");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("and that was given no channel does its work", async () => {
    const code = `import { stopWithParent } from ${JSON.stringify(built)}; stopWithParent(0); setTimeout(() => process.exit(7), 20);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
    expect(await once(child, "exit")).toEqual([7, null]);
  });
});
