import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { insertDigests } from "../../src/producer/selection/digests.ts";
import type { JobInput } from "../../src/shared/job/job.ts";
import { findOrCreateBatch, openBatch } from "../../src/shared/store/jobs/batches.ts";
import { selectFileJobs } from "../../src/shared/store/jobs/dependencies.ts";
import { insertJobs } from "../../src/shared/store/jobs/insert-jobs.ts";
import { eventually } from "../conformance/signal.ts";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk, ReplayOptions } from "../support/replay-desk.ts";
import type { Ended } from "../support/run-bin.ts";

const FILES: Readonly<Record<string, string>> = {
  "allowed/corpus/rail/tickets.md": "# Tickets\r\n\r\nA ticket costs 4 EUR 🚋 a day.\r\n",
  "allowed/corpus/rail/trains.md": "# Trains\n\nTrains run every 20 minutes.\n",
  "allowed/corpus/board/rope.md": "# Rope\n\nAda Lind orders the rope by 30 June 2026.\n",
};
const MISSING = "allowed/corpus/rail/missing.md";
const LONG = Array.from(
  { length: 900 },
  (_, line) => `Entry ${line}: the ferry left the quay and came back at dusk, as usual.\n`,
).join("");

const FIELDS = JSON.stringify({
  label: "rail",
  priority: "normal",
  reason: "It tells of trains.",
  quote: "Trains run every 20 minutes.",
});

