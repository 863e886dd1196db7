import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { selectDecidedValues } from "../../../src/shared/store/jobs/field-reviews.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import { openDesk, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

const me = userInfo().username;
const SCHEMA = {
  type: "object",
  properties: {
    total: { type: "number", description: "what is to be paid" },
    due: { type: ["string", "null"] },
    paid: { type: "boolean" },
    rate: { type: ["integer", "null"] },
    items: { type: "array", items: { type: "object", properties: { "a=b": { type: "string" } } } },
  },
};
const OUTPUT = { total: 14.93, due: null, paid: true, rate: null, items: [{ "a=b": "tea" }] };

let desk: Desk;
let jobId: string;
let batches = 0;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());
beforeEach(async () => {
  const name = `bills-${(batches += 1)}`;
  const input = { kind: "extract", path: "bills/a.txt", schema: SCHEMA };
  const ids = await insertFinishedBatch(desk.database, {
    name,
    jobs: [{ customId: "a", input, output: OUTPUT }],
  });
  jobId = ids.get("a") ?? "";
  await rowsOf(
    desk.database,
    `insert into nightdesk_data.field_bindings
            (run_id, ordinal, pointer, value, state, grade, quote, number, path, start_char, end_char, line_start, line_end)
     select run_id, ordinal, pointer, value, case when quote is not null then 'bound' else 'null' end,
            case when quote is not null then 'supported' end, quote, case when quote is not null then 1 end,
            case when quote is not null then 'bills/a.txt' end, case when quote is not null then 0 end,
            case when quote is not null then 9 end, case when quote is not null then 1 end, case when quote is not null then 1 end
       from nightdesk_data.jobs, (values (0, '/total', '14.93'::jsonb, 'Net 14.93, total 149.32'), (1, '/due', 'null', null),
            (2, '/paid', 'true', 'Paid'), (3, '/items/0/a=b', '"tea"', 'Green tea'), (4, '/rate', 'null', null)) v (ordinal, pointer, value, quote)
      where job_id = $1`,
    [jobId],
  );
});

const fieldOf = async (pointer: string) =>
  (
    await rowsOf(
      desk.database,
      `select value, review, correction, decision_reason, decided_by, decided_at is not null as has_time
         from nightdesk.field_bindings where job_id = $1 and pointer = $2`,
      [jobId, pointer],
    )
  )[0];
const review = (...words: readonly string[]) => desk.run("reviews", ...words);

test("a person's value stands beside that of the model, with who and when", async () => {
  const said = await review(
    "correct",
    jobId.slice(0, 8),
    "--field",
    "total=149.32",
    "--reason",
    "read it",
  );
  expect(said).toMatchObject({ code: 0, stderr: "total is corrected: 149.32.\n" });
  expect(await fieldOf("/total")).toEqual({
    ...{ value: 14.93, review: "corrected", correction: 149.32 },
    ...{ decision_reason: "read it", decided_by: me, has_time: true },
  });
  const shown = await desk.run("runs", "show", jobId);
  expect(shown.stdout).toContain(`/total 14.93`);
  expect(shown.stdout).toContain(`corrected to 149.32 by ${me}: read it`);
});

test("a decision on a value that was written to its document says that nothing changes there", async () => {
  await rowsOf(
    desk.database,
    `insert into nightdesk_data.write_backs
            (batch_id, job_id, source, remote_id, kind, name, pointer, value, state, after, sha256, written_at)
     select batch_id, job_id, 'letters', '12.pdf', 'custom_field', 'Total', '/total', '14.93', 'written', '{"value": 14.93}', repeat('a', 64),
            clock_timestamp()
       from nightdesk_data.jobs where job_id = $1`,
    [jobId],
  );
  const decide = async (...words: readonly string[]) =>
    (await review(words[0] ?? "", jobId, "--field", words[1] ?? "")).stderr;
  expect(await decide("accept", "total")).toBe("total is accepted.\n");
  expect(await decide("correct", "total=149.32")).toBe(
    "total is corrected: 149.32. It was written to letters 12.pdf before, and stays there as it is: change it there, " +
      `or take back all of its batch with nightdesk write-back undo "bills-${batches}".\n`,
  );
  expect(await decide("reject", "paid")).toBe("paid is rejected.\n");
});

test("a field is named as its table has it, or by its pointer", async () => {
  expect(await review("accept", jobId, "--field", "items 1 a=b")).toMatchObject({ code: 0 });
  expect(await fieldOf("/items/0/a=b")).toMatchObject({ review: "accepted", correction: null });
  expect(await review("correct", jobId, "--field", "/items/0/a=b=rye=2")).toMatchObject({
    code: 0,
  });
  expect(await fieldOf("/items/0/a=b")).toMatchObject({ review: "corrected", correction: "rye=2" });
  const unknown = await review("reject", jobId, "--field", "vat");
  expect(unknown).toMatchObject({ code: 1 });
  expect(unknown.stderr).toContain(
    'has no field "vat". It has total, due, paid, items 1 a=b, rate.',
  );
  expect(await review("accept", jobId, "--field", "total=149.32")).toMatchObject({ code: 2 });
  expect(await review("accept", "ffffffff", "--field", "total")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('"ffffffff" is no extraction that has succeeded'),
  });
});

