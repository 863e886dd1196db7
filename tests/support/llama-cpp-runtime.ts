import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { findRuntime } from "../../src/worker/models/llama-cpp/runtime.ts";
import { startTopology } from "../conformance/topologies.ts";
import { runBin } from "./run-bin.ts";
import { childrenStartedWith } from "./child-processes.ts";

/** The folder of the runtime, which is installed as a user installs it, from npm's registry, and kept for later runs. */
export const RUNTIME_FOLDER =
  process.env["TEST_LLAMA_CPP"] ??
  join(import.meta.dirname, "..", "..", ".ci", "cache", "llama-cpp");

/** What a command ends with that does not reach what it needs. */
export const UNREACHABLE = 69;

/** For `model.llama_cpp`. */
export const llamaCppSettings = (more: object = {}): object => ({
  runtime: RUNTIME_FOLDER,
  gpu: "off",
  threads: 1,
  ...more,
});

/**
 * Installs the runtime as a user does, where it is not there.
 * @returns false where the registry does not give it, which is not ours to keep in order: what needs it is left out, and said
 */
async function setUpRuntime(): Promise<boolean> {
  if (findRuntime(RUNTIME_FOLDER) !== undefined) return true;
  const topology = await startTopology("embedded", { model: { llama_cpp: llamaCppSettings() } });
  try {
    // npm goes by the environment: certificates, a proxy, another registry.
    const place = { cwd: topology.workroot, env: process.env as Readonly<Record<string, string>> };
    const ended = await runBin(["models", "setup", "llama-cpp", "--yes"], place);
    if (ended.code === UNREACHABLE) {
      process.stderr.write(`Models in a process are not tried: ${ended.stderr}`);
      return false;
    }
    expect(ended).toMatchObject({ code: 0, stdout: `${RUNTIME_FOLDER}\n` });
    expect(ended.stderr).toMatch(/about \d+\.\d MB .*\n.*It runs here, on cpu/);
    return true;
  } finally {
    await topology.dispose();
  }
}

const isThere = await setUpRuntime();
export const describeWithRuntime = isThere ? describe : describe.skip;
export const testWithRuntime = isThere ? test : test.skip;

/** Processes of one that hold a model of a GGUF file. */
export const modelProcesses = (parent: number): readonly number[] =>
  childrenStartedWith("llama-cpp/child", parent);
