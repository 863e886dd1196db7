import { mkdir, open } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Existing } from "../../shared/files/atomic-file.ts";
import { databaseCommand } from "../../shared/commands/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { ignoreMissingFile } from "../../shared/store/connection/errors.ts";
import { readBatchDigest } from "../../shared/views/batch-digest.ts";
import { findLastAlike } from "../../shared/views/compare-batches.ts";
import type { EarlierBatch } from "../../shared/views/compare-batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import { installationZone } from "../../shared/schedules/windows.ts";
import { showFile } from "../../shared/config/select-config-file.ts";
import { Failure } from "../../shared/failure.ts";
import { reportMark } from "../../shared/files/skipped-files.ts";
import { hrefBaseFor, hrefBaseFrom } from "../export/markdown.ts";
import { openOutputFile } from "../export/export-targets.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import { reportPage } from "../../shared/views/batch-report.ts";
import { gatherReport } from "../../shared/views/report-rows.ts";
import type { Report } from "../../shared/views/report-rows.ts";
import { headline } from "../../shared/views/report-overview.ts";
import { htmlPage } from "../report/html.ts";
import { markdownPage } from "../report/markdown.ts";
import { unindexedFolder } from "../unindexed-folder.ts";
import { argumentOf, textOf } from "./options.ts";

/** The default folder of reports, below the work root, or beside the database if the whole work root is indexed. */
const FOLDER = "reports";

export const batchReport = databaseCommand(async ({ terminal, config, invocation }, database) => {
  const { options, cwd, version } = invocation;
  const { workroot } = config.roots;
  const asked = textOf(options, "output");
  const batch = await findNamedBatch(database, argumentOf(invocation));
  if (options["brief"] === true) {
    if (asked !== undefined)
      throw new Failure("USAGE_ERROR", "--brief writes no file: leave out --output.");
    const { batchId, name } = batch;
    const text = await readBatchDigest(database, batch, config.dashboard.public_url);
    if (!terminal.isJson) return terminal.printText(text);
    return terminal.printJson({ ok: true, batch_id: batchId, batch: name, text });
  }
  const earlier = await findEarlier(database, batch, textOf(options, "compare"));
  const report = await gatherReport(database, batch, {
    earlier,
    madeAt: new Date(),
    zone: installationZone(batch.windows ?? batch.deskWindows),
    version,
  });
  const folder =
    asked === undefined
      ? unindexedFolder(config, join(workroot, FOLDER), FOLDER)
      : resolve(cwd, asked);
  const files = await writeReport(report, {
    folder,
    hrefBase:
      asked === undefined
        ? hrefBaseFrom(folder, workroot)
        : hrefBaseFor(join(folder, FOLDER), workroot),
    existing: options["force"] === true ? "replace" : "keep",
  });
  if (terminal.isJson) {
    await terminal.printJson({
      ok: true,
      batch_id: batch.batchId,
      batch: batch.name,
      compared_with: earlier?.name ?? null,
      ...files,
    });
  } else {
    for (const file of [files.html, files.markdown]) {
      await terminal.print(showFile(file, { cwd }));
    }
  }
  terminal.say(headline(report));
});

type ReportPlace = {
  /** Absolute; created if missing. */
  readonly folder: string;
  /** The base of links to documents. */
  readonly hrefBase: string;
  /** Whether to replace a file that is no report of this batch; a report of this batch is always replaced. */
  readonly existing: Existing;
};

/**
 * Writes a report as HTML and Markdown.
 * @returns their absolute paths
 * @throws Failure INPUT_INVALID if a file can't be written, or exists and must not be replaced
 */
async function writeReport(
  report: Report,
  { folder, hrefBase, existing }: ReportPlace,
): Promise<{ readonly html: string; readonly markdown: string }> {
  await makeFolder(folder);
  const name = reportFileName(report.batch);
  const html = join(folder, `${name}.html`);
  const markdown = join(folder, `${name}.md`);
  const marker = reportMark(report.batch.batchId);
  const page = reportPage(report);
  const policy = async (file: string): Promise<Existing> =>
    (await beginsWith(file, marker)) ? "replace" : existing;
  await writeWhole(html, htmlPage(page, marker, hrefBase), await policy(html));
  await writeWhole(markdown, markdownPage(page, marker, hrefBase), await policy(markdown));
  return { html, markdown };
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message.replace(/,.*/s, "") : String(error);
    throw new Failure("INPUT_INVALID", `--output ${folder} can't be made (${reason}).`);
  });
}

/** Whether the first 256 bytes of a file contain the marker. */
async function beginsWith(file: string, marker: string): Promise<boolean> {
  const handle = await open(file).catch(ignoreMissingFile);
  if (handle === undefined) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.toString("utf8", 0, bytesRead).includes(marker);
  } finally {
    await handle.close();
  }
}

async function writeWhole(path: string, text: string, existing: Existing): Promise<void> {
  const file = await openOutputFile(path, existing, "--output");
  try {
    await file.write(text);
    await file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

const MOST_CHARS = 100;

/** A file name that every system accepts: letters, digits, dots and dashes of the batch's name; its id if it has none. */
function reportFileName({ name, batchId }: BatchProgress): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{Mn}/gu, "")
    .replace(/[^A-Za-z0-9.]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, MOST_CHARS);
  return plain === "" ? batchId : plain;
}

/**
 * The batch to compare with: the requested one, otherwise the last batch with the same inputs.
 * @throws Failure NOT_FOUND if the requested batch does not exist
 */
async function findEarlier(
  database: Database,
  batch: BatchProgress,
  asked: string | undefined,
): Promise<EarlierBatch | undefined> {
  if (asked !== undefined) {
    const { batchId, name, createdAt } = await findNamedBatch(database, asked);
    return { batch_id: batchId, name, created_at: createdAt };
  }
  return findLastAlike(database, batch);
}
