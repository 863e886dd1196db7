import { hash } from "node:crypto";
import { attachmentPlaces } from "../../shared/files/attachment-path.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { OcrInput } from "../../shared/job/job.ts";
import { summaryAlone } from "../../shared/job/run-result.ts";
import type { Outcome } from "../../shared/job/run-result.ts";
import { once } from "../../shared/once.ts";
import { STATEMENT_LIMITS_MS } from "../../shared/store/connection/limited-client.ts";
import { reportProgress } from "../../shared/store/jobs/claim-job.ts";
import { rescanPath, insertOcrPage, selectOcrPages } from "../../shared/store/index/ocr-pages.ts";
import type { OcrPage } from "../../shared/store/index/ocr-pages.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { layeredIn, pagesToRead } from "../documents/extraction.ts";
import { ocrFingerprint } from "../ocr/open-read-pages.ts";
import type { PageRecord } from "../../shared/pages/page-record.ts";
import type { PageOutcome, PageRequest, UnreadablePage } from "../ocr/page-outcome.ts";
import type { WorkerResources } from "../resources.ts";
import { bytesOf } from "../sandbox/open-sandbox.ts";
import type { JobCall, OpenedRun } from "./open-run.ts";
import { queueEmbed, scanSources } from "./reindex.ts";

/** Time to start the child process that reads a page, including a second start. */
const START_MS = 60_000;

/**
 * Reads the pictures of a file, one page per step, and indexes the file with their words. A page that is stored is not read
 * again, so an interrupted job continues. A page that exceeded a limit, or whose process was killed, gets more attempts; only
 * the last attempt stores it as unreadable.
 *
 * Refusals: those of the file; NO_TEXT_LAYER when index.ocr is not set; FILE_FORMAT_INVALID when no page can be read.
 * @throws Failure TOOL_ERROR when pages are left for the next attempt
 */
export async function readPictures(call: OcrRun, resources: WorkerResources): Promise<Outcome> {
  const { config, database } = resources;
  const { path } = call.input;
  const settings = ocrFingerprint(config.index.ocr);
  if (settings === null) {
    return refuse("NO_TEXT_LAYER", `"${path}" has pictures of pages, and index.ocr is not set.`);
  }
  const file = await openFileWithPictures(path, resources);
  if (file.kind === "refused") return file;
  const sha256 = hash("sha256", file.bytes, "hex");
  const known = await selectOcrPages(database, sha256, settings);
  const isKnown = new Set(known.map(({ page }) => page));
  const left = file.pages.filter((page) => !isKnown.has(page));
  const read = await readPages({ ...call, file: { ...file, sha256, settings, left } }, resources);
  await rescanPath(database, path);
  const [holder] = attachmentPlaces(path);
  await call.trace.step("index", () =>
    scanSources({ ...call, input: {} }, resources, [holder?.file ?? path]),
  );
  call.trace.mayTake(STATEMENT_LIMITS_MS.build);
  await queueEmbed(call.job, resources);
  const pages = [...known, ...read];
  const [given] = pages.filter(({ unreadable }) => unreadable !== null);
  return given !== undefined && pages.every(({ unreadable }) => unreadable !== null)
    ? refuse("FILE_FORMAT_INVALID", `"${path}" ${given.unreadable}`)
    : summaryAlone(summaryOf(pages, read.length));
}

type OcrRun = JobCall<OcrInput> & Pick<OpenedRun, "context" | "pipeline">;

type FileWithPictures = {
  readonly kind: "pictured";
  readonly bytes: Buffer;
  readonly pages: readonly number[];
  /** The pages that have a text layer, which the reading only checks. */
  readonly layered: readonly number[];
};

async function openFileWithPictures(
  path: string,
  { sandbox }: WorkerResources,
): Promise<FileWithPictures | Refusal> {
  const opened = await sandbox();
  const file = await opened.openFile({ path, lookup: "exact" });
  if (file.kind === "refused") return file;
  const bytes = bytesOf(file);
  const extracted = await opened.extractText(path, bytes);
  return { kind: "pictured", bytes, pages: pagesToRead(extracted), layered: layeredIn(extracted) };
}

type PageReading = OcrRun & {
  readonly file: FileWithPictures & {
    readonly sha256: string;
    readonly settings: string;
    readonly left: readonly number[];
  };
};