describeOn("postgres", "extractions and digests that are repeated", (name) => {
  let desk: ReplayDesk;
  /** What the model says to one prompt after the other; the last goes on. */
  let script: { fields: string[]; digest: string[] };
  const next = (replies: string[]): string =>
    (replies.length > 1 ? replies.shift() : replies[0]) ?? "";
  const wants = (messages: readonly DoubleMessage[], words: string): boolean =>
    messages.some(({ content }) => content.includes(words));

  beforeAll(async () => {
    desk = await openReplayDesk(name, [
      {
        name: "writer",
        contextLength: 4_096,
        respond(messages) {
          if (wants(messages, "You take fields out of")) return next(script.fields);
          if (wants(messages, "You tell in a few lines")) return next(script.digest);
          return "Something is told there [1].";
        },
      },
    ]);
    for (const [path, text] of Object.entries(FILES)) await desk.write(path, text);
    await desk.write("allowed/corpus/long.md", LONG);
  });
  afterAll(() => desk.dispose());
  beforeEach(() => {
    script = { fields: [FIELDS], digest: ["- It is told of [1]."] };
  });

  type Report = Ended & {
    readonly ok: boolean;
    readonly state: string;
    readonly repeated: {
      readonly files: number;
      readonly jobs: number;
      readonly calls: readonly {
        readonly pass: string;
        readonly prompt_template: string;
        readonly request: string;
      }[];
      readonly calls_then: number;
      readonly stopped: string | null;
      readonly differences: readonly { readonly what: string }[];
    };
  };

  async function report(id: string, options: ReplayOptions = {}): Promise<Report> {
    const ran = await desk.replay(id, { ...options, flags: ["--json"] });
    return { ...(JSON.parse(ran.stdout) as Report), ...ran };
  }

  const chats = () => desk.double.requests.filter(({ path }) => path === "/api/chat").length;

  /** A replay to the same result, with what it asks of a model's prompts, and without asking one. */
  async function expectSame(id: string, passes?: readonly string[]): Promise<Report> {
    const before = chats();
    const found = await report(id);
    expect(found).toMatchObject({
      code: 0,
      ok: true,
      repeated: { stopped: null, differences: [] },
    });
    if (passes !== undefined) expect(found.repeated.calls.map(({ pass }) => pass)).toEqual(passes);
    expect(found.repeated.calls).toHaveLength(found.repeated.calls_then);
    expect(found.repeated.calls.filter(({ request }) => request !== "same")).toEqual([]);
    expect(chats()).toBe(before);
    return found;
  }

  const classify = (path: string) =>
    ({
      kind: "extract",
      path,
      preset: "classify",
      labels: ["rail", "board"],
    }) satisfies JobInput;
  const TRAINS = "allowed/corpus/rail/trains.md";

  describe("an extraction is repeated", () => {
    test("to the same fields, with the version of its prompt", async () => {
      const found = await expectSame(await desk.work(classify(TRAINS)), ["second"]);
      expect(found.repeated.calls).toMatchObject([{ prompt_template: "extract/2" }]);
    });

    test("by the same examples of labels", async () => {
      const examples = [
        { text: "The express runs twice a day.", label: "rail" },
        { text: "The board met on Monday.", label: "board" },
      ];
      const found = await expectSame(await desk.work({ ...classify(TRAINS), examples }), [
        "second",
      ]);
      expect(found.repeated.calls).toMatchObject([{ prompt_template: "extract-by-examples/1" }]);
    });

    test("by a schema of the user, at the second try", async () => {
      script.fields = ["no object", '{"minutes": 20}'];
      const schema = {
        type: "object",
        properties: { minutes: { type: "integer" } },
        required: ["minutes"],
        additionalProperties: false,
      };
      const jobId = await desk.work({ kind: "extract", path: TRAINS, schema });
      expect(await expectSame(jobId, ["second", "retry"])).toMatchObject({ state: "succeeded" });
    });

    test("to the same refusal", async () => {
      script.fields = ["no object"];
      const jobId = await desk.work(classify(TRAINS));
      expect(await expectSame(jobId)).toMatchObject({
        state: "refused with SECOND_PASS_FORMAT_VIOLATION",
      });
    });

    test("part by part", async () => {
      script.fields = ['{"label":"rail","priority":"low","reason":"Ferries.","quote":null}'];
      const found = await expectSame(await desk.work(classify("allowed/corpus/long.md")));
      expect(found.repeated.calls.length).toBeGreaterThan(1);
    });

    test("to other fields where the record does not hold what it was made of", async () => {
      const jobId = await desk.work(classify(TRAINS));
      await desk.db.query(
        `update nightdesk_data.runs set summary = summary || '{"label": "board"}' where job_id = $1`,
        [jobId],
      );
      const found = await report(jobId);
      expect(found).toMatchObject({ code: 1, ok: false });
      expect(found.repeated.differences.map(({ what }) => what)).toEqual(["summary"]);
    });

    test("only while its file is what it read", async () => {
      const jobId = await desk.work(classify(TRAINS));
      await desk.write(TRAINS, "# Trains\n\nNone.\n");
      const found = await report(jobId);
      await desk.write(TRAINS, FILES[TRAINS] ?? "");
      expect(found.code).toBe(4);
      expect(JSON.parse(found.stdout)).toMatchObject({
        error_code: "EVIDENCE_INVALID",
        files: [{ path: TRAINS, reason: "changed" }],
      });
    });
  });

  type Told = { readonly rail: string; readonly board: string; readonly all: string };

  /** Summaries of the files and digests above them, worked to their end. @returns the ids of the digests */
  async function tell(paths: readonly string[]): Promise<Told & { readonly batch: string }> {
    const batch = `night ${randomUUID()}`;
    const { batchId } = await findOrCreateBatch(desk.db, batch, "file");
    await desk.db.transaction(async (db) => {
      const jobs = paths.map((path) => ({
        customId: path,
        input: { kind: "summarize", path } as const,
        inputSha256: "a".repeat(64),
        priority: 0,
      }));
      await insertJobs(db, batchId, jobs);
      const plan = { batchId, title: "night", options: {}, affinityOf: () => "writer" };
      await insertDigests(db, await selectFileJobs(db, batchId), plan);
      await openBatch(db, batchId);
    });
    const found = async () =>
      (
        await desk.db.query(
          "select custom_id, job_id, finished_at from nightdesk_data.jobs where batch_id = $1 and kind = 'digest'",
          [batchId],
        )
      ).rows as { custom_id: string; job_id: string; finished_at: Date | null }[];
    await eventually("all is told", async () =>
      (await found()).every(({ finished_at: at }) => at !== null),
    );
    const ids = new Map((await found()).map((row) => [row.custom_id, row.job_id]));
    const idOf = (folder: string) => ids.get(folder) ?? "";
    return {
      batch,
      rail: idOf("digest allowed/corpus/rail/"),
      board: idOf("digest allowed/corpus/board/"),
      all: idOf("digest"),
    };
  }

  /** How a job of a batch has ended, as if it had run again since. */
  async function endOtherwise(
    [batch, path]: readonly [string, string],
    {
      state,
      code,
      answer,
    }: { readonly state: string; readonly code?: string; readonly answer?: string },
  ): Promise<void> {
    const { rows } = await desk.db.query(
      `update nightdesk_data.jobs j set state = $3, error_code = $4, error_message = $4
         from nightdesk_data.batches b where b.batch_id = j.batch_id and b.name = $1 and j.custom_id = $2
       returning j.run_id`,
      [batch, path, state, code ?? null],
    );
    const [job] = rows as { run_id: string }[];
    await desk.db.query(
      `update nightdesk_data.runs set state = $2, error_code = $3, error_message = $3, answer = $4, grade = null
        where run_id = $1`,
      [job?.run_id, state, code ?? null, answer ?? null],
    );
  }

  describe("a digest is repeated", () => {
    test("to the same lines, with what it had to leave out, and so is the one above it", async () => {
      script.digest = ["- Tickets and trains [1, 2].", "- A rope [1].", "- All of it [1, 2]."];
      const { rail, board, all } = await tell([...Object.keys(FILES), MISSING]);
      const found = await expectSame(rail, ["second"]);
      expect(found.repeated).toMatchObject({ files: 0, jobs: 3 });
      expect(found.repeated.calls).toMatchObject([{ prompt_template: "digest/1" }]);
      await expectSame(board);
      expect((await expectSame(all)).repeated.jobs).toBe(2);
    });

    test("to the same refusal, where no job has an answer", async () => {
      const { rail } = await tell([MISSING]);
      const found = await expectSame(rail, []);
      expect(found).toMatchObject({ state: "refused with EVIDENCE_NOT_ACQUIRED" });
    });

    test("at the second try, whatever model is configured now", async () => {
      script.digest = ["- It cites nothing.", "- Trains run [1]."];
      const { rail } = await tell([TRAINS]);
      await expectSame(rail, ["second", "retry"]);
      const found = await report(rail, { config: { model: { name: "other" } } });
      expect(found).toMatchObject({ code: 0, ok: true });
    });
  });

  describe("a digest is not repeated, and the jobs are named,", () => {
    const expectRefused = async (id: string, batch: string, jobs: readonly object[]) => {
      const found = await report(id);
      expect(found.code).toBe(4);
      expect(JSON.parse(found.stdout)).toMatchObject({
        ok: false,
        error_code: "EVIDENCE_INVALID",
        error_message: expect.stringContaining(
          `What they say now is told by: nightdesk digest "${batch}"`,
        ),
        jobs,
      });
    };

    test("when one gives another answer now", async () => {
      const { rail, batch } = await tell([TRAINS]);
      await endOtherwise([batch, TRAINS], { state: "succeeded", answer: "Other words." });
      await expectRefused(rail, batch, [
        { path: TRAINS, reason: "changed", message: "its job gave another answer since" },
      ]);
      const { code, stdout, stderr } = await desk.replay(rail);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toContain(
        `can't be repeated, because the answers of its jobs have changed: ${TRAINS} (changed).`,
      );
    });

    test("when one is not there any more", async () => {
      const { rail, batch } = await tell([TRAINS, "allowed/corpus/rail/tickets.md"]);
      await desk.db.query(
        `delete from nightdesk_data.jobs j using nightdesk_data.batches b
          where b.batch_id = j.batch_id and b.name = $1 and j.custom_id = $2`,
        [batch, TRAINS],
      );
      await expectRefused(rail, batch, [{ path: TRAINS, reason: "deleted" }]);
    });

    test("when one has an answer now that had none, and another none that had one", async () => {
      const { rail, batch } = await tell([TRAINS, MISSING]);
      await endOtherwise([batch, TRAINS], { state: "refused", code: "FILE_EMPTY" });
      await endOtherwise([batch, MISSING], { state: "succeeded", answer: "It is there." });
      await expectRefused(rail, batch, [
        { path: TRAINS, reason: "refused", message: "succeeded then, refused with FILE_EMPTY now" },
        { path: MISSING, message: "refused with FILE_NOT_FOUND then, not left out now" },
      ]);
    });

    test("when one has an answer now and none had one", async () => {
      const { rail, batch } = await tell([MISSING]);
      await endOtherwise([batch, MISSING], { state: "succeeded", answer: "It is there." });
      await expectRefused(rail, batch, [{ path: MISSING, reason: "new" }]);
    });
  });
});
