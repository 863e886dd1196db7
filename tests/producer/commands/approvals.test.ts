import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { decideApproval } from "../../../src/shared/store/investigations/approvals.ts";
import type { ApprovalRequest } from "../../../src/shared/store/investigations/approvals.ts";
import { evaluateHolds } from "../../../src/shared/store/jobs/holds.ts";
import {
  askAbout,
  investigationsOf,
  leaveUncertain,
} from "../../support/waiting-investigations.ts";
import { insertJobs } from "../../../src/shared/store/jobs/insert-jobs.ts";
import { askJob } from "../../conformance/jobs.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());

const me = userInfo().username;
let calls = 0;
/** A call that nobody asked about before. */
const newCall = (more: Partial<ApprovalRequest> = {}): Partial<ApprovalRequest> => ({
  fingerprint: (calls += 1).toString(16).padStart(64, "0"),
  ...more,
});
let batches = 0;

/** So many runs of a new batch wait for one call. @returns ids of the requests, oldest first */
async function waiting(
  jobs: number,
  call: Partial<ApprovalRequest>,
  name = `night-${(batches += 1)}`,
) {
  const { batchId, jobIds } = await investigationsOf(desk.database, name, jobs);
  for (const jobId of jobIds) await askAbout(desk.database, jobId, call);
  const rows = await rowsOf(
    desk.database,
    "select approval_id from nightdesk.approvals where batch_id = $1 order by requested_at",
    [batchId],
  );
  return { name, batchId, jobIds, ids: rows.map((row) => String(row["approval_id"])) };
}

/** Another job of a batch waits for a call of another tool. */
async function askMore(batchId: string, call: Partial<ApprovalRequest>): Promise<void> {
  const input = { kind: "investigate", task: "Look." } as const;
  const ids = await insertJobs(desk.database, batchId, [askJob("more", { input })]);
  const jobId = ids.get("more") ?? "";
  await askAbout(desk.database, jobId, call);
  const statement = "update nightdesk_data.approvals set tool = 'web_fetch' where job_id = $1";
  await desk.database.query(statement, [jobId]);
}

const statesOf = async (jobIds: readonly string[]): Promise<unknown[]> =>
  (
    await rowsOf(
      desk.database,
      `select j.state || ' ' || a.state as s from nightdesk_data.jobs j join nightdesk_data.approvals a using (job_id)
        where job_id = any($1) order by seq`,
      [jobIds],
    )
  ).map((row) => row["s"]);

const jsonOf = async (...words: string[]): Promise<unknown> => {
  const ran = await desk.run(...words, "--json");
  expect(ran).toMatchObject({ code: 0 });
  return JSON.parse(ran.stdout);
};

test("nothing waits at first", async () => {
  expect(await desk.run("approvals", "list")).toEqual({
    code: 0,
    stdout: "",
    stderr: "Nothing waits for approval.\n",
  });
  expect(await desk.run("approvals", "rules")).toMatchObject({
    stderr: "No decision stands: each call that needs it is asked about.\n",
  });
});

