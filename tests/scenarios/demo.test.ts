import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";
import { removeDesk } from "../support/workers-ended.ts";

/** The first command makes the database, which takes a busy machine a while. */
const LONGEST_DEMO_MS = 180_000;

const examples = resolve(import.meta.dirname, "..", "..", "examples");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightdesk-demo-"));
  for (const name of ["corpus", "nightdesk.yaml"]) {
    await cp(join(examples, name), join(folder, name), { recursive: true });
  }
  const batch = await readFile(join(examples, "batch.jsonl"), "utf8");
  await writeFile(join(folder, "batch.jsonl"), shortened(batch));
});
afterAll(() => removeDesk(folder));

/** What is to be refused, and one job of each kind: the session of the documents works all of them. */
function shortened(batch: string): string {
  const kinds = new Set<string>();
  const lines = batch.split(/(?<=\n)/).filter((line) => {
    const { custom_id: id, kind } = JSON.parse(line) as { custom_id: string; kind: string };
    const isKept = id.startsWith("refused-") || !kinds.has(kind);
    kinds.add(kind);
    return isKept;
  });
  return lines.join("");
}

const demo = (): Promise<Ended> => runBin(["demo", "--config", "nightdesk.yaml"], { cwd: folder });

test(
  "the demo indexes, works its batch and shows answers, evidence, refusals and what to try next",
  async () => {
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
    for (const refusal of [
      "PATH_DENIED",
      "FILE_NOT_FOUND",
      "FILE_EMPTY",
      "EVIDENCE_NOT_ACQUIRED",
    ]) {
      expect(stdout).toContain(refusal);
    }
    expect(stdout).not.toMatch(/[\r\u001b]/);
  },
  LONGEST_DEMO_MS,
);

test(
  "the demo run again says what was unchanged, and works nothing twice",
  async () => {
    const { code, stdout, stderr } = await demo();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+ documents: 0 added, 0 changed, \d+ unchanged/);
    expect(stderr).toMatch(/\d+ jobs unchanged, results kept\./);
  },
  LONGEST_DEMO_MS,
);
