import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { findId } from "../../src/shared/store/jobs/find-id.ts";
import { openDesk, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";

let desk: Desk;
let ids: { readonly batch: string; readonly job: string; readonly run: string };
beforeAll(async () => {
  desk = await openDesk();
  const jobs = await insertFinishedBatch(desk.database, {
    name: "night",
    jobs: [{ customId: "q", input: { kind: "ask", question: "?" }, answer: "yes" }],
  });
  const [row] = await rowsOf(desk.database, "select batch_id, run_id from nightdesk_data.jobs");
  ids = {
    batch: String(row?.["batch_id"]),
    job: jobs.get("q") ?? "",
    run: String(row?.["run_id"]),
  };
  for (const [name, batchId] of [
    ["one", "abcdef01-2345-4000-8000-000000000001"],
    ["two", "abcdef01-2345-4000-8000-000000000002"],
    ["three", "abcdef01-9999-4000-8000-000000000003"],
    ["abcdef01", randomUUID()],
  ]) {
    await desk.database.query(
      "insert into nightdesk_data.batches (batch_id, name, state, finished_at) values ($1, $2, 'completed', now())",
      [batchId, name],
    );
  }
});
afterAll(() => desk.dispose());

const batchOf = async (text: string): Promise<unknown> => {
  const { stdout } = await desk.run("batch", "show", text, "--json");
  return (JSON.parse(stdout) as Record<string, unknown>)["batch"];
};

test("eight characters of an id name what they begin, wherever an id is accepted", async () => {
  expect(await batchOf(ids.batch.slice(0, 8))).toBe("night");
  for (const id of [ids.job, ids.run]) {
    const shown = await desk.run("runs", "show", id.slice(0, 8).toUpperCase(), "--json");
    expect(JSON.parse(shown.stdout)).toMatchObject([{ run_id: ids.run, job_id: ids.job }]);
  }
  const exported = await desk.run("runs", "export", "audit", "--run", ids.job.slice(0, 10));
  expect(exported).toMatchObject({ code: 0, stdout: "audit/runs\n" });
  const listed = await desk.run("runs", "list", "--batch", ids.batch.slice(0, 13), "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject([{ run_id: ids.run }]);
  const reported = await desk.run(
    "batch",
    "report",
    "night",
    "--compare",
    ids.batch.slice(0, 9),
    "--json",
  );
  expect(JSON.parse(reported.stdout)).toMatchObject({ compared_with: "night" });
});

test("a note is deleted by eight characters of its id", async () => {
  const { stdout } = await desk.run("memory", "add", "Be brief.", "--type", "preference");
  const deleted = await desk.run("memory", "delete", stdout.slice(0, 8));
  expect(deleted).toMatchObject({ code: 0, stderr: `Deleted note ${stdout.trim()}.\n` });
});

test("a beginning that several ids have is AMBIGUOUS_ID and names them", async () => {
  const { code, stderr } = await desk.run("batch", "show", "abcdef01-");
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'nightdesk: AMBIGUOUS_ID: "abcdef01-" begins several ids: batch abcdef01-2345-4000-8000-000000000001, ' +
      "batch abcdef01-2345-4000-8000-000000000002, batch abcdef01-9999-4000-8000-000000000003. " +
      "Give more characters of the one that is meant.\n",
  });
  expect(await batchOf("abcdef01-9")).toBe("three");
  expect(await batchOf("ABCDEF01234540008000000000000001")).toBe("one");
});

test("a name wins over the beginning of an id", async () => {
  expect(await batchOf("abcdef01")).toBe("abcdef01");
});

test("fewer than eight characters, and hyphens where an id has none, name nothing", async () => {
  for (const text of ["abcdef0", "abcdef-01", "abcdef012-345", "night5", "zzzzzzzz"]) {
    expect(await findId(desk.database, text, ["batch", "job", "run"])).toBeUndefined();
  }
  const { stderr } = await desk.run("runs", "show", "abcdef0");
  expect(stderr).toBe(
    'nightdesk: NOT_FOUND: "abcdef0" is not the id of a run or of a job, nor the beginning of one (8 characters or more). ' +
      "nightdesk runs list shows the ids.\n",
  );
});