describe("a list", () => {
  test("groups what waits by call, over batches, what most wait for first", async () => {
    const call = newCall();
    const first = await waiting(3, call);
    const second = await waiting(1, call);
    const risky = await waiting(
      1,
      newCall({ preview: "rm -r ../old", risks: ["deletes", "out_of_root"] }),
    );
    expect(await jsonOf("approvals", "list")).toMatchObject([
      {
        approval_id: first.ids[0],
        tool: "shell",
        requests: 4,
        batches: [
          { batch: first.name, requests: 3 },
          { batch: second.name, requests: 1 },
        ],
      },
      { approval_id: risky.ids[0], requests: 1, risks: ["deletes", "out_of_root"] },
    ]);
    const isCut = async (limit: string) =>
      (await desk.run("approvals", "list", "--limit", limit)).stderr.includes("The first");
    expect([await isCut("1"), await isCut("2")]).toEqual([true, false]);
    expect(await jsonOf("approvals", "list", "--limit", "1")).toHaveLength(1);
    expect(await jsonOf("approvals", "list", "--batch", second.name)).toMatchObject([
      { approval_id: second.ids[0], requests: 1 },
    ]);
    const shown = await desk.runOn({ columns: 160, env: { TZ: "UTC" } }, "approvals", "list");
    expect(shown.stdout).toMatch(
      new RegExp(`^${first.ids[0]?.slice(0, 8)} +.*waiting.* 4 +shell +git log …`, "m"),
    );
    expect(shown.stdout).toContain("deletes, leaves the root");
    expect(shown.stderr).toContain("5 runs wait for 2 calls to be approved.");
  });

  test("leaves out what was answered, unless all is asked for", async () => {
    const { name, ids } = await waiting(2, newCall());
    await desk.run("approvals", "approve", ids[0] ?? "");
    expect(await jsonOf("approvals", "list", "--batch", name)).toEqual([]);
    expect(await jsonOf("approvals", "list", "--batch", name, "--all")).toMatchObject([
      { state: "approved", requests: 2, decided_by: me },
    ]);
  });
});

test("a request past its time hides no other for the same call, and does not wait", async () => {
  const { name, ids } = await waiting(2, newCall());
  await desk.database.query(
    "update nightdesk_data.approvals set expires_at = now() - interval '1 s' where approval_id = $1",
    [ids[0]],
  );
  const list = () => jsonOf("approvals", "list", "--batch", name);
  expect(await list()).toMatchObject([{ approval_id: ids[1], requests: 1, state: "waiting" }]);
  expect(await jsonOf("approvals", "list", "--batch", name, "--all")).toMatchObject([
    { approval_id: ids[1], state: "waiting" },
    { approval_id: ids[0], state: "expired" },
  ]);
  expect(await desk.run("approvals", "approve", ids[1] ?? "")).toMatchObject({ code: 0 });
  expect(await list()).toEqual([]);
});

test("a request is shown with its arguments, who waits with it, and what was decided before", async () => {
  const call = newCall({ risks: ["network"], preview: "curl example.org\nfetches a page" });
  const before = await waiting(1, call);
  await desk.run("approvals", "deny", before.ids[0] ?? "", "--reason", "Read notes/log.md.");
  const { ids, name } = await waiting(2, call);
  const shown = await desk.run("approvals", "show", (ids[0] ?? "").slice(0, 8));
  expect(shown).toMatchObject({ code: 0 });
  for (const text of [
    `approval  ${ids[0]}`,
    'arguments: {"command":"git log","cwd":"."}',
    "risks     uses the network",
    "  fetches a page",
    "Waiting with it: 2 runs",
    `${name}, "${name}-1", step 0`,
    `denied once by ${me}, 1 run`,
    "reason: Read notes/log.md.",
  ]) {
    expect(shown.stdout).toContain(text);
  }
  expect(await jsonOf("approvals", "show", ids[1] ?? "")).toMatchObject({
    approval_id: ids[1],
    waiting: [{ approval_id: ids[0] }, { approval_id: ids[1] }],
    history: [{ verdict: "deny", reason: "Read notes/log.md.", hits: 1 }],
  });
});

