import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";
import { workersEnded } from "../support/workers-ended.ts";

const examples = resolve(import.meta.dirname, "..", "..", "examples");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightdesk-demo-"));
  for (const name of ["corpus", "batch.jsonl", "nightdesk.yaml"]) {
    await cp(join(examples, name), join(folder, name), { recursive: true });
  }
});
afterAll(async () => {
  await workersEnded(folder);
  await stopEmbedded(join(folder, ".nightdesk"));
  await rm(folder, { recursive: true, force: true });
});

const demo = (): Promise<Ended> => runBin(["demo", "--config", "nightdesk.yaml"], { cwd: folder });

test("the demo indexes, works its batch and shows answers, evidence, refusals and what to try next", async () => {
  const { code, stdout, stderr } = await demo();
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("3. Work it"),
  });
  expect(stdout).toMatch(/^\d+ documents: \d+ added, 0 changed, 0 unchanged/);
  for (const title of [
    "Results by kind and state",
    "Some answers, with what they rest on",
    "Refused, each with its reason",
    "Try next",
  ]) {
    expect(stdout).toContain(`\n${title}`);
  }
  for (const refusal of ["PATH_DENIED", "FILE_NOT_FOUND", "FILE_EMPTY", "EVIDENCE_NOT_ACQUIRED"]) {
    expect(stdout).toContain(refusal);
  }
  expect(stdout).not.toMatch(/[\r\u001b]/);
});

test("the demo run again says what was unchanged, and works nothing twice", async () => {
  const { code, stdout, stderr } = await demo();
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\d+ documents: 0 added, 0 changed, \d+ unchanged/);
  expect(stderr).toMatch(/\d+ jobs unchanged, results kept\./);
});
