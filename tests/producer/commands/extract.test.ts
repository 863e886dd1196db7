import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findSchemaProblem } from "../../../src/shared/schema/check-schema.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { answered, refused, workByHand } from "../work-by-hand.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
  await mkdir(join(desk.workroot, "allowed/corpus/notes"), { recursive: true });
  for (const name of ["a.md", "notes/b.md", "notes/c.md"])
    await desk.write(`allowed/corpus/${name}`, "text");
});
afterAll(() => desk.dispose());

const jobsOf = (batch: string) =>
  rowsOf(
    desk.database,
    "select custom_id, kind, input, state from nightdesk.results where batch = $1 order by created_at, custom_id",
    [batch],
  );
const countJobs = async () =>
  Number((await rowsOf(desk.database, "select count(*) as n from nightdesk_data.jobs"))[0]?.["n"]);
const schemaFile = async (name: string, schema: unknown) => {
  const file = join(desk.workroot, name);
  await writeFile(file, typeof schema === "string" ? schema : JSON.stringify(schema));
  return file;
};

describe("extract", () => {
  test("takes out what is needed to file a letter, with tags of the user's list alone", async () => {
    const words = ["extract", "corpus/notes/*.md", "--preset", "file-letters"];
    const tagged = ["--labels", "power, tax,power", "--batch-name", "letters"];
    expect((await desk.run(...words, ...tagged)).code).toBe(0);
    const [job] = await jobsOf("letters");
    expect(job).toMatchObject({
      input: {
        schema: {
          properties: {
            ...{ correspondent: {}, date: {}, type: {}, amount: {}, due_day: {} },
            tags: { type: "array", items: { type: "string", enum: ["power", "tax"] }, maxItems: 2 },
          },
          required: expect.arrayContaining(["correspondent", "tags"]),
        },
      },
    });
    expect(job?.["input"]).not.toHaveProperty("labels");
    expect((await desk.run(...words, "--batch-name", "untagged")).code).toBe(0);
    const [untagged] = await jobsOf("untagged");
    expect(JSON.stringify(untagged)).not.toContain("tags");
  });

  test("queues one job a file, with the labels as they were given", async () => {
    const { code } = await desk.run(
      "extract",
      "corpus/notes/*.md",
      "--preset",
      "classify",
      "--labels",
      "invoice, letter,other",
      "--big",
      "--batch-name",
      "sorted",
    );
    expect(code).toBe(0);
    const options = { route: "big" };
    const labels = ["invoice", "letter", "other"];
    expect(await jobsOf("sorted")).toMatchObject(
      ["b", "c"].map((name) => ({
        kind: "extract",
        input: {
          kind: "extract",
          path: `allowed/corpus/notes/${name}.md`,
          preset: "classify",
          labels,
          options,
        },
      })),
    );
  });

  test("takes a schema from a file anywhere, and says of a bad one what and where before anything is queued", async () => {
    const schema = { type: "object", properties: { total: { type: "number" } } };
    const { code, stdout } = await desk.run(
      "extract",
      "allowed/corpus/a.md",
      "--schema",
      await schemaFile("total.json", schema),
      "--json",
    );
    expect(code).toBe(0);
    const { job_id: jobId } = JSON.parse(stdout) as { job_id: string };
    const [job] = await rowsOf(
      desk.database,
      "select input from nightdesk_data.jobs where job_id = $1",
      [jobId],
    );
    expect(job?.["input"]).toMatchObject({ schema });
    const before = await countJobs();
    for (const [bad, told] of [
      [
        { type: "object", properties: { total: { type: "nummer" } } },
        "/properties/total/type: must be one of",
      ],
      ["[1]", "holds no JSON object"],
    ] as const) {
      const ran = await desk.run(
        "extract",
        "corpus/notes/*.md",
        "--schema",
        await schemaFile("bad.json", bad),
      );
      expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining(told) });
    }
    const missing = await desk.run("extract", "allowed/corpus/a.md", "--schema", "nowhere.json");
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"nowhere.json" is not there'),
    });
    expect(await countJobs()).toBe(before);
  });

  test.each([
    ["nothing to extract", []],
    ["two things to extract", ["--preset", "people", "--schema", "x.json"]],
  ])("with %s is a mistake of the command line", async (_, flags) => {
    expect((await desk.run("extract", "allowed/corpus/a.md", ...flags)).code).toBe(2);
  });

  test("without labels, or with one, says what classify needs", async () => {
    for (const flags of [[], ["--labels", "a"]]) {
      const { code, stderr } = await desk.run(
        "extract",
        "allowed/corpus/a.md",
        "--preset",
        "classify",
        ...flags,
      );
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/INPUT_INVALID.*labels/),
      });
    }
  });

  test.each([
    ["0 when it succeeded", answered('{"people":[],"dates":[]}'), 0, '"kind":"extract"'],
    ["4 when it was refused", refused, 4, '"error_code":"FILE_NOT_FOUND"'],
  ])("of one file waits for it, and exits with %s", async (_, settlement, code, told) => {
    await desk.database.query("delete from nightdesk_data.batches");
    const words = ["extract", "allowed/corpus/a.md", "--preset", "people", "--wait", "--json"];
    const waiting = desk.run(...words);
    await workByHand(desk.database, 1, () => settlement);
    expect(await waiting).toMatchObject({ code, stdout: expect.stringContaining(told) });
  });

  test.each([
    ["of one file", ["allowed/corpus/a.md"], 1],
    ["of several", ["allowed/corpus/**/*.md"], 3],
  ])("%s prints a table for each list of records on a terminal", async (_, files, jobs) => {
    await desk.database.query("delete from nightdesk_data.batches");
    const people = [{ name: "Ada", role: "chair", quote: "Ada is the chair." }, { name: "Bo" }];
    const summary = { people, place: "the hut" };
    const words = ["extract", ...files, "--preset", "people", "--wait"];
    const waiting = desk.runOn({ columns: 100 }, ...words);
    const settlement = answered(JSON.stringify(summary));
    if (settlement.kind !== "succeeded") throw new Error("an answer is a success");
    const outcome = { ...settlement.outcome, summary };
    await workByHand(desk.database, jobs, () => ({ ...settlement, outcome }));
    const { stdout, stderr } = await waiting;
    expect(stdout).toMatch(/^fields\n *file +place\n[- ]+\n *allowed\/corpus\/a\.md +the hut\n/m);
    expect(stdout).toMatch(
      /^people\n *file +name +role\n[- ]+\n *allowed\/corpus\/a\.md +Ada +chair\n/m,
    );
    expect(stdout.match(/ Bo +-/g)).toHaveLength(jobs);
    expect(stdout).not.toContain("quote");
    expect(stderr).toContain("Values in full, with the words that carry them: --json");
    // Elsewhere it stays as programs read it.
    await desk.database.query("delete from nightdesk_data.batches");
    const piped = desk.run(...words);
    await workByHand(desk.database, jobs, () => ({ ...settlement, outcome }));
    expect((await piped).stdout).toContain(JSON.stringify(summary));
  });

  test.each(["incident", "letter"])("the schema %s of the examples is a good one", async (name) => {
    const file = resolve(import.meta.dirname, `../../../examples/schemas/${name}.json`);
    expect(
      findSchemaProblem(JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>),
    ).toBeUndefined();
  });
});