describe("a decision", () => {
  test("once answers all that wait for the same now, and nothing later", async () => {
    const call = newCall();
    const first = await waiting(2, call);
    const second = await waiting(1, call);
    const ran = await desk.run("approvals", "approve", (first.ids[1] ?? "").slice(0, 9));
    expect(ran).toEqual({ code: 0, stdout: "", stderr: "Approved: 3 runs go on.\n" });
    expect(await statesOf([...first.jobIds, ...second.jobIds])).toEqual(
      Array(3).fill("queued approved"),
    );
    expect(await statesOf((await waiting(1, call)).jobIds)).toEqual(["parked waiting"]);
  });

  test("for the job, the batch, or as a rule answers as far as it goes, and is listed", async () => {
    const call = newCall();
    const first = await waiting(2, call);
    const other = await waiting(1, call);
    const job = await jsonOf("approvals", "approve", first.ids[0] ?? "", "--scope", "job");
    expect(job).toMatchObject({
      ok: true,
      verdict: "approve",
      scope: "job",
      answered: 1,
      woken: 1,
    });
    const batch = await jsonOf("approvals", "approve", first.ids[1] ?? "", "--scope", "batch");
    expect(batch).toMatchObject({ scope: "batch", answered: 1 });
    expect(await statesOf(other.jobIds)).toEqual(["parked waiting"]);
    const rule = await desk.run(
      ...["approvals", "deny", other.ids[0] ?? "", "--scope", "rule", "--expires", "12h"],
    );
    expect(rule.stderr).toMatch(
      /^Denied: 1 run goes on without it\. .*approvals revoke [0-9a-f-]{36}/,
    );
    expect(await statesOf((await waiting(1, call)).jobIds)).toEqual(["running denied"]);
    const rules = await jsonOf("approvals", "rules");
    expect(rules).toMatchObject([
      { scope: "rule", verdict: "deny", hits: 2, tool: "shell", decided_by: me },
      { scope: "batch", verdict: "approve", batch: first.name, hits: 1 },
      { scope: "job", custom_id: `${first.name}-0`, hits: 1 },
    ]);
    const [listed] = rules as { expires_at: string; reason: string }[];
    expect(listed?.reason).toBe("somebody was asked, and said no.");
    const hours = (Date.parse(listed?.expires_at ?? "") - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
  });

  test("that was revoked answers nothing any more, and is revoked once", async () => {
    const call = newCall();
    const first = await waiting(1, call);
    const made = (await jsonOf(
      ...["approvals", "approve", first.ids[0] ?? "", "--scope", "rule"],
    )) as { decision_id: string };
    const short = made.decision_id.slice(0, 8);
    expect(await desk.run("approvals", "revoke", short)).toMatchObject({ code: 0 });
    expect(await statesOf((await waiting(1, call)).jobIds)).toEqual(["parked waiting"]);
    const again = await desk.run("approvals", "revoke", short);
    expect(again).toMatchObject({ code: 1 });
    expect(again.stderr).toContain("was revoked before");
    const all = (await jsonOf("approvals", "rules", "--all")) as { decision_id: string }[];
    expect(all.map(({ decision_id: id }) => id)).toContain(made.decision_id);
    const standing = (await jsonOf("approvals", "rules")) as { decision_id: string }[];
    expect(standing.map(({ decision_id: id }) => id)).not.toContain(made.decision_id);
  });

  test("that comes second changes nothing, and says who was first", async () => {
    const { ids, jobIds } = await waiting(1, newCall());
    await decideApproval(desk.database, ids[0] ?? "", {
      verdict: "approve",
      scope: "once",
      reason: null,
      decidedBy: "Ada",
      expiresInSeconds: null,
    });
    const late = await desk.run("approvals", "deny", ids[0] ?? "");
    expect(late).toMatchObject({ code: 1, stdout: "" });
    expect(late.stderr).toMatch(/It was approved before, by Ada at .*; nothing was changed\./);
    expect(await statesOf(jobIds)).toEqual(["queued approved"]);
  });

  test("about what has expired is too late", async () => {
    const { ids } = await waiting(1, newCall({ expiresInSeconds: 0 }));
    const late = await desk.run("approvals", "approve", ids[0] ?? "");
    expect(late.stderr).toContain("APPROVAL_EXPIRED");
    expect(late.code).toBe(1);
  });

  test.each([
    [["approve", "12345678"], 1, "There is no approval"],
    [["show", "nope"], 1, "There is no approval"],
    [["revoke", "12345678"], 1, "There is no decision"],
    [["approve", "ID", "--expires", "7d"], 2, "--expires is for rules"],
    [["approve", "ID", "--scope", "rule", "--expires", "soon"], 2, "is no duration"],
  ])("%j is refused with a remedy", async (words, code, message) => {
    const { ids, jobIds } = await waiting(1, newCall());
    const ran = await desk.run(
      "approvals",
      ...words.map((word) => (word === "ID" ? (ids[0] ?? "") : word)),
    );
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(message);
    expect(await statesOf(jobIds)).toEqual(["parked waiting"]);
  });
});

describe("a batch of which something waits", () => {
  test("is shown with its calls, what holds it, and the commands that help", async () => {
    const name = `night-${(batches += 1)}`;
    const { batchId, jobIds } = await investigationsOf(desk.database, name, 21);
    const many = newCall({ risks: ["network"] });
    for (const jobId of jobIds.slice(1)) await askAbout(desk.database, jobId, many);
    await askAbout(desk.database, jobIds[0] ?? "", newCall({ preview: "other" }));
    await evaluateHolds(desk.database);
    const shown = (await jsonOf("batch", "show", name)) as {
      waiting_for_people: { approvals: { approval_id: string }[] };
    };
    expect(shown).toMatchObject({
      hold_reason: "approvals",
      waiting_for_people: {
        requests: 21,
        calls: 2,
        uncertain: 0,
        approvals: [{ requests: 20 }, { requests: 1 }],
      },
    });
    const id = shown.waiting_for_people.approvals[0]?.approval_id ?? "";
    const { stdout } = await desk.run("batch", "show", name);
    expect(stdout).toContain(
      `state     held: approvals\n          more than a quarter of it waits for somebody: nightdesk approvals review --batch "${name}"\n`,
    );
    expect(stdout).toContain(`
What waits for a person:
  20 runs want shell: git log …
    it uses the network
`);
    expect(stdout).toContain(`    nightdesk approvals show ${id}\n`);
    expect(stdout).toContain("  1 run wants shell: other\n");
    expect(stdout).not.toContain("What did not succeed");
    const waited = await desk.run("batch", "wait", name, "--no-hold");
    expect(waited).toMatchObject({ code: 75 });
    expect(waited.stderr).toContain(
      `21 runs of it wait for somebody: nightdesk approvals review --batch "${name}"\n`,
    );
    expect(stdout).toContain(`  nightdesk approvals review --batch ${batchId}\n`);
    await desk.run("approvals", "approve", id.slice(0, 8));
    expect(await jsonOf("batch", "show", name)).toMatchObject({ hold_reason: null });
  });

  test("is reported with its calls in both forms, and not as a failure", async () => {
    const { name, batchId, ids } = await waiting(3, newCall({ preview: "git log <b>" }));
    const files = (await jsonOf("batch", "report", name)) as { html: string; markdown: string };
    const page = await readFile(files.html, "utf8");
    const text = await readFile(files.markdown, "utf8");
    for (const form of [page, text]) {
      expect(form).toContain("What waits for a person");
      expect(form).toContain("3 runs want shell: ");
      expect(form).toContain(`nightdesk approvals show ${ids[0]}`);
      expect(form).toContain(`nightdesk approvals review --batch ${batchId}`);
      expect(form).not.toContain("What failed, and what to do");
    }
    expect(page).toContain("git log &lt;b&gt;");
    expect(page).not.toContain("<b>");
  });

  test("says of how many runs it is not known whether a call had its effect", async () => {
    const name = `lost-${(batches += 1)}`;
    const { batchId, jobIds } = await investigationsOf(desk.database, name, 1);
    await leaveUncertain(desk.database, jobIds[0] ?? "");
    const { stdout } = await desk.run("batch", "show", name);
    expect(stdout).toContain("Of 1 run somebody has to say whether a call had its effect");
    expect(stdout).toContain(`nightdesk approvals list --uncertain --batch ${batchId}`);
    await desk.run("approvals", "resolve", jobIds[0] ?? "", "0", "--did-not-happen");
  });
});

describe("a call during which a worker was lost", () => {
  const uncertain = async () => {
    const { jobIds } = await investigationsOf(desk.database, `lost-${(batches += 1)}`, 1);
    const run = await leaveUncertain(desk.database, jobIds[0] ?? "");
    return run;
  };
  const after = async (jobId: string) =>
    (
      await rowsOf(
        desk.database,
        `select j.state as job, s.state as step, s.detail->>'resolved_by' as by, t.error_message as told
           from nightdesk_data.jobs j join nightdesk_data.steps s using (job_id)
           join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal where j.job_id = $1`,
        [jobId],
      )
    )[0];

  test("is listed, and counts as carried out when somebody says that it happened", async () => {
    const { jobId } = await uncertain();
    const listed = await jsonOf("approvals", "list", "--uncertain");
    expect(listed).toMatchObject([{ job_id: jobId, step: 0, tool: "shell", job_state: "parked" }]);
    const ran = await desk.run("approvals", "resolve", jobId.slice(0, 8), "0", "--happened");
    expect(ran).toMatchObject({ code: 0 });
    expect(await after(jobId)).toMatchObject({
      job: "queued",
      step: "done",
      by: me,
      told: expect.stringContaining(`${me} looked, and says that it was carried out`),
    });
    const again = await desk.run("approvals", "resolve", jobId, "0", "--did-not-happen");
    expect(again).toMatchObject({ code: 1 });
    expect(again.stderr).toContain(`${me} resolved step 0`);
    expect(await jsonOf("approvals", "list", "--uncertain")).toEqual([]);
  });

  test("is skipped when it did not happen, also by the id of its run", async () => {
    const { jobId, runId } = await uncertain();
    const ran = await desk.run("approvals", "resolve", runId.slice(0, 8), "0", "--did-not-happen");
    expect(ran).toMatchObject({ code: 0 });
    expect(await after(jobId)).toMatchObject({ job: "queued", step: "skipped", told: null });
  });

  test.each([
    [["0"], "either --happened or --did-not-happen"],
    [["0", "--happened", "--did-not-happen"], "either --happened or --did-not-happen"],
    [["first", "--happened"], "is no step"],
    [["7", "--happened"], "has no step 7"],
  ])("stays as it is with %j", async (words, message) => {
    const { jobId } = await uncertain();
    const ran = await desk.run("approvals", "resolve", jobId, ...words);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(message);
    expect(await after(jobId)).toMatchObject({ job: "parked", step: "uncertain" });
    await desk.run("approvals", "resolve", jobId, "0", "--did-not-happen");
  });
});

describe("many calls at once", () => {
  test("are those of a batch and a tool, and no others", async () => {
    const one = await waiting(2, newCall());
    await askMore(one.batchId, newCall());
    const same = newCall();
    const both = await waiting(1, same);
    const other = await waiting(1, same);
    const where = ["--batch", one.name, "--where", "tool=shell"];
    expect(await jsonOf("approvals", "approve", ...where)).toEqual({
      ok: true,
      verdict: "approve",
      calls: 1,
      answered: 2,
      woken: 2,
    });
    expect(await statesOf(one.jobIds)).toEqual(["queued approved", "queued approved"]);
    const denied = await desk.run("approvals", "deny", "--batch", both.name, "--reason", "no");
    expect(denied.stderr).toContain("Denied: 1 call; 1 run goes on.");
    expect(await statesOf(other.jobIds)).toEqual(["parked waiting"]);
    const all = await desk.run("approvals", "approve", "--all");
    expect(all.stderr).toMatch(/^Approved: \d+ calls; \d+ runs go on\.\n/);
    expect(await statesOf(other.jobIds)).toEqual(["queued approved"]);
    expect((await desk.run("approvals", "approve", "--all")).stderr).toContain(
      "Nothing of that waits for approval.",
    );
  });

  test.each([
    [[], "Say what is decided"],
    [["3f9a61c2", "--all"], "Say what is decided"],
    [["--where", "shell"], "is not of the form tool=NAME"],
  ])("%j is refused", async (words, why) => {
    const ran = await desk.run("approvals", "approve", ...words);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(why);
  });
});
