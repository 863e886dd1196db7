import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { selectCommandRules } from "../../../src/shared/store/investigations/command-rules.ts";
import { askAbout, investigationsOf } from "../../support/waiting-investigations.ts";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

const add = (...words: string[]) => desk.run("approvals", "rules", "add", ...words);

/** A job of no batch that a rule is for. */
const NO_JOB = "00000000-0000-0000-0000-000000000000";
const rulesOf = (jobId = NO_JOB) => selectCommandRules(desk.database, jobId);

test("a rule that allows has a program, words, a folder and an end", async () => {
  const ran = await add("git", "blame", "--folder", "/input/repo/");
  expect(ran).toMatchObject({ code: 0 });
  const [rule] = await rulesOf();
  expect(rule).toMatchObject({
    decisionId: ran.stdout.trim(),
    verdict: "approve",
    rule: {
      binary: "git",
      words: ["blame"],
      folder: "/input/repo",
    },
  });
  const days = ((rule?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(6.9);
  expect(days).toBeLessThan(7.1);
  expect(ran.stderr).toContain(
    "Commands that begin with git blame, with paths in /input/repo, run without asking for 7 days",
  );
});

test("words that begin with a dash stand behind two", async () => {
  const ran = await add("--json", "--days", "30", "--", "sed", "-n");
  expect(JSON.parse(ran.stdout)).toMatchObject({
    ok: true,
    verdict: "approve",
    rule: { binary: "sed", words: ["-n"], folder: "/" },
  });
});

test("a rule holds for no more than ten years", async () => {
  const ran = await add("--days", "999999999", "wc");
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("at most 3,650") });
});

test("a rule that forbids has a reason, holds for good, and comes first", async () => {
  expect(await add("git", "--forbid", "--reason", "nobody's business")).toMatchObject({ code: 0 });
  expect((await rulesOf())[0]).toMatchObject({
    verdict: "deny",
    rule: { binary: "git", words: [], folder: null },
    reason: "nobody's business",
    expiresAt: null,
  });
});

test("a rule of a batch holds for its jobs, and lets what waits there go on", async () => {
  const { jobIds } = await investigationsOf(desk.database, "tonight", 1);
  const [jobId = ""] = jobIds;
  await askAbout(desk.database, jobId, { args: { command: "wc -l /input/a" } });
  const ran = await add("wc", "--batch", "tonight", "--json");
  expect(JSON.parse(ran.stdout)).toMatchObject({ scope: "batch", expires_at: null, woken: 1 });
  expect((await rulesOf(jobId)).map(({ rule }) => rule.binary)).toContain("wc");
  expect((await rulesOf()).map(({ rule }) => rule.binary)).not.toContain("wc");
  const own = await add("head", "--job", jobId.slice(0, 8));
  expect(own.stderr).toContain("run without asking in this job");
  expect((await desk.run("approvals", "rules")).stdout).toMatch(
    /for the batch "tonight" +shell: wc/,
  );
});

test.each([
  [["/usr/bin/git"], "is not the plain name of a program"],
  [["git", "--forbid"], "--reason is missing"],
  [["git", "--forbid", "--reason", "x", "--folder", "/input"], "is of rules that allow"],
  [["git", "--batch", "tonight", "--days", "3"], "each say how long the rule holds"],
  [["git", "--folder", "/etc"], "is no folder of the sandbox"],
  [["git", "--folder", "/input/../etc"], "is no folder of the sandbox"],
  [["git", "--folder", "/input-other"], "is no folder of the sandbox"],
])("%j is refused", async (words, why) => {
  const before = await rulesOf();
  const ran = await add(...words);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(why);
  expect(await rulesOf()).toEqual(before);
});

test("rules are listed in words, beside the decisions about calls", async () => {
  const { code, stdout } = await desk.run("approvals", "rules");
  expect(code).toBe(0);
  expect(stdout).toContain("shell: git blame, in /input/repo");
  expect(stdout).toMatch(/shell: sed -n /);
});
