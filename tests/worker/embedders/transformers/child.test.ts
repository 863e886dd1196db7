import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { forkBeside } from "../../../../src/worker/forked-process.ts";
import type {
  CompleteRequest,
  Reply,
  Request,
} from "../../../../src/worker/embedders/transformers/model-files.ts";
import { writeTinyCausalModel } from "../../../support/tiny-causal-model.ts";

const PACKAGE = resolve(import.meta.dirname, "..", "..", "..", "..");
const PLACE = join(PACKAGE, "src", "worker", "embedders", "transformers", "model-process.ts");
const TYPESCRIPT = ["--import", join(PACKAGE, "bench", "register.js")];
/** So many tokens take it minutes. */
const MANY = 1_000_000;

describe("the process of a language model", () => {
  let folder: string;
  let child: ChildProcess;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "nightdesk-child-"));
    writeTinyCausalModel(join(folder, "endless"), { windowTokens: MANY });
    child = forkBeside(pathToFileURL(PLACE).href, TYPESCRIPT);
    child.send({
      ...{ kind: "load", task: "complete", folder: join(folder, "endless") },
      ...{ dtype: "fp32", device: "cpu", maxLength: MANY },
    } satisfies Request);
    expect(await reply()).toMatchObject({ kind: "ready" });
  });
  afterEach(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  });

  const reply = async (): Promise<Reply> => ((await once(child, "message")) as [Reply])[0];
  const send = (...requests: readonly Request[]): Promise<Reply> => {
    const replied = reply();
    for (const request of requests) child.send(request);
    return replied;
  };
  const write = (maxTokens: number): CompleteRequest => ({
    ...{ kind: "complete", messages: [{ role: "user", content: "Night" }], maxTokens },
    ...{ temperature: 0, seed: 1, topP: null, stop: [] },
  });
  const WRITTEN = { kind: "completed", completionTokens: 3, finish: "length" };

  test("ends a reply when it is told to, and takes the next prompt", async () => {
    expect(await send(write(MANY), { kind: "abort" })).toMatchObject({ kind: "aborted" });
    expect(await send(write(3))).toMatchObject(WRITTEN);
  });

  test("does not end a reply for what it was told before", async () => {
    expect(await send({ kind: "abort" }, write(3))).toMatchObject(WRITTEN);
  });
});
