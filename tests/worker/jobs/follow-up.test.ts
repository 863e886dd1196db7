import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { Failure, refuse } from "../../../src/shared/failure.ts";
import { parseJobInput } from "../../../src/shared/job/job.ts";
import { findFollowed } from "../../../src/shared/store/jobs/followed.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type { PipelineDependencies } from "../../../src/worker/evidence/types.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import { readFollowed } from "../../../src/worker/jobs/follow.ts";
import { recordedFollowed } from "../../../src/worker/replay/recorded-tools.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import type { FinishedJob } from "../../support/finished-batch.ts";
import { passageOf, scripted, userText, worldOf } from "../../support/pipeline-world.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const FILES = {
  "in/lease.md": "# Lease\n\nThe rent is 900 EUR. The deposit is 1800 EUR.\n",
  "in/house.md": "# House\n\nPets are allowed.\n",
};

describe("a question that follows another one", () => {
  const followed = { question: "What is the rent of the flat?", paths: ["in/lease.md"] };

  test("is asked behind the former question, of the files of its run, and no model picks a file", async () => {
    const model = scripted(["The deposit is 1800 EUR [1]."]);
    const deps = worldOf({
      files: FILES,
      passages: [passageOf("in/house.md", FILES["in/house.md"])],
      models: [model],
    });
    const asked: string[] = [];
    const search: PipelineDependencies["search"] = (request, signal) => {
      asked.push(request.text);
      return deps.search(request, signal);
    };
    const trace = startTrace();
    const outcome = await answerQuestion(
      { jobId: "job", input: { kind: "ask", question: "And the deposit?" }, followed },
      { ...deps, search },
      trace,
      new AbortController().signal,
    );
    expect(outcome).toMatchObject({ kind: "succeeded", citations: [{ path: "in/lease.md" }] });
    const both = "What is the rent of the flat?\n\nAnd the deposit?";
    expect(asked).toEqual([both]);
    expect(model.requests).toHaveLength(1);
    expect(userText(model.requests[0])).toContain(both);
    expect(new Set(deps.reads.map(({ path }) => path))).toEqual(new Set(["in/lease.md"]));
    const { events } = trace.record();
    expect(events.find(({ step }) => step === "first_pass")?.detail).toEqual({ selected: "path" });
    const classified = events.find(({ step }) => step === "classify")?.detail;
    expect(classified).toMatchObject({ need: "file", named_files: ["in/lease.md"] });
    const rows = events.map(({ atMs, durationMs, ...event }) => ({
      ...event,
      at_ms: atMs,
      duration_ms: durationMs,
    }));
    expect(recordedFollowed({ events: rows })).toEqual(followed);
  });

  test("reads what it names beside the files that it carries", async () => {
    const deps = worldOf({ files: FILES, models: [scripted(["Pets are allowed [2]."])] });
    await answerQuestion(
      {
        jobId: "job",
        input: { kind: "ask", question: "And what does in/house.md say?" },
        followed,
      },
      deps,
      startTrace(),
      new AbortController().signal,
    );
    expect(deps.reads.map(({ path }) => path)).toEqual(["in/lease.md", "in/house.md"]);
  });

  test.each(["3f9a2c41", "", 7, "x".repeat(36)])(
    "names its job by its whole id, and not by %j",
    (follows) => {
      const line = { kind: "ask", question: "And?", options: { follows } };
      expect(parseJobInput(line)).toMatchObject({ ok: false });
      expect(parseJobInput({ ...line, options: { follows: randomUUID() } })).toMatchObject({
        ok: true,
      });
    },
  );
});

