/** What a report begins with, in both forms: by it a newer report knows the one that it may replace. */
export const reportMark = (batchId: string): string =>
  `<!-- nightdesk report of batch ${batchId} -->`;

/** What an export in Markdown begins with. */
export const EXPORT_MARK = "<!-- nightdesk export -->";

/** What the text of a file does not hold where the file is an output of Nightdesk. */
export const OWN_RESULTS = "results of Nightdesk";

const HEAD_BYTES = 2_048;
const ID = String.raw`"custom_id":"(?:[^"\\]|\\.)*"`;
/** The marks above, the first columns of an export as CSV, or the first keys of one as JSONL, ours or OpenAI's. */
const HEAD = new RegExp(
  [
    String.raw`^(?:<!doctype html>\n)?<!-- nightdesk (?:report of batch|export) `,
    "^custom_id,job_id,kind,state,",
    String.raw`^\{${ID},"job_id":"[\da-f-]{36}","kind":"`,
    String.raw`^\{"id":"batch_req_\w+",${ID},"response":`,
  ].join("|"),
);

/** Whether a file is a report or an export of a batch, of whichever database. */
export const isOwnOutput = (bytes: Buffer): boolean =>
  HEAD.test(bytes.toString("latin1", 0, HEAD_BYTES));

/** The same of an export as a workbook, by the text of its first sheet. */
export const isOwnWorkbook = (text: string): boolean =>
  text.startsWith("## Results\ncustom_id; kind; task; state; grade; answer; ");
