import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { Existing } from "../../shared/atomic-file.ts";
import { hasCode } from "../../shared/db/error-code.ts";
import { Failure } from "../../shared/failure.ts";
import { hrefBaseFor } from "../export/href-base.ts";
import { openOutputFile } from "../export/output-file.ts";
import type { Report } from "./gather-report.ts";
import { htmlReport } from "./html/page.ts";
import { markdownReport } from "./markdown/page.ts";
import { reportFileName } from "./report-file-name.ts";
import { reportMarker } from "./report-marker.ts";

export type ReportPlace = {
  /** Absolute; made if it is not there. */
  readonly folder: string;
  readonly workroot: string;
  /** What becomes of files that are no reports of this batch; those are replaced. */
  readonly existing: Existing;
};

/**
 * Writes both forms of a report.
 * @returns their paths, absolute
 * @throws Failure INPUT_INVALID where a file can't be written, or another one is there that is to be kept
 */
export async function writeReport(
  report: Report,
  { folder, workroot, existing }: ReportPlace,
): Promise<{ readonly html: string; readonly markdown: string }> {
  await makeFolder(folder);
  const name = reportFileName(report.batch);
  const html = join(folder, `${name}.html`);
  const markdown = join(folder, `${name}.md`);
  const hrefBase = hrefBaseFor(html, workroot);
  const marker = reportMarker(report.batch.batchId);
  const policy = async (file: string): Promise<Existing> =>
    (await beginsWith(file, marker)) ? "replace" : existing;
  await writeWhole(html, htmlReport(report, hrefBase), await policy(html));
  await writeWhole(markdown, markdownReport(report, hrefBase), await policy(markdown));
  return { html, markdown };
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message.replace(/,.*/s, "") : String(error);
    throw new Failure("INPUT_INVALID", `--output ${folder} can't be made (${reason}).`);
  });
}

/** Whether the marker stands in the first lines of a file. */
async function beginsWith(file: string, marker: string): Promise<boolean> {
  const handle = await open(file).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
  });
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
