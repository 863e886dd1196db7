import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { CHECKED_RECORD, replyBy, runByHand } from "../runs-by-hand.ts";
import type { HandRun } from "../runs-by-hand.ts";
import { answered } from "../work-by-hand.ts";

const HOSTILE = `"}]}\n\u001b[2J \u202e </script> \\u0000 ${"🚋".repeat(50)}`;

let desk: Desk;
let first: HandRun;
beforeAll(async () => {
  desk = await openDesk();
  const record = { ...CHECKED_RECORD, replies: [replyBy("a", HOSTILE)] };
  first = await runByHand(desk.database, answered(HOSTILE), record);
  for (let more = 0; more < 44; more += 1)
    await runByHand(desk.database, answered(`Answer ${more}.`), CHECKED_RECORD);
});
afterAll(() => desk.dispose());

const inside = (...names: readonly string[]) => join(desk.workroot, ...names);
const fileOf = (folder: string, { runId }: HandRun) => inside(folder, "runs", runId, "run.json");
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test("writes each run that has ended to a file of its own, whatever a model wrote", async () => {
  const { stdout, stderr, code } = await desk.run("runs", "export", "audit");
  expect({ stdout, stderr, code }).toEqual({
    stdout: "audit/runs\n",
    stderr: "Exported 45 runs.\n",
    code: 0,
  });
  expect(await readdir(inside("audit", "runs"))).toHaveLength(45);
  const text = await readFile(fileOf("audit", first), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    schema_version: 1,
    run_id: first.runId,
    job_id: first.jobId,
    state: "succeeded",
    calls: [{ reply: HOSTILE, prompt: { evidence: [{ path: "allowed/corpus/a.md" }] } }],
    quotes: [{ class: "verbatim" }, { class: "not_found" }],
    config_sha256: "e".repeat(64),
  });
  expect(JSON.parse(text)).not.toHaveProperty("job_state");
});

test("lets nobody else read it, and leaves nothing else behind", async () => {
  await desk.run("runs", "export", "private", "--run", first.runId);
  expect(await readdir(inside("private", "runs", first.runId))).toEqual(["run.json"]);
  expect(await modeOf(fileOf("private", first))).toBe("600");
  for (const folder of ["private", "private/runs", `private/runs/${first.runId}`])
    expect(await modeOf(inside(folder))).toBe("700");
});

test("takes the id of a job for its runs", async () => {
  const { stdout, code } = await desk.run(
    "runs",
    "export",
    "by-job",
    "--run",
    first.jobId,
    "--json",
  );
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { written: 1 }]);
  expect(await readdir(inside("by-job", "runs"))).toEqual([first.runId]);
});

test("again leaves what is there, and never replaces other content without --force", async () => {
  const exported = () =>
    desk.run("runs", "export", "again", "--batch", first.batchId, "--json").then(({ stdout }) => {
      return JSON.parse(stdout) as unknown;
    });
  const folder = "again/runs";
  expect(await exported()).toEqual({ ok: true, folder, written: 1, unchanged: 0, running: 0 });
  expect(await exported()).toEqual({ ok: true, folder, written: 0, unchanged: 1, running: 0 });

  await writeFile(fileOf("again", first), "mine");
  const { stderr, code } = await desk.run("runs", "export", "again", "--run", first.runId);
  expect(code).toBe(1);
  expect(stderr).toMatch(/INPUT_INVALID: .*run\.json" is there already\. Give --force/);
  expect(await readFile(fileOf("again", first), "utf8")).toBe("mine");

  await desk.run("runs", "export", "again", "--run", first.runId, "--force");
  expect(JSON.parse(await readFile(fileOf("again", first), "utf8"))).toMatchObject({
    run_id: first.runId,
  });
});

test("takes a folder of the name runs itself", async () => {
  const { stdout } = await desk.run("runs", "export", "deep/er/runs", "--run", first.runId);
  expect(stdout).toBe("deep/er/runs\n");
  expect(await readdir(inside("deep", "er", "runs"))).toEqual([first.runId]);
});

test.each([
  ["outside of the work root", "../elsewhere"],
  ["an absolute path elsewhere", "/tmp/elsewhere"],
  ["the folder of the database", ".nightdesk"],
])("writes nothing to %s", async (_, folder) => {
  const { stderr, code } = await desk.run("runs", "export", folder);
  expect(code).toBe(4);
  expect(stderr).toContain("PATH_DENIED");
});

test("follows no link out of the work root", async () => {
  const away = await openDesk("empty");
  await symlink(away.workroot, inside("linked"));
  const { code, stderr } = await desk.run("runs", "export", "linked");
  expect(code).toBe(4);
  expect(stderr).toContain("PATH_DENIED");
  expect(await readdir(away.workroot)).not.toContain("runs");

  await mkdir(inside("half", "runs", first.runId), { recursive: true });
  await symlink(join(away.workroot, "caught.json"), fileOf("half", first));
  const half = await desk.run("runs", "export", "half", "--run", first.runId, "--force");
  expect(half.code).toBe(4);
  expect(await readdir(away.workroot)).not.toContain("caught.json");
  await away.dispose();
});

test("of a run or a batch that is none is NOT_FOUND", async () => {
  const nobody = "00000000-0000-4000-8000-000000000000";
  for (const words of [
    ["--run", "x"],
    ["--run", nobody],
    ["--batch", "x"],
  ]) {
    const { code, stderr } = await desk.run("runs", "export", "none", ...words);
    expect(code).toBe(1);
    expect(stderr).toContain("NOT_FOUND");
  }
});
