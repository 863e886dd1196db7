import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { takeCall } from "../../../src/shared/store/hosts/calls.ts";
import { countHostFailure, enterHost } from "../../../src/shared/store/hosts/hosts.ts";
import { formatBudget, NO_BUDGET } from "../../../src/producer/commands/batch-budget.ts";
import { checkHosts } from "../../../src/worker/doctor/check-model-host.ts";
import { askJob, claimNext, openBatchOf } from "../../conformance/jobs.ts";
import { openDesk, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

const HOST = "http://models:11434";
const NO_LIMITS = { tokens: null, calls: null, seconds: null };

describe("batch budget", () => {
  let desk: Desk;
  let batchId: string;
  let name: string;
  let runId: string;
  beforeAll(async () => {
    desk = await openDesk();
    const opened = await openBatchOf(desk.database, [askJob("a")]);
    batchId = opened.batchId;
    const [row] = await rowsOf(desk.database, "select name from nightdesk_data.batches");
    name = String(row?.["name"]);
    runId = (await claimNext(desk.database, opened.jobIds[0] ?? "")).runId;
    await enterHost(desk.database, { host: HOST, provider: "ollama", parallel: null });
  });
  afterAll(() => desk.dispose());

  const take = () =>
    takeCall(
      desk.database,
      { ticket: randomUUID(), runId, host: HOST },
      {
        tokens: 900,
        night: { date: "2026-11-21", endsAt: new Date("2026-11-22T11:00:00Z") },
        perBatch: NO_LIMITS,
        perNight: NO_LIMITS,
      },
    );

  test("says that nothing was called and nothing is limited", async () => {
    const { code, stdout } = await desk.run("batch", "budget", name);
    expect([code, stdout.split("\n").slice(2)]).toEqual([
      0,
      [
        "tokens    0 used, no limit",
        "calls     0 used, no limit",
        "time      0 ms used, no limit",
        "",
      ],
    ]);
  });

  test("sets limits, which hold the batch at a call that does not fit, and doctor tells of it", async () => {
    expect(
      (await desk.run("batch", "budget", name, "--tokens", "500", "--wall-time", "1.5")).code,
    ).toBe(0);
    expect((await take()).outcome).toBe("budget");
    const { stdout } = await desk.run("batch", "budget", name);
    expect(stdout).toContain("state     held: budget");
    expect(stdout).toContain("tokens    0 used, of 500");
    expect(stdout).toContain("time      0 ms used, of 1.5 s");
    expect(stdout).toContain(
      "held      the budget of the batch has no room for the next call, which may take 900 tokens",
    );
    expect(stdout).toContain(
      `          to raise it: nightdesk batch budget "${name}" --tokens N\n`,
    );
    const priced = await desk.run("batch", "budget", name, "--money", "50");
    expect(priced.stdout).toMatch(/^money +0\.0000 used, of 50\.00$/m);
    expect(await checkHosts(desk.database, null)).toMatchObject([
      { code: "DOCTOR_HOST_OK", message: `${HOST} gets 1 at once (first guess for ollama).` },
      {
        code: "DOCTOR_BUDGET_USED_UP",
        fix: `See which limit to raise: nightdesk batch budget "${name}"`,
      },
    ]);
  });

  test("that is raised lets the batch go on at once; none lifts a limit", async () => {
    const { stdout } = await desk.run("batch", "budget", name, "--tokens", "none", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      batch_id: batchId,
      limits: { tokens: null, calls: null, seconds: 1.5 },
      refused_by: null,
    });
    expect((await take()).outcome).toBe("taken");
    const [row] = await rowsOf(
      desk.database,
      "select scope, tokens_reserved, is_used_up from nightdesk.budgets where batch_id is not null",
    );
    expect(row).toEqual({ scope: "batch", tokens_reserved: "900", is_used_up: false });
  });

  test("names the limit of money that calls in flight have reserved", () => {
    const [held, remedy] = formatBudget(
      {
        ...NO_BUDGET,
        limits: { ...NO_BUDGET.limits, money: 1 },
        reserved: { tokens: 50, calls: 1, money: 0.9 },
        ...{ refusedBy: "batch", tokensNeeded: 10, moneyNeeded: 0.2 },
      },
      "b",
    ).slice(-2);
    expect(held).toMatch(/next call$/);
    expect(remedy).toMatch(/budget "b" --money N$/);
  });

  test.each(["0", "-3", "1.5", "many", ""])(
    "refuses --calls %j with what was expected",
    async (text) => {
      const { code, stderr } = await desk.run("batch", "budget", name, `--calls=${text}`);
      expect(code).toBe(2);
      expect(stderr).toContain("expected a whole number from 1, or none for no limit");
    },
  );

  test("doctor tells of a host that is down, since when, and when it is asked again", async () => {
    await countHostFailure(desk.database, {
      host: HOST,
      code: "MODEL_UNREACHABLE",
      message: "No Ollama answers.",
      batchId,
      most: 1,
      pauseMs: 5_000,
    });
    const [check] = await checkHosts(desk.database, null);
    expect(check).toMatchObject({ level: "warn", code: "DOCTOR_HOST_DOWN" });
    expect(check?.message).toMatch(
      /is down since 20.*Z, and its jobs are held\. No Ollama answers\.$/,
    );
  });
});
