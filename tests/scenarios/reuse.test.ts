import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { JobInput } from "../../src/shared/job.ts";
import { selectRunDetails } from "../../src/shared/views/runs.ts";
import { rowOf } from "../conformance/jobs.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk } from "../support/replay-desk.ts";

const TEXT = "# Ferry\n\nThe ferry left the quay at dusk. It came back at dawn.\n";
const SAYS = "The ferry left the quay at dusk [1].";

let desk: ReplayDesk;
let says = SAYS;
beforeAll(async () => {
  desk = await openReplayDesk([{ name: "writer", respond: () => says }], "by_digest");
  // That its build ignores schemas is found out by the first reply, and the next request is another.
  await desk.write("allowed/corpus/first.md", TEXT);
  await desk.work(summary("first.md"));
});
afterAll(() => desk.dispose());

const summary = (name: string): JobInput => ({
  kind: "summarize",
  path: `allowed/corpus/${name}`,
});

/** Works the job. @returns its run, and how many calls its host was asked for */
async function work(input: JobInput) {
  const before = desk.double.chats().length;
  const jobId = await desk.work(input);
  const [run] = await selectRunDetails(desk.db, jobId);
  if (run === undefined) throw new Error("the job has no run");
  return { jobId, run, asked: desk.double.chats().length - before };
}

describe("a job of which nothing has changed", () => {
  test("asks nobody, and says whose result it took over", async () => {
    await desk.write("allowed/corpus/a.md", TEXT);
    const first = await work(summary("a.md"));
    expect(first).toMatchObject({ asked: 1, run: { state: "succeeded", cached_from: null } });
    const second = await work(summary("a.md"));
    expect(second).toMatchObject({
      asked: 0,
      run: {
        state: "succeeded",
        answer: first.run.answer,
        cached_from: first.run.run_id,
        prompt_tokens: 0,
        completion_tokens: 0,
        model_ms: 0,
      },
    });
    expect(second.run.calls).toEqual([
      expect.objectContaining({ origin: "cached", cached_from: first.run.run_id }),
    ]);
    const { rows } = await desk.db.query(
      "select cached_from from nightdesk.results where job_id = $1",
      [second.jobId],
    );
    expect(rows).toEqual([{ cached_from: first.run.run_id }]);
    // The third names the run that asked, and not the one that took it over.
    expect((await work(summary("a.md"))).run.cached_from).toBe(first.run.run_id);
  });

  test("can be repeated from its own record when the other is deleted", async () => {
    const { jobId, run } = await work(summary("a.md"));
    await desk.db.query("delete from nightdesk_data.jobs where run_id = $1", [run.cached_from]);
    expect(await desk.replay(jobId)).toMatchObject({ code: 0 });
  });

  test("has its answer checked against the evidence of today", async () => {
    await desk.write("allowed/corpus/quoted.md", TEXT);
    says = `## "The ferry sank at noon of that day"\n\n${SAYS}`;
    const first = await work(summary("quoted.md"));
    expect(first.run).toMatchObject({ state: "refused" });
    const second = await work(summary("quoted.md"));
    expect(second).toMatchObject({
      asked: 0,
      run: { state: "refused", error_code: first.run.error_code, cached_from: first.run.run_id },
    });
    says = SAYS;
  });
});

describe("a job asks again", () => {
  test.each([
    ["when its file has changed", `${TEXT}One line more.\n`, {}],
    ["when it has other options", TEXT, { bullets: true }],
  ])("%s", async (_, text, options) => {
    await desk.write("allowed/corpus/b.md", TEXT);
    await work(summary("b.md"));
    await desk.write("allowed/corpus/b.md", text);
    const again = await work({ kind: "summarize", path: "allowed/corpus/b.md", options });
    expect(again).toMatchObject({ asked: 1, run: { cached_from: null } });
    await desk.remove("allowed/corpus/b.md");
  });

  test("when its prompt is about another file of the same words", async () => {
    await desk.write("allowed/corpus/c.md", TEXT);
    await desk.write("allowed/corpus/d.md", TEXT);
    await work(summary("c.md"));
    expect(await work(summary("d.md"))).toMatchObject({ asked: 1 });
  });

  test("when the weights are others", async () => {
    await desk.write("allowed/corpus/e.md", TEXT);
    const { jobId } = await work(summary("e.md"));
    await desk.db.query(
      "update nightdesk_data.model_calls set request_sha256 = repeat('0', 64) where job_id = $1",
      [jobId],
    );
    expect((await rowOf(desk.db, jobId))["state"]).toBe("succeeded");
    expect(await work(summary("e.md"))).toMatchObject({ asked: 1 });
  });
});
