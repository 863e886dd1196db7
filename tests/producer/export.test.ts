import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { openDesk } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { answered, refused, workByHand } from "./work-by-hand.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  const lines = [
    `{"custom_id":"a","kind":"ask","question":"How?"}`,
    `{"custom_id":"b","kind":"summarize","path":"nowhere.md"}`,
    `{"custom_id":"v","kind":"embed","text":["x","y"]}`,
    ...Array.from(
      { length: 450 },
      (_, index) => `{"custom_id":"m${index}","kind":"chat","prompt":"${index}"}`,
    ),
  ];
  await desk.run("enqueue", await desk.write("e.jsonl", lines.join("\n")), "--batch-name", "night");
  await workByHand(desk.database, lines.length, ({ customId }) =>
    customId === "b" ? refused : answered(`answer to ${customId}`),
  );
  await desk.database.query(
    `insert into nightdesk_data.job_vectors (job_id, ordinal, model, embedding)
     select job_id, o, 'hashing', array[o, 0.5]::vector from nightdesk_data.jobs, generate_series(0, 1) o
      where custom_id = 'v'`,
  );
});
afterAll(() => desk.dispose());

describe("batch export", () => {
  test("writes every job once, in order, with what it rests on", async () => {
    const { stdout, code } = await desk.run("batch", "export", "night");
    const jobs = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(code).toBe(0);
    expect(jobs.map(({ custom_id: id }) => id)).toEqual([
      "a",
      "b",
      "v",
      ...Array.from({ length: 450 }, (_, index) => `m${index}`),
    ]);
    expect(jobs[0]).toMatchObject({
      kind: "ask",
      state: "succeeded",
      error_code: null,
      input: { kind: "ask", question: "How?" },
      answer: expect.stringContaining("answer to a\nScope: full evidence"),
      citations: [{ path: "allowed/corpus/a.md" }],
      evidence: [{ kind: "file", path: "allowed/corpus/a.md", line_end: 2 }],
      model: "extractive",
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    });
    expect(jobs[1]).toMatchObject({ state: "refused", error_code: "FILE_NOT_FOUND", answer: null });
    expect(jobs[2]).toMatchObject({
      vectors: [
        [0, 0.5],
        [1, 0.5],
      ],
      vector_model: "hashing",
    });
  });

  test("writes every job of a batch whose pages are short because its jobs are large", async () => {
    const prompt = "x".repeat(2_100_000);
    const ids = ["first", "second", "last"];
    const jobs = ids.map((customId) => ({ customId, input: { kind: "chat", prompt } }));
    await insertFinishedBatch(desk.database, { name: "large", jobs });
    const { stdout } = await desk.run("batch", "export", "large");
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as Record<string, unknown>)["custom_id"])).toEqual(
      ids,
    );
  });

  test("to a file that is there needs --force, and replaces it when it is complete", async () => {
    await desk.write("results.jsonl", "old");
    const words = ["batch", "export", "night", "--output", "results.jsonl"];
    const { stderr } = await desk.run(...words);
    expect(stderr).toContain("is there already. Give --force");
    expect(await readFile(join(desk.workroot, "results.jsonl"), "utf8")).toBe("old");
    const { stdout, code } = await desk.run(...words, "--force");
    expect({ stdout, code }).toEqual({
      stdout: `${join(desk.workroot, "results.jsonl")}\n`,
      code: 0,
    });
    const text = await readFile(join(desk.workroot, "results.jsonl"), "utf8");
    expect(text.trimEnd().split("\n")).toHaveLength(453);
    expect((await readdir(desk.workroot)).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("to a file says with --json where, and how many jobs", async () => {
    const words = ["batch", "export", "night", "--output", "told.jsonl", "--json"];
    const { stdout } = await desk.run(...words);
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      batch_id: expect.any(String),
      batch: "night",
      format: "native",
      output: join(desk.workroot, "told.jsonl"),
      errors: null,
      jobs: 453,
      left_out: 0,
    });
  });

  test("of a batch that has not ended does not count as its export", async () => {
    const file = await desk.write("o.jsonl", `{"custom_id":"a","kind":"ask","question":"How?"}`);
    await desk.run("enqueue", file, "--batch-name", "open");
    const exportedAt = async () =>
      (
        await desk.database.query(
          "select exported_at from nightdesk_data.batches where name = 'open'",
        )
      ).rows;
    const { stderr } = await desk.run("batch", "export", "open");
    expect(stderr).toContain("The batch has not ended: export it again when it has.");
    expect(await exportedAt()).toEqual([{ exported_at: null }]);
    await workByHand(desk.database, 1, () => refused);
    expect((await desk.run("batch", "export", "open")).stderr).not.toContain("not ended");
    expect(await exportedAt()).toEqual([{ exported_at: expect.any(Date) }]);
  });

  test("to a folder that is not there says so", async () => {
    const { stderr, code } = await desk.run(
      "batch",
      "export",
      "night",
      "--output",
      "nowhere/x.jsonl",
    );
    expect(stderr).toContain("INPUT_INVALID");
    expect(code).toBe(1);
  });
});
