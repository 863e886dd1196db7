import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { settleOutcome } from "../../../src/shared/job/settlement.ts";
import type { JobInput } from "../../../src/shared/job/job.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { createRunJob } from "../../../src/worker/jobs/run-job.ts";
import type { RunJob } from "../../../src/worker/jobs/run-job.ts";
import { askJob, claimNext, MADE_WITH, openBatchOf } from "../../conformance/jobs.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { root } from "../../docs/read-doc.ts";
import { describeOn } from "../../support/describe-on.ts";
import { writeSearchablePdf } from "../../support/searchable-pdf.ts";

const LETTER = [
  "Harbour Supplies Ltd",
  "14 Quay Street, Whitby YO21 3PU",
  "12 March 2026",
  "Dear Ms Okafor,",
  "Thank you for your order of 250 brass hinges, which left our store on",
  "9 March. The price of 1.85 EUR a piece holds until the end of June;",
  "from July it will be 1.94 EUR. The parcel weighs 38.5 kg and was",
  "insured for 462.50 EUR.",
  "Two of the crates (numbers 4417 and 4419) will follow on 23 March.",
  "Please tell us by telephone, 01947 600 312, where they should be left.",
  "Yours sincerely,",
  "Thomas Whitfield",
];
/** 6 of 17. */
const MISREAD = LETTER.map((line) =>
  line
    .replace("14 Quay", "74 Quay")
    .replace("2026", "2020")
    .replace("1.85", "1.86")
    .replace("38.5", "33.5")
    .replace("462.50", "402.50")
    .replace("01947", "01941"),
);

describeOn("postgres", "the text that a scanner laid over its picture", (name) => {
  let topology: Topology;
  let db: Database;
  let runJob: RunJob;
  const rowsOf = async (sql: string): Promise<unknown[]> => (await db.query(sql)).rows;
  const textOf = async (file: string): Promise<string> => {
    const { rows } = await db.query(
      `select string_agg(text, E'\n' order by ordinal) as text from nightdesk_data.chunks join nightdesk_data.documents using (doc_id)
        where path = $1`,
      [`allowed/corpus/${file}`],
    );
    return String((rows[0] as { readonly text: unknown }).text);
  };

  async function run(jobId: string): Promise<unknown> {
    const job = await claimNext(db, jobId);
    const trace = startTrace();
    const settlement = settleOutcome(await runJob(job, trace, new AbortController().signal));
    await settleRun(db, { runId: job.runId, runMs: 1, ...MADE_WITH }, settlement, trace.record());
    return settlement;
  }
  async function index(): Promise<unknown> {
    const input: JobInput = { kind: "index", options: { ocr: true } };
    const { jobIds } = await openBatchOf(db, [askJob("index", { input })]);
    return run(jobIds[0] ?? "");
  }

  beforeAll(async () => {
    topology = await startTopology(name, {
      security: { allowed_exts: [".pdf"] },
      index: { ocr: { languages: ["eng"] } },
    });
    db = await topology.connect();
    runJob = createRunJob(topology.context, db);
    const folder = join(topology.workroot, "allowed", "corpus");
    await mkdir(folder, { recursive: true });
    const scan = {
      ...{ width: 1_230, height: 930 },
      jpeg: readFileSync(join(root, "tests/corpora/scans/small/letter.jpg")),
    };
    await writeFile(
      join(folder, "right.pdf"),
      writeSearchablePdf([
        { ...scan, lines: LETTER },
        { ...scan, lines: ["Thank you, and goodbye."] },
      ]),
    );
    await writeFile(join(folder, "wrong.pdf"), writeSearchablePdf([{ ...scan, lines: MISREAD }]));
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  test("is checked by one reading of each page with a figure, and then no more", async () => {
    await expect(index()).resolves.toMatchObject({ outcome: { summary: { pictured_files: 2 } } });
    const jobs = await rowsOf("select job_id from nightdesk_data.jobs where kind = 'ocr'");
    expect(jobs).toHaveLength(2);
    for (const { job_id: jobId } of jobs as readonly { readonly job_id: string }[]) {
      await expect(run(jobId)).resolves.toMatchObject({ kind: "succeeded" });
    }
    await expect(
      rowsOf(
        "select path, page, words > 60 as has_words, by_two + by_one + doubtful as judged from nightdesk.ocr_pages order by path",
      ),
    ).resolves.toEqual(
      ["right.pdf", "wrong.pdf"].map((file) => ({
        ...{ path: `allowed/corpus/${file}`, page: 1, has_words: true, judged: "0" },
      })),
    );
    await expect(rowsOf("select from nightdesk.doubtful_figures")).resolves.toEqual([]);
    await expect(index()).resolves.toMatchObject({ outcome: { summary: { pictured_files: 0 } } });
  }, 180_000);

  test("stands as it is where its figures are those of the picture", async () => {
    expect(await textOf("right.pdf")).toContain("insured for 462.50 EUR.");
    expect(await textOf("right.pdf")).not.toContain("⸮");
  });

  test("has each figure marked where over a fifth of them are others", async () => {
    expect(await textOf("wrong.pdf")).toContain("insured for 402.50⸮ EUR.");
    expect(await textOf("wrong.pdf")).toContain(
      "(numbers 4417⸮ and 4419)⸮ will follow on 23⸮ March.",
    );
    await expect(
      rowsOf("select path, metadata - 'pages' as metadata from nightdesk.documents order by path"),
    ).resolves.toEqual([
      { path: "allowed/corpus/right.pdf", metadata: { pages_checked: ["1"] } },
      {
        path: "allowed/corpus/wrong.pdf",
        metadata: { pages_checked: ["1"], pages_in_doubt: ["1"] },
      },
    ]);
  });
});
