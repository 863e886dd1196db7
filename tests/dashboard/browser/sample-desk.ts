import type { Browser, Page } from "playwright-core";
import { saveQuery } from "../../../src/shared/store/operator/saved-queries.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import { openDesk } from "../open-desk.ts";
import type { TestDesk } from "../open-desk.ts";
import { openBrowser } from "./open-browser.ts";

/** A desk with one batch that has ended, and a browser that looks at it. */
export type SampleDesk = {
  readonly desk: TestDesk;
  /** Id of the batch. */
  readonly batch: string;
  /** Ids of its jobs, by custom_id. */
  readonly jobs: ReadonlyMap<string, string>;
  /** A page in a browser profile of its own. */
  readonly open: (path: string, options?: Parameters<Browser["newContext"]>[0]) => Promise<Page>;
  readonly close: () => Promise<void>;
};

const HOSTILE = `<script>window.hacked=1</script><img src="/x" onerror="window.hacked=2"><style>main{display:none}</style><a href="javascript:window.hacked=3">tap</a>`;

/** @param settings of its pages */
export async function openSample(settings?: Parameters<typeof openDesk>[0]): Promise<SampleDesk> {
  const desk = await openDesk(settings);
  const browser = await openBrowser();
  const jobs = await insertFinishedBatch(desk.db, {
    name: "evening",
    jobs: [
      {
        customId: "brakes",
        input: { kind: "ask", question: "How often are brakes bled?" },
        answer: "Brakes are bled once a year [1].",
        evidence: [{ path: "notes/brakes.md", lines: [10, 14], sha256: "a".repeat(64) }],
      },
      { customId: "hostile", input: { kind: "ask", question: HOSTILE }, answer: HOSTILE },
      {
        customId: "bill",
        input: { kind: "extract", path: "bills/march.txt" },
        output: { total: 1200.5, vendor: { name: "Harbour Chandlery" }, due: "2026-03-31" },
      },
      {
        customId: "gone",
        input: { kind: "summarize", path: "notes/gone.md" },
        state: "refused",
        code: "FILE_NOT_FOUND",
        message: "notes/gone.md is not there.",
      },
    ],
  });
  const { rows } = await desk.db.query("select batch_id from nightdesk_data.batches");
  await insertClaim(desk, jobs.get("brakes") ?? "");
  // A long one, which a phone has no room for.
  const statement = "select path, error_code, error_message from failures order by 1, 2";
  await saveQuery(desk.db, { name: "failures by path", statement, savedBy: "ada" });
  return {
    desk,
    batch: (rows[0] as { batch_id: string }).batch_id,
    jobs,
    async open(path, options = {}) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      await page.goto(new URL(path, desk.url).href);
      return page;
    },
    async close() {
      await browser.close();
      await desk.close();
    },
  };
}

/** A statement that line 11 of an indexed file carries. */
async function insertClaim(desk: TestDesk, jobId: string): Promise<void> {
  const text = Array.from({ length: 20 }, (_, at) =>
    at === 10 ? "Bleed the brakes once a year." : `Line ${at + 1}.`,
  ).join("\n");
  await desk.db.query(
    `with d as (
       insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled,
                                             metadata_state, chunk_settings)
       values ('corpus', 'notes/brakes.md', $2, 400, 400, 0, 0, 0, 0, true, 'absent', 'none') returning doc_id)
     insert into nightdesk_data.chunks (doc_id, chunk_key, ordinal, start_char, end_char, line_start, line_end, text, sha256, terms)
     select doc_id, left($2, 32), 0, 0, $3, 1, 20, $1, $2, 0 from d`,
    [text, "a".repeat(64), text.length],
  );
  await desk.db.query(
    `insert into nightdesk_data.claims (run_id, draft, ordinal, text, cites, grade, fate, reason, stands, number, path,
            start_char, end_char, line_start, line_end, carrier)
     select run_id, 0, 0, 'Brakes are bled once a year.', '{1}', 'supported', 'kept', 'verbatim', true, 1, 'notes/brakes.md',
            80, 110, 11, 11, 'Bleed the brakes once a year.' from nightdesk_data.jobs where job_id = $1`,
    [jobId],
  );
}
