import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openDesk } from "./desk.ts";
import type { Desk } from "./desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk("empty");
});
afterAll(() => desk.dispose());

describe("migrate", () => {
  test("says what is pending in an empty database, and other commands say what to do", async () => {
    const status = await desk.run("migrate", "--status", "--json");
    expect(JSON.parse(status.stdout)).toMatchObject({
      applied: [],
      pending: expect.arrayContaining(["0001_jobs.sql"]),
    });
    const list = await desk.run("batch", "list");
    expect(list.stderr).toContain("Run: nightdesk migrate");
    expect(list.code).toBe(78);
  });

  test("applies everything once, the queue's tables too", async () => {
    const first = await desk.run("migrate", "--json");
    expect(JSON.parse(first.stdout)).toMatchObject({
      ok: true,
      applied: expect.arrayContaining(["0001_jobs.sql"]),
    });
    const second = await desk.run("migrate");
    expect(second.stderr).toContain("nothing to do");
    const { rows } = await desk.database.query(
      "select 1 from pg_namespace where nspname = 'bullmq'",
    );
    expect(rows).toHaveLength(1);
    const status = await desk.run("migrate", "--status");
    expect(status.stdout).toContain("applied  0001_jobs.sql");
  });
});

describe("completion", () => {
  test.each(["bash", "zsh", "fish"])(
    "for %s is a script that the shell can read",
    async (shell) => {
      const { stdout, code } = await desk.run("completion", shell);
      expect(code).toBe(0);
      expect(stdout).toContain("batch show");
      expect(stdout).not.toContain("demo");
      const script = await desk.write(`completion.${shell}`, stdout);
      const { error, status, stderr } = spawnSync(shell, ["-n", script], { encoding: "utf8" });
      // A shell that is not installed can't judge.
      if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    },
  );

  test.each([
    [["nightdesk", "ba"], "batch backup"],
    [["nightdesk", "batch", "c"], "cancel"],
    [["nightdesk", "batch", "wait", "--no-h"], "--no-hold"],
    [["nightdesk", "sql", "x", "--format", ""], "table json csv"],
    [["nightdesk", "completion", "f"], "fish"],
    [["nightdesk", "ask", "--limi"], ""],
  ])("for bash completes %j to %j", async (words, expected) => {
    const { stdout } = await desk.run("completion", "bash");
    const script = `${stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}\n_nightdesk; echo "\${COMPREPLY[*]}"`;
    const { stdout: completed } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
    expect(completed.trim().split(" ").sort()).toEqual(expected.split(" ").sort());
  });

  test.each([
    ["nightdesk ba", ["backup", "batch"]],
    ["nightdesk --json batch wa", ["wait"]],
    ["nightdesk sql x --format ", ["csv", "json", "table"]],
    ["nightdesk batch wait --no-h", ["--no-hold"]],
  ])("for fish completes %j to %j", async (typed, expected) => {
    const { stdout } = await desk.run("completion", "fish");
    const script = `${stdout}\ncomplete -C '${typed}'`;
    const { error, stdout: completed } = spawnSync("fish", ["-c", script], { encoding: "utf8" });
    if (error !== undefined) return;
    const words = completed.trimEnd().split("\n");
    expect(words.map((line) => line.split("\t")[0])).toEqual(expected);
  });

  test("for another shell is a usage error", async () => {
    const { code, stderr } = await desk.run("completion", "tcsh");
    expect(stderr).toContain('"tcsh" is not a shell of bash, zsh, fish');
    expect(code).toBe(2);
  });
});

describe("config show", () => {
  test("masks passwords and says where each value came from", async () => {
    await desk.write(
      "secret.yaml",
      "extends: nightdesk.yaml\ndatabase: { url: 'postgres://u:hunter2@h/d' }\nqueue: { redis_url: 'redis://:hunter3@h:1' }\n",
    );
    for (const flags of [[], ["--json"]]) {
      const { stdout, stderr, code } = await desk.run(
        "config",
        "show",
        "--config",
        "secret.yaml",
        ...flags,
      );
      expect(stdout + stderr).not.toMatch(/hunter/);
      expect(stdout).toContain("secret.yaml");
      expect(stdout).toContain("model.provider");
      expect(code).toBe(0);
    }
  });

  test("tells the folders on stdout too, as comments behind the values", async () => {
    const { stdout, stderr } = await desk.run("config", "show");
    expect(stdout).toContain(`\n# work root: ${desk.workroot}\n`);
    expect(stderr).toBe("");
  });
});

test("backup of a server names its own tool", async () => {
  const { stderr, code } = await desk.run("backup", "a dump");
  expect(stderr).toContain(
    `pg_dump --format=custom --file='${desk.workroot}/a dump' "$DATABASE_URL"`,
  );
  expect(code).toBe(1);
});