async function readPages(
  reading: PageReading,
  { config, database, readPage }: WorkerResources,
): Promise<readonly OcrPage[]> {
  const { job, file, trace, signal } = reading;
  const { ocr } = config.index;
  if (ocr === null) return [];
  const wantedOf = requestOf(ocr, file.layered);
  const settle = createConfirmer(ocr.confirm, reading);
  const read: OcrPage[] = [];
  const later: string[] = [];
  for (const page of file.left) {
    signal.throwIfAborted();
    trace.mayTake(2 * ocr.page_timeout_s * 1_000 + START_MS);
    const outcome = await trace.step("read_page", () =>
      readPage({ bytes: file.bytes, page, ...wantedOf(page) }),
    );
    trace.detail("read_page", { page, ...detailOf(outcome) });
    if (isLeftToNext(outcome, job)) {
      later.push(`page ${page} ${outcome.why}`);
      continue;
    }
    const row = rowOf(page, await settle(outcome));
    await insertOcrPage(database, { ...file, jobId: job.jobId }, row);
    read.push(row);
    await reportProgress(database, job.runId, {
      ...{ phase: "ocr", unit: "pages", done: read.length, total: file.left.length },
    });
  }
  assertNoneLeft(later, file.left.length);
  return read;
}

const requestOf =
  ({ languages, second, confirm }: OcrSettings, layered: readonly number[]) =>
  (page: number): Pick<PageRequest, "languages" | "second" | "cutOuts"> =>
    layered.includes(page)
      ? { languages, second: "text" }
      : { languages, second, ...(confirm === null ? {} : { cutOuts: "doubtful" }) };

/** @param later one clause for each page that is left for the next attempt */
function assertNoneLeft([first, ...others]: readonly string[], total: number): void {
  if (first === undefined) return;
  throw new Failure("TOOL_ERROR", `${others.length + 1} of ${total} pages not read: ${first}`);
}

type ConfirmOutcome = (outcome: PageOutcome) => Promise<PageOutcome>;

/** Shows doubtful figures to the model of index.ocr.confirm. Its code is loaded for the first page that has some. */
function createConfirmer(confirm: Confirm, run: PageReading): ConfirmOutcome {
  const witness = once(async () => {
    const { openWitness } = await import("./open-witness.ts");
    return confirm === null ? undefined : openWitness(confirm, run);
  });
  return async (outcome) => {
    if (outcome.kind !== "read" || outcome.cutOuts.length === 0) return outcome;
    const opened = await witness();
    if (opened === undefined) return outcome;
    const { confirmFigures } = await import("../ocr/confirm-figures.ts");
    const { record, cutOuts } = outcome;
    const settled = await run.trace.step("confirm", () => confirmFigures(record, cutOuts, opened));
    const figures = cutOuts.length;
    run.trace.detail("confirm", { model: opened.name, figures, settled: countSettled(settled) });
    return { ...outcome, record: settled };
  };
}

type OcrSettings = NonNullable<Config["index"]["ocr"]>;
type Confirm = OcrSettings["confirm"];

/** Counts a figure of several words once: each of its words names the model. */
const countSettled = ({ lines }: PageRecord): number =>
  new Set(
    lines
      .flatMap(({ words }) => words.filter(({ confirmed }) => confirmed !== undefined))
      .map(({ box, place = box }) => place.join()),
  ).size;

/** A later attempt may read a page that failed because the machine was busy. */
const isLeftToNext = (
  outcome: PageOutcome,
  { attempt, maxAttempts }: ClaimedJob,
): outcome is UnreadablePage =>
  outcome.kind === "unreadable" && outcome.lasts !== "always" && attempt < maxAttempts;

const rowOf = (page: number, outcome: PageOutcome): OcrPage =>
  outcome.kind === "read"
    ? { page, record: outcome.record, unreadable: null }
    : { page, record: null, unreadable: outcome.why };

function detailOf(outcome: PageOutcome): Readonly<Record<string, unknown>> {
  if (outcome.kind === "unreadable") return { unreadable: outcome.why };
  const { mode, turned, leftInk, confidence } = outcome.record;
  return { mode, turned, left_ink: leftInk, confidence };
}

function summaryOf(pages: readonly OcrPage[], read: number): Readonly<Record<string, unknown>> {
  const records = pages.flatMap(({ record }) => (record === null ? [] : [record as PageRecord]));
  const words = records.flatMap(({ lines }) => lines.flatMap((line) => line.words));
  const figures = (how: string) => words.filter(({ figure }) => figure === how).length;
  return {
    pages: pages.length,
    read,
    unreadable: pages.length - records.length,
    words: words.length,
    figures_by_two: figures("two"),
    figures_by_one: figures("one"),
    figures_doubtful: figures("doubtful"),
  };
}
