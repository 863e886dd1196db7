import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { formatSkipped, totalSkipped } from "../../shared/files/skipped-files.ts";
import type { SkippedFiles } from "../../shared/files/skipped-files.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { fileSize } from "../../shared/enqueue/read-lines.ts";
import type { CopiedFile } from "../selection/copies.ts";
import { batchSettingsOf } from "./options.ts";

/** Paths in a line of JSON; `files` counts all of them. */
const MOST_PATHS = 1_000;

type PreviewedFiles = {
  readonly paths: readonly string[];
  /** Copies would only get rows that point to one of `paths`. */
  readonly copies: readonly CopiedFile[];
  /** Left out for their extension. */
  readonly skipped: SkippedFiles;
  /** Left out by --since and --until. */
  readonly ofOtherDays: number;
};

/**
 * Prints the files that would be queued, for `--dry-run`: one path per line, or one line of JSON with the first 1,000
 * paths, their number, their total bytes, and the empty or missing ones. It queues nothing.
 * @throws Failure USAGE_ERROR for invalid windows, deadline or priority
 */
export async function printFilePreview(
  { terminal, invocation, config }: CommandContext,
  { paths, copies, skipped, ofOtherDays }: PreviewedFiles,
): Promise<number> {
  const { workroot } = config.roots;
  // Checks the settings now, although only queueing uses them.
  batchSettingsOf(invocation.options);
  const sizes = paths.map((path) => ({ path, bytes: fileSize(workroot, path) }));
  const bytes = sizes.reduce((sum, each) => sum + each.bytes, 0);
  const empty = sizes.filter((each) => each.bytes === 0).map(({ path }) => path);
  const left = totalSkipped(skipped);
  if (terminal.isJson) {
    await terminal.printJson({
      ok: true,
      state: "dry_run",
      files: paths.length,
      bytes,
      paths: paths.slice(0, MOST_PATHS),
      ...(empty.length === 0 ? {} : { empty_or_missing: empty.slice(0, MOST_PATHS) }),
      ...(copies.length === 0 ? {} : { copies: copies.slice(0, MOST_PATHS) }),
      ...(ofOtherDays === 0 ? {} : { of_other_days: ofOtherDays }),
      ...(left === 0 ? {} : { skipped_files: left, skipped_by_extension: skipped }),
    });
    return EXIT.ok;
  }
  for (const path of paths) await terminal.print(path);
  for (const { path, of, kind } of copies)
    terminal.say(
      `Not worked: ${path}, ${kind === "exact" ? "the same bytes as" : "nearly"} ${of}.`,
    );
  if (empty.length > 0) terminal.say(`Empty, or not there: ${countOf(empty.length, "file")}.`);
  terminal.say(
    `${countOf(paths.length, "file")} of ${formatCount(bytes)} bytes would be queued${left === 0 ? "" : `; ${formatSkipped(skipped)}`}. Nothing is: --dry-run.`,
  );
  return EXIT.ok;
}