describe("what a question carries of another", () => {
  let opened: TestDatabase;
  beforeAll(async () => {
    const [engine] = ENGINES;
    if (engine === undefined) throw new Error("there is always one in this process");
    opened = await engine.open();
  });
  afterAll(() => opened.close());

  let batches = 0;
  const insert = async (job: Partial<FinishedJob>): Promise<string> => {
    const jobs = [{ customId: "a", input: { kind: "ask", question: "Rent?" }, ...job }];
    const ids = await insertFinishedBatch(opened.db, { name: `batch ${(batches += 1)}`, jobs });
    return ids.get("a") ?? "";
  };
  const evidence = (...paths: readonly string[]) =>
    paths.map((path) => ({ path, lines: [1, 2] as const, sha256: "a".repeat(64) }));
  /** Finds those paths, and others only under a name that fits. */
  const reader =
    (...paths: readonly string[]): PipelineDependencies["locate"] =>
    async (path) => {
      const found = paths.find((one) => one === path || one.endsWith(path.replace(/^.*\//, "/")));
      return found === undefined
        ? refuse("FILE_NOT_FOUND", "no")
        : { kind: "located", path: found };
    };
  const read = (jobId: string, ...readable: readonly string[]) =>
    readFollowed(jobId, opened.db, reader(...readable));
  const notFound = async (jobId: string, ...readable: readonly string[]): Promise<string> => {
    const error: unknown = await read(jobId, ...readable).catch((thrown: unknown) => thrown);
    if (!(error instanceof Failure) || error.code !== "NOT_FOUND") throw new Error("it was found");
    return error.message.replace(jobId, "JOB");
  };

  test("is its question and the files of its run, each once and in their order, never its answer", async () => {
    const job = await insert({
      answer: "900 EUR",
      evidence: evidence("in/b.md", "in/a.md", "in/b.md"),
    });
    expect(await read(job, "in/a.md", "in/b.md")).toEqual({
      question: "Rent?",
      paths: ["in/b.md", "in/a.md"],
    });
  });

  test("is named by one of its runs as well", async () => {
    const job = await insert({ evidence: evidence("in/a.md") });
    const { rows } = await opened.db.query(
      "select run_id from nightdesk_data.jobs where job_id = $1",
      [job],
    );
    const { run_id: run } = z.object({ run_id: z.string() }).parse(rows[0]);
    expect(await findFollowed(opened.db, run)).toEqual(await findFollowed(opened.db, job));
    expect(await findFollowed(opened.db, run)).toMatchObject({ job, question: "Rent?" });
  });

  test("is of one level: not what it followed itself", async () => {
    const first = await insert({ input: { kind: "ask", question: "Rent?" } });
    const second = await insert({
      input: { kind: "ask", question: "Deposit?", options: { follows: first } },
    });
    expect((await read(second)).question).toBe("Deposit?");
  });

  test("is 2,000 characters of its question and eight files at most", async () => {
    const names = Array.from({ length: 12 }, (_, at) => `in/${at}.md`);
    const question = "😀".repeat(3_000);
    const job = await insert({ input: { kind: "ask", question }, evidence: evidence(...names) });
    const carried = await read(job, ...names);
    expect(Array.from(carried.question)).toHaveLength(2_000);
    expect(carried.question.isWellFormed()).toBe(true);
    expect(carried.paths).toEqual(names.slice(0, 8));
  });

  test("is NOT_FOUND in the same words for what is not there and for what the asker may not read", async () => {
    const job = await insert({ evidence: evidence("in/a.md", "secret/b.md") });
    const unread = await notFound(job, "in/a.md");
    expect(await notFound(randomUUID())).toBe(unread);
    // A readable file that has the name of one that is not.
    expect(await notFound(job, "in/a.md", "in/b.md")).toBe(unread);
    // A file that was found and not admitted is one of the run.
    await opened.db.query(
      "update nightdesk_data.evidence set admitted = false, rejected_reason = 'x' where path = 'secret/b.md'",
    );
    expect(await notFound(job, "in/a.md")).toBe(unread);
    expect(await read(job, "in/a.md", "secret/b.md")).toMatchObject({ paths: ["in/a.md"] });
  });

  test.each<[string, Partial<FinishedJob>]>([
    ["a summary", { input: { kind: "summarize", path: "in/a.md" } }],
    ["a question without a result", { state: "failed", code: "INTERNAL_ERROR", message: "x" }],
  ])("is NOT_FOUND of %s", async (_, job) => {
    expect(await notFound(await insert(job))).toContain("no question JOB with a result");
  });

  test("is the question alone of one that was refused before anything was read", async () => {
    const job = await insert({ state: "refused", code: "EVIDENCE_NOT_ACQUIRED", message: "x" });
    expect(await read(job)).toEqual({ question: "Rent?", paths: [] });
  });
});
