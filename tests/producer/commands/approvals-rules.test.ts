import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { selectCommandRules } from "../../../src/shared/store/investigations/command-rules.ts";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

const add = (...words: string[]) => desk.run("approvals", "rules", "add", ...words);

test("a rule that allows has a program, words, flags, a folder and an end", async () => {
  const ran = await add(
    "git",
    "blame",
    "--flag",
    "--porcelain",
    "--flag",
    "--since=",
    "--folder",
    "/input/repo/",
  );
  expect(ran).toMatchObject({ code: 0 });
  const [rule] = await selectCommandRules(desk.database);
  expect(rule).toMatchObject({
    decisionId: ran.stdout.trim(),
    verdict: "approve",
    rule: {
      binary: "git",
      words: ["blame"],
      flags: ["--porcelain", "--since="],
      folder: "/input/repo",
    },
  });
  const days = ((rule?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(6.9);
  expect(days).toBeLessThan(7.1);
  expect(ran.stderr).toContain(
    "Commands that begin with git blame, with the flags --porcelain, --since= and paths in /input/repo",
  );
});

test("words that begin with a dash stand behind two", async () => {
  const ran = await add("--json", "--days", "30", "--", "sed", "-n");
  expect(JSON.parse(ran.stdout)).toMatchObject({
    ok: true,
    verdict: "approve",
    rule: { binary: "sed", words: ["-n"], flags: [], folder: "/" },
  });
});

test("a rule that forbids has a reason, holds for good, and comes first", async () => {
  expect(await add("git", "--forbid", "--reason", "nobody's business")).toMatchObject({ code: 0 });
  expect((await selectCommandRules(desk.database))[0]).toMatchObject({
    verdict: "deny",
    rule: { binary: "git", words: [], flags: [], folder: null },
    reason: "nobody's business",
    expiresAt: null,
  });
});

test.each([
  [["/usr/bin/git"], "is not the plain name of a program"],
  [["git", "--forbid"], "--reason is missing"],
  [["git", "--forbid", "--reason", "x", "--flag", "-p"], "are of rules that allow"],
  [["git", "--folder", "/etc"], "is no folder of the sandbox"],
  [["git", "--folder", "/input/../etc"], "is no folder of the sandbox"],
  [["git", "--folder", "/input-other"], "is no folder of the sandbox"],
  [["git", "--flag", "log"], "does not begin with a dash"],
])("%j is refused", async (words, why) => {
  const before = await selectCommandRules(desk.database);
  const ran = await add(...words);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(why);
  expect(await selectCommandRules(desk.database)).toEqual(before);
});

test("rules are listed in words, beside the decisions about calls", async () => {
  const { code, stdout } = await desk.run("approvals", "rules");
  expect(code).toBe(0);
  expect(stdout).toContain("shell: git blame, with --porcelain --since=, in /input/repo");
  expect(stdout).toMatch(/shell: sed -n /);
});
