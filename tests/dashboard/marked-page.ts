import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandEnd } from "../../src/dashboard/command-child.ts";
import { storePicture } from "../../src/shared/files/page-pictures.ts";
import { findPackage, PDFIUM } from "../../src/worker/ocr/packages.ts";
import { pictureOf } from "../../src/worker/ocr/place/page-picture.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { put, writePages } from "../support/pdf-pages.ts";
import { openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

export const WORDS = 'Mooring fee "71,73" <euros>';
export const PATH = "allowed/corpus/bills.pdf";

type MarkedPage = {
  readonly desk: TestDesk;
  readonly runId: string;
  /** Of the picture. */
  readonly key: string;
  readonly close: () => Promise<void>;
};

/** A figure of the page of which its readers are not sure. */
export const DOUBTED = "aaaaaaaa.1.195.528";

const RECORD = {
  lines: [
    {
      words: [
        {
          ...{ text: "71,73", box: [195, 528, 226, 542], confidence: 66.4 },
          ...{ figure: "doubtful", other: "71,<b>" },
        },
      ],
    },
  ],
};

/** A desk with a run of one statement, whose page is drawn and stored. @param commandEnd what the command says instead */
export async function openMarkedPage(commandEnd?: CommandEnd): Promise<MarkedPage> {
  const databaseDirectory = await mkdtemp(join(tmpdir(), "nightdesk-marked-"));
  const key = "5a".repeat(32);
  const bytes = writePages([{ content: put(50, 700, "Bills") + put(120, 300, WORDS) }]);
  const picture = await pictureOf(
    { path: PATH, bytes },
    {
      ...{ page: 1, words: WORDS, before: "", after: "", width: 1_600 },
      record: null,
      pdfium: findPackage(PDFIUM, null),
      frames: undefined,
    },
    { timeoutMs: 60_000, memoryBytes: 600_000_000 },
  );
  if (picture.kind === "refused") throw new Error(picture.message);
  await storePicture(join(databaseDirectory, "pages"), key, picture);
  const { boxes, page, share, times, type, width, height, size } = picture;
  const shown = { page, share, times, picture: { key, type, width, height, size } };
  const doubt = {
    ...{
      figure: DOUBTED,
      first_read: "71,73",
      second_read: "71,<b>",
      confidence: 66.4,
      certainty: "doubtful",
      chosen: null,
    },
    box: [195, 528, 226, 542],
  };
  const stdout = JSON.stringify({
    statements: [{ ...shown, boxes: boxes.map((box) => ({ box })), doubts: [doubt] }],
  });
  const desk = await openDesk({
    databaseDirectory,
    commandEnd: commandEnd ?? { code: 0, stdout, stderr: "" },
  });
  const jobs = await insertFinishedBatch(desk.db, {
    name: "evening",
    jobs: [
      {
        customId: "fee",
        input: { kind: "ask", question: "What does mooring cost?" },
        answer: "71,73 euros [1].",
        evidence: [{ path: PATH, lines: [1, 3], sha256: "a".repeat(64) }],
      },
    ],
  });
  const { rows } = await desk.db.query(
    `insert into nightdesk_data.claims (run_id, draft, ordinal, text, cites, grade, fate, reason, stands, number, path,
            start_char, end_char, line_start, line_end, carrier, locator)
     select run_id, 0, 0, 'Mooring costs 71,73 euros.', '{1}', 'supported', 'kept', 'confirmed', true, 1, $2,
            10, 33, 2, 2, $3, '{"page": 1}' from nightdesk_data.jobs where job_id = $1
     returning run_id`,
    [jobs.get("fee"), PATH, WORDS],
  );
  await desk.db.query(
    "insert into nightdesk_data.ocr_pages (sha256, page, settings, record, job_id) values ($1, 1, '01234567', $2, gen_random_uuid())",
    ["a".repeat(64), JSON.stringify(RECORD)],
  );
  return {
    desk,
    key,
    runId: (rows[0] as { run_id: string }).run_id,
    close: async () => {
      await desk.close();
      await rm(databaseDirectory, { recursive: true });
    },
  };
}
