import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ClaimedJob } from "../../../src/shared/store/jobs/claim-job.ts";
import {
  beginToolStep,
  insertStep,
  settleOpenStep,
} from "../../../src/shared/store/investigations/steps.ts";
import {
  claimInvestigation,
  investigatedJob,
  settleInvestigation,
} from "../../support/investigated-job.ts";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
let run: ClaimedJob & { readonly batchId: string };
beforeAll(async () => {
  desk = await openDesk();
  run = await investigatedJob(desk.database);
});
afterAll(() => desk.dispose());

const SECRET_WORDS = ["The rope renews", "2 lines hold"];
type Step = {
  readonly tool: string | null;
  readonly error_message: string | null;
  readonly outputs: readonly Readonly<Record<string, unknown>>[];
};

describe("runs show", () => {
  test("prints the timeline of an investigation: calls, rules, what they gave and cost", async () => {
    const { stdout, code } = await desk.run("runs", "show", run.runId);
    expect(code).toBe(0);
    const lines = stdout.slice(stdout.indexOf("\nSteps\n")).split("\n");
    const line = (step: number): string =>
      lines.find((text) => text.trim().startsWith(`${step} `)) ?? "";
    expect(line(0)).toMatch(/model\s+done\s+\S.*1,200 \+ 34\s.*looker/);
    expect(line(1)).toMatch(/read_text_file\s+done\s+7 ms.*E1; result 1\d\d bytes.*"ropes.md"/);
    expect(line(3)).toMatch(/policy\s+done.*not_granted.*There is no tool shell\./);
    expect(line(4)).toMatch(/search_text\s+failed\s+3 ms.*TOOL_ERROR: e+…/);
    expect(line(5)).toMatch(/end\s+done.*why stagnated/);
    for (const words of SECRET_WORDS) expect(stdout).not.toContain(words);
  });

  test("says which rule told an investigation that drifts something, of what, and in which words", async () => {
    const other = await claimInvestigation(desk.database);
    await beginToolStep(desk.database, other, {
      ordinal: 0,
      name: "search_text",
      effect: "none",
      state: "started",
      args: { text: "Ropes" },
      argsSha256: "b".repeat(64),
      detail: { move: "search", query_argument: "text", family: "rop", novel: true },
    });
    await settleOpenStep(desk.database, other, 0, "skipped");
    const told = "search_text was asked 2 times for these words. Ask for something else, or end.";
    const detail = { rule: "same_query", told, about: "rop", action: "hint" };
    await insertStep(desk.database, other, { ordinal: 1, kind: "policy", detail });
    await settleInvestigation(desk.database, other);
    const { stdout } = await desk.run("runs", "show", other.runId);
    expect(stdout).toMatch(/1 +policy +done .*same_query; about rop; action hint; search_text was/);
    expect(stdout).toMatch(/0 +search_text +skipped .*\{"text":"Ropes"\}\s*\n/);
  });

  test("has all of it as JSON, with sizes and ids of outputs and 500 characters of an error", async () => {
    const { stdout } = await desk.run("runs", "show", run.runId, "--json");
    const [{ steps } = { steps: [] }] = JSON.parse(stdout) as { steps: Step[] }[];
    expect(steps.map(({ tool }) => tool)).toEqual([
      ...[null, "read_text_file", "search_text", null, "search_text", null],
    ]);
    expect(steps[1]?.outputs).toMatchObject([
      {
        stream: "result",
        class: "evidence",
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        bytes: expect.any(Number),
      },
    ]);
    expect(steps[4]?.error_message).toBe("e".repeat(500));
    for (const words of SECRET_WORDS) expect(stdout).not.toContain(words);
  });

  test("prints what a step gave on demand, of a run and of its job", async () => {
    const shown = await desk.run("runs", "show", run.runId, "--output", "1");
    expect(shown).toMatchObject({ code: 0, stdout: "ropes.md\nThe rope renews in May.\n" });
    const json = await desk.run("runs", "show", run.jobId, "--output", "2", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject([
      { step: 2, stream: "result", text: "2 lines hold the word." },
    ]);
    const none = await desk.run("runs", "show", run.runId, "--output", "0");
    expect(none.code).not.toBe(0);
    expect(none.stderr).toContain("Step 0 of");
    expect((await desk.run("runs", "show", run.runId, "--output", "x")).code).toBe(2);
  });
});

describe("exports", () => {
  test.each(["native", "csv", "markdown"])(
    "%s has texts of outputs only on demand",
    async (form) => {
      const args = ["batch", "export", run.batchId, "--format", form];
      const without = (await desk.run(...args)).stdout;
      const sha256 = /[0-9a-f]{64}/.exec(without.slice(without.indexOf("read_text_file")))?.[0];
      expect(sha256).toBeDefined();
      for (const words of SECRET_WORDS) expect(without).not.toContain(words);
      const whole = (await desk.run(...args, "--with-outputs")).stdout;
      for (const words of SECRET_WORDS) expect(whole).toContain(words);
    },
  );

  test("OpenAI's form has no place for them", async () => {
    const ran = await desk.run(
      ...["batch", "export", run.batchId, "--format", "openai", "--with-outputs"],
    );
    expect(ran).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--with-outputs is for"),
    });
  });

  test("a run is written with ids, and with texts on demand", async () => {
    for (const [folder, flags, isThere] of [
      ["brief", [], false],
      ["whole", ["--with-outputs"], true],
    ] as const) {
      const ran = await desk.run("runs", "export", folder, "--run", run.runId, ...flags);
      expect(ran.code).toBe(0);
      const file = join(desk.workroot, folder, "runs", run.runId, "run.json");
      const text = await readFile(file, "utf8");
      for (const words of SECRET_WORDS) expect(text.includes(words)).toBe(isThere);
    }
  });
});