describe("digests", () => {
  const treeOf = (batch: string) =>
    rowsOf(
      desk.database,
      `select p.custom_id as digest, p.waits_for, array_agg(c.custom_id order by c.custom_id) as children
         from nightdesk_data.job_dependencies d join nightdesk_data.jobs p on p.job_id = d.parent_id
         join nightdesk_data.jobs c on c.job_id = d.child_id join nightdesk_data.batches b on b.batch_id = p.batch_id
        where b.name = $1 group by p.seq, p.custom_id, p.waits_for order by p.seq`,
      [batch],
    );
  const files = ["allowed/corpus/a.md", "allowed/corpus/notes/b.md", "allowed/corpus/notes/c.md"];

  test("summarize --digest adds one a folder and one of all, which wait for what they are of", async () => {
    const { code, stderr } = await desk.run(
      "summarize",
      "**/*.md",
      "--digest",
      "--batch-name",
      "night",
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(await treeOf("night")).toEqual([
      { digest: "digest allowed/corpus/", waits_for: 1, children: files.slice(0, 1) },
      { digest: "digest allowed/corpus/notes/", waits_for: 2, children: files.slice(1) },
      {
        digest: "digest",
        waits_for: 2,
        children: ["digest allowed/corpus/", "digest allowed/corpus/notes/"],
      },
    ]);
    const before = await countJobs();
    await desk.run("summarize", "**/*.md", "--digest", "--batch-name", "night");
    expect(await countJobs()).toBe(before);
  });

  test("digest tells of a batch that runs in a batch of its own, whose jobs wait for the other", async () => {
    const { code } = await desk.run("digest", "night", "--lines", "3", "--batch-name", "told");
    expect(code).toBe(0);
    expect(await treeOf("told")).toMatchObject([
      { digest: "digest allowed/corpus/", waits_for: 1 },
      { digest: "digest allowed/corpus/notes/", waits_for: 2 },
      { digest: "digest", waits_for: 2 },
    ]);
    expect(await jobsOf("told")).toContainEqual(
      expect.objectContaining({
        input: { kind: "digest", title: "night", level: "batch", options: { lines: 3 } },
      }),
    );
  });

  test("--wait prints every digest, and exits with 3 when one was refused", async () => {
    await workByHand(desk.database, 3 + 3 + 3, (job) =>
      job.input.kind === "digest" &&
      job.input.level === "folder" &&
      job.input.title.endsWith("notes/")
        ? refused
        : answered("- All is well [1]."),
    );
    const { code, stdout } = await desk.run("digest", "night", "--json");
    expect(code).toBe(0);
    const { batch } = JSON.parse(stdout) as { batch: string };
    await workByHand(desk.database, 3, (job) =>
      job.input.kind === "digest" && job.input.level === "batch" ? refused : answered("- All [1]."),
    );
    expect((await desk.run("batch", "wait", batch)).code).toBe(3);
    const exported = (await desk.run("batch", "export", batch)).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(exported.map(({ kind, state }) => [kind, state])).toEqual([
      ["digest", "succeeded"],
      ["digest", "succeeded"],
      ["digest", "refused"],
    ]);
  });

  test("of a batch without summaries is refused with what to do", async () => {
    await desk.run("ask", "What?", "--json");
    const [batch] = await rowsOf(
      desk.database,
      "select name from nightdesk_data.batches where name like 'ask %'",
    );
    const { code, stderr } = await desk.run("digest", String(batch?.["name"]));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("nightdesk summarize"),
    });
  });
});
