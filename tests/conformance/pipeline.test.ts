import { createHash } from "node:crypto";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { findOrCreateBatch, openBatch } from "../../src/shared/store/jobs/batches.ts";
import { insertJobs } from "../../src/shared/store/jobs/insert-jobs.ts";
import { selectVectors } from "../../src/shared/views/results.ts";
import type { JobInput } from "../../src/shared/job/job.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { countOf } from "./jobs.ts";
import { eventually } from "./signal.ts";
import { startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const examples = resolve(import.meta.dirname, "..", "..", "examples", "corpus");

type Result = {
  readonly job_id: string;
  readonly state: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly answer: string | null;
  readonly scope: string | null;
};

describe.each(topologies)("the pipeline on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let worker: RunningWorker;
  let batches = 0;

  beforeAll(async () => {
    topology = await startTopology(name);
    await cp(examples, join(topology.workroot, "allowed", "corpus"), { recursive: true });
    db = await topology.connect();
    worker = await startWorker(topology.context, 2, (database) =>
      createRunJob(topology.context, database),
    );
    expect((await run({ kind: "index" })).state).toBe("succeeded");
  });
  afterAll(async () => {
    await worker.stop(0);
    await db.end();
    await topology.dispose();
  });

  /** Runs one job in a batch of its own, and waits for the whole batch. */
  async function run(input: JobInput): Promise<Result> {
    batches += 1;
    const { batchId } = await findOrCreateBatch(db, `pipeline ${batches}`, "file");
    await insertJobs(db, batchId, [
      { customId: "job", input, inputSha256: "a".repeat(64), priority: 0 },
    ]);
    await openBatch(db, batchId);
    await eventually(
      `${input.kind} has ended`,
      async () =>
        (await countOf(db, "nightdesk.batch_progress where batch_id = $1 and state = 'completed'", [
          batchId,
        ])) === 1,
    );
    const { rows } = await db.query(
      "select * from nightdesk.results where batch_id = $1 and custom_id = 'job'",
      [batchId],
    );
    return rows[0] as Result;
  }
  const ask = (question: string) => run({ kind: "ask", question });
  const summarize = (path: string) => run({ kind: "summarize", path });

  test("indexing makes chunks that are exact slices, and a vector for each", async () => {
    const { rows } = await db.query(
      "select path, start_char, end_char, text, embedded_models from nightdesk.chunks order by chunk_key limit 40",
    );
    const chunks = rows as {
      path: string;
      start_char: number;
      end_char: number;
      text: string;
      embedded_models: string[];
    }[];
    expect(chunks).toHaveLength(40);
    for (const { path, start_char, end_char, text, embedded_models } of chunks) {
      const characters = Array.from(await readFile(join(topology.workroot, path), "utf8"));
      expect(characters.slice(start_char, end_char).join("")).toBe(text);
      expect(embedded_models).toEqual(["hashing-384"]);
    }
  });

  test("an answer cites passages, and its footer counts them", async () => {
    const result = await ask("How much diesel does the Bear burn under kitchen load?");
    expect(result.answer).toContain("2.4 litres an hour");
    expect(result.scope).toMatch(/^Scope: \d+ passages from \d+ files, snapshot=[0-9a-f]{64}$/);
    expect(result.answer?.split("\n").at(-1)).toBe(result.scope);
    expect(
      await countOf(db, "nightdesk.evidence where job_id = $1 and admitted", [result.job_id]),
    ).toBeGreaterThan(0);
  });

  test("a question that nothing answers is refused", async () => {
    expect(
      await ask("Which opening does the grandmaster prefer against the Najdorf?"),
    ).toMatchObject({
      state: "refused",
      error_code: "EVIDENCE_NOT_ACQUIRED",
    });
  });

  test("vectors of free text are kept with the job and stay out of the index", async () => {
    const before = await countOf(db, "nightdesk_data.embeddings");
    const { job_id } = await run({ kind: "embed", text: ["one", "two"] });
    const { vectors } = await selectVectors(db, job_id);
    expect(vectors.map((vector) => vector.length)).toEqual([384, 384]);
    expect(await countOf(db, "nightdesk_data.embeddings")).toBe(before);
  });

  // What one pass makes of its evidence is the same wherever the queue lies.
  if (name !== "postgres") return;

  test("a question that names a file is answered from the whole file, and sha256sum confirms it", async () => {
    const path = "allowed/corpus/runbooks/run-the-generator.md";
    const result = await ask("What does run-the-generator.md say about the tank?");
    const sha256 = createHash("sha256")
      .update(await readFile(join(topology.workroot, path)))
      .digest("hex");
    expect(result.scope).toMatch(
      new RegExp(`^Scope: full evidence from read_text_file \\((\\d+)/\\1\\), sha256=${sha256}$`),
    );
  });

  test("a question that names several files is answered from all of them, and the rows confirm it", async () => {
    const names = ["fire.md", "first-week.md"];
    const result = await ask(`What do ${names.join(" and ")} say about extinguishers?`);
    const { rows } = await db.query(
      `select path, sha256, text_sha256, admitted from nightdesk.evidence
        where job_id = $1 and kind = 'file' order by evidence_id`,
      [result.job_id],
    );
    const files = rows as { path: string; sha256: string; text_sha256: string }[];
    expect(files).toEqual([
      expect.objectContaining({ path: "allowed/corpus/safety/fire.md", admitted: true }),
      expect.objectContaining({ path: "allowed/corpus/people/first-week.md", admitted: true }),
    ]);
    expect(files.every((file) => file.sha256 === file.text_sha256)).toBe(true);
    const lines = files.map(({ path, sha256 }) => `${path} ${sha256}`).join("\n");
    const snapshot = createHash("sha256").update(lines).digest("hex");
    expect(result.scope).toBe(`Scope: full evidence from 2 files, snapshot=${snapshot}`);
    expect(result.answer).toMatch(/\[1\].*\[2\]/s);
    const steps = await db.query(
      "select step from nightdesk.run_events where job_id = $1 order by event_id",
      [result.job_id],
    );
    expect((steps.rows as { step: string }[]).map(({ step }) => step)).toEqual([
      ...["classify", "retrieve", "first_pass", "tool_call", "tool_call"],
      ...["gate", "second_pass", "check"],
    ]);
    const calls = await db.query(
      "select name, args->>'path' as path from nightdesk.tool_calls where job_id = $1 order by ordinal",
      [result.job_id],
    );
    expect(calls.rows).toEqual(names.map((path) => ({ name: "read_text_file", path })));
  });

  test.each([
    ["one is missing", "fire.md and no-such-note.md", "FILE_NOT_FOUND", "no-such-note.md"],
    ["one is outside of the roots", "fire.md and ../../etc/passwd", "PATH_DENIED", "../etc/passwd"],
    ["one is hidden", "fire.md and .drafts/salaries.md", "PATH_DENIED", ".drafts/salaries.md"],
    ["one is empty", "fire.md and 2025-12-06-winter-meeting.md", "FILE_EMPTY", "2025-12-06"],
    [
      "they are nine",
      "fire.md, first-aid.md, thunderstorms.md, goulash-for-sixty.md, allergens.md, cold-chain.md, crew-rota.md, first-week.md and who-is-who.md",
      "INVALID_ARGS",
      "9 files",
    ],
  ])("a question that names several files is refused where %s", async (_, names, code, told) => {
    const result = await ask(`What do ${names} say about extinguishers?`);
    expect(result).toMatchObject({ state: "refused", error_code: code, answer: null });
    expect(result.error_message).toContain(told);
  });

  test("two spellings of one file are one read of it", async () => {
    const result = await ask(
      "Does fire.md say what allowed/corpus/safety/fire.md says of extinguishers?",
    );
    expect(result.scope).toMatch(/^Scope: full evidence from read_text_file \((\d+)\/\1\)/);
    expect(await countOf(db, "nightdesk.tool_calls where job_id = $1", [result.job_id])).toBe(1);
  });

  test("a summary covers the whole of a long file", async () => {
    const result = await summarize("allowed/corpus/log/season-2025.md");
    expect(result.scope).toMatch(/^Scope: full evidence from read_text_file \((\d+)\/\1\)/);
  });

  test.each([
    ["a missing file", "allowed/corpus/none.md", "FILE_NOT_FOUND"],
    ["a hidden file", "allowed/corpus/.drafts/salaries.md", "PATH_DENIED"],
    ["a path that climbs out", "../../etc/passwd", "PATH_DENIED"],
    ["an absolute path", "/etc/passwd", "PATH_DENIED"],
    ["an empty file", "allowed/corpus/minutes/2025-12-06-winter-meeting.md", "FILE_EMPTY"],
    ["a name that fits two files", "checklist.md", "AMBIGUOUS_PATH"],
  ])("a summary of %s is refused", async (_, path, code) => {
    expect(await summarize(path)).toMatchObject({
      state: "refused",
      error_code: code,
      answer: null,
    });
  });

  test("a model that can't chat refuses", async () => {
    expect(await run({ kind: "chat", prompt: "Hello" })).toMatchObject({
      state: "refused",
      error_code: "MODEL_UNSUPPORTED",
    });
  });

  test("vectors of other dimensions than a job expects are refused", async () => {
    expect(await run({ kind: "embed", text: "one", dimensions: 384 })).toMatchObject({
      state: "succeeded",
    });
    expect(await run({ kind: "embed", text: "one", dimensions: 1_536 })).toMatchObject({
      state: "refused",
      error_code: "MODEL_UNSUPPORTED",
    });
  });

  test("a bad document is a row and does not stop the index", async () => {
    await writeFile(
      join(topology.workroot, "allowed", "corpus", "broken.md"),
      Buffer.from([0xff, 0xfe, 0x00]),
    );
    await writeFile(
      join(topology.workroot, "allowed", "corpus", "fine.md"),
      "# Fine\n\nThe zeppelin is blue.\n",
    );
    expect((await run({ kind: "index" })).state).toBe("succeeded");
    expect(
      await countOf(db, "nightdesk.failures where origin = 'document' and path like '%broken.md'"),
    ).toBe(1);
    expect((await ask("Which colour is the zeppelin?")).answer).toContain("The zeppelin is blue.");
  });

  test("planted instructions do nothing", async () => {
    const result = await ask("What does letter-from-gipfelglanz.md offer?");
    expect(result.scope ?? "Scope: full evidence").toMatch(
      /^Scope: full evidence from read_text_file/,
    );
    expect(
      await countOf(
        db,
        "nightdesk.evidence where job_id = $1 and path not like 'allowed/corpus/%'",
        [result.job_id],
      ),
    ).toBe(0);
  });
});