test("a correction has the type of the value, and where there is none it is read as JSON", async () => {
  const wrong = await review("correct", jobId, "--field", "total=a lot");
  expect(wrong.stderr).toContain(
    'total takes a number, and "a lot" is none; expected one like 14.93.',
  );
  const rounded = await review("correct", jobId, "--field", "total=4929123456789012345678");
  expect(rounded.stderr).toContain("has more digits than a number keeps");
  expect((await review("correct", jobId, "--field", "paid=no")).stderr).toContain("like true");
  await review("correct", jobId, "--field", "paid=false");
  await review("correct", jobId, "--field", 'due="2026"');
  await review("correct", jobId, "--field", "rate=7");
  const corrections = await Promise.all(["/total", "/paid", "/due", "/rate"].map(fieldOf));
  expect(corrections.map((field) => field?.["correction"])).toEqual([null, false, "2026", 7]);
  await review("correct", jobId, "--field", 'due="2027\\u0000\\ud800"');
  expect(await fieldOf("/due")).toMatchObject({ correction: "2027\uFFFD" });
  await review("correct", jobId, "--field", "rate=4929123456789012345678");
  expect(await fieldOf("/rate")).toMatchObject({ correction: "4929123456789012345678" });
  expect(await review("correct", jobId, "--field", 'due=" "')).toMatchObject({ code: 1 });
  expect(await review("correct", jobId, "--field", "due")).toMatchObject({ code: 1 });
  expect(await review("correct", jobId, "--field", "due= ")).toMatchObject({ code: 1 });
  expect(await review("correct", jobId, "--field", "due=x", "--text", "y")).toMatchObject({
    code: 2,
  });
});

test("who decided may decide again, and nobody else", async () => {
  const none = await review("accept", jobId, "--field", "due");
  expect(none.stderr).toContain("Nothing was changed. There is no value to accept");
  await review("reject", jobId, "--field", "total");
  expect(await review("accept", jobId, "--field", "total")).toMatchObject({ code: 0 });
  expect(await fieldOf("/total")).toMatchObject({ review: "accepted", decision_reason: null });
  await rowsOf(
    desk.database,
    "update nightdesk_data.field_bindings set decided_by = 'ada' where decision is not null and pointer = '/total'",
    [],
  );
  const late = await review("reject", jobId, "--field", "total");
  expect(late.stderr).toContain("Nothing was changed. ada has decided on total before.");
  expect(await fieldOf("/total")).toMatchObject({ review: "accepted", decided_by: "ada" });
});

test("fields that are right become questions for eval, where it is known how they are spelled", async () => {
  await review("accept", jobId, "--field", "items 1 a=b");
  await review("correct", jobId, "--field", "total=149.32");
  await review("accept", jobId, "--field", "paid");
  const file = join(desk.workroot, "fields.jsonl");
  const written = await review("export", file, "--batch", `bills-${batches}`);
  expect(written.stderr).toContain("2 questions written to");
  expect(written.stderr).toContain("1 decision left out");
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      id: `${jobId} /total`,
      question: "total: bills/a.txt?",
      expected: [["149.32"]],
      files: ["bills/a.txt"],
    },
    {
      ...{ id: `${jobId} /items/0/a=b`, question: "items 1 a=b: bills/a.txt?" },
      ...{ expected: [["tea"]], files: ["bills/a.txt"] },
    },
  ]);
});

test("what people decide on fields is kept as pairs over the words that carry them", async () => {
  await rowsOf(
    desk.database,
    "update nightdesk_data.field_bindings set decision = null, correction = null, decision_reason = null, decided_by = null, decided_at = null",
    [],
  );
  await review("reject", jobId, "--field", "paid");
  await review("correct", jobId, "--field", "total=149.32");
  await review("correct", jobId, "--field", "due=2026-03-01");
  await review("correct", jobId, "--field", "items 1 a=b=rye");
  const pairs = await selectDecidedValues(desk.database, 10);
  expect(pairs.map(({ pointer, value, isWrong, text }) => [pointer, value, isWrong, text])).toEqual(
    [
      ["/items/0/a=b", "tea", true, "Green tea"],
      ["/total", 149.32, false, "Net 14.93, total 149.32"],
      ["/total", 14.93, true, "Net 14.93, total 149.32"],
      ["/paid", true, true, "Paid"],
    ],
  );
  expect(pairs[0]).toMatchObject({
    path: "bills/a.txt",
    quote: "Green tea",
    fields: OUTPUT,
    input: { kind: "extract" },
  });
  expect(await selectDecidedValues(desk.database, 1)).toHaveLength(1);
});
