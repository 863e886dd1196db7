import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Invocation } from "../../shared/commands/command.ts";
import { selectBatchFormat } from "../../shared/store/jobs/batches.ts";
import type { BatchFormat } from "../../shared/store/jobs/batches.ts";
import { markExported } from "../../shared/store/jobs/retention.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { Failure } from "../../shared/failure.ts";
import { readResults } from "../../shared/views/results.ts";
import type { JobResult } from "../../shared/views/results.ts";
import { exportBatch } from "../export/export-batch.ts";
import type { Exported } from "../export/export-batch.ts";
import { EXPORT_FORMATS, exportFormOf, TABLE_FORMATS } from "../export/export-form.ts";
import type { ExportFormat, TableFormat, TextFormat } from "../export/export-form.ts";
import { hrefBaseFor } from "../export/markdown.ts";
import { openExportTargets, openOutputBytes } from "../export/export-targets.ts";
import type { TargetRequest } from "../export/export-targets.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { argumentOf, textOf } from "./options.ts";

export const batchExport = databaseCommand(async (context, database) => {
  const { terminal, invocation } = context;
  const { batchId, name, total, finishedAt } = await findNamedBatch(
    database,
    argumentOf(invocation),
  );
  const format = formatOf(invocation, await selectBatchFormat(database, batchId));
  const outputs = outputsOf(invocation, format);
  const request = targetsOf(invocation, format);
  const exported = await (isTable(format)
    ? exportTable(readResults(database, batchId), format, request)
    : exportTexts(context, database, { batchId, name, total, format, outputs, request }));
  if (finishedAt === null) terminal.say(UNFINISHED);
  else await markExported(database, batchId);
  await reportExported(context, { batchId, name, format, request }, exported);
});

type TextExport = {
  readonly batchId: string;
  readonly name: string;
  readonly total: number;
  readonly format: TextFormat;
  readonly outputs: "ids" | "texts";
  readonly request: TargetRequest;
};

async function exportTexts(
  { terminal, config }: CommandContext,
  database: Database,
  { batchId, name, total, format, outputs, request }: TextExport,
): Promise<Exported> {
  const targets = await openExportTargets(request, (text) => terminal.printText(text));
  const form = exportFormOf(format, name, hrefBaseFor(request.output, config.roots.workroot));
  try {
    const exported = await exportBatch(
      database,
      batchId,
      { form, sinks: targets.sinks, outputs },
      (seen) => {
        terminal.status(`${formatCount(seen)} of ${countOf(total, "job")}`);
      },
    );
    terminal.clearStatus();
    await targets.commit(exported);
    return exported;
  } catch (error) {
    await targets.discard();
    throw error;
  }
}

type WriteTable = (results: AsyncIterable<JobResult>, handle: FileHandle) => Promise<number>;

/** Each module is loaded only when its format is requested. */
const TABLE_WRITERS: Readonly<Record<TableFormat, () => Promise<WriteTable>>> = {
  xlsx: async () => (await import("../export/xlsx.ts")).writeXlsx,
  parquet: async () => (await import("../export/parquet.ts")).writeParquet,
};

async function exportTable(
  results: AsyncIterable<JobResult>,
  format: TableFormat,
  { output, existing }: TargetRequest,
): Promise<Exported> {
  if (output === undefined)
    throw new Failure("USAGE_ERROR", `--format ${format} needs --output FILE: it is no text.`);
  const file = await openOutputBytes(output, existing, "--output");
  try {
    const write = await TABLE_WRITERS[format]();
    const jobs = await write(results, file.handle);
    await file.commit();
    return { output: jobs, errors: 0, leftOut: 0 };
  } catch (error) {
    await file.discard();
    throw error;
  }
}

const isTable = (format: ExportFormat): format is TableFormat =>
  (TABLE_FORMATS as readonly string[]).includes(format);

const formatOf = ({ options }: Invocation, batch: BatchFormat): ExportFormat => {
  const asked = textOf(options, "format");
  return EXPORT_FORMATS.find((format) => format === asked) ?? batch;
};

/** Other formats have no place for the outputs of steps. */
function outputsOf({ options }: Invocation, format: ExportFormat): "ids" | "texts" {
  if (options["withOutputs"] !== true) return "ids";
  if (format !== "openai" && !isTable(format)) return "texts";
  throw new Failure(
    "USAGE_ERROR",
    `--with-outputs is for --format native, csv and markdown; ${format} has no place for it.`,
  );
}

/** OpenAI's format has an output file and an error file beside it; every other format is one file. */
function targetsOf({ options, cwd }: Invocation, format: ExportFormat): TargetRequest {
  const pathOf = (name: string): string | undefined => {
    const asked = textOf(options, name);
    return asked === undefined || asked === "-" ? undefined : resolve(cwd, asked);
  };
  const output = pathOf("output");
  const errors = pathOf("errors");
  const existing = options["force"] === true ? "replace" : "keep";
  if (format !== "openai") {
    if (errors === undefined) return { output, errors, existing, whenEmpty: "write" };
    throw new Failure(
      "USAGE_ERROR",
      `--errors is for --format openai; ${format} writes every job to one output.`,
    );
  }
  if (output !== undefined && output === errors) {
    throw new Failure("USAGE_ERROR", "--output and --errors name the same file; name two.");
  }
  const beside =
    output === undefined ? undefined : `${output.replace(/\.jsonl$/, "")}.errors.jsonl`;
  return { output, errors: errors ?? beside, existing, whenEmpty: "leave out" };
}

/** An unfinished batch is not marked as exported, because retention would then delete its later results. */
const UNFINISHED = "The batch has not ended: export it again when it has.";

type Written = {
  readonly batchId: string;
  readonly name: string;
  readonly format: ExportFormat;
  readonly request: TargetRequest;
};

/** Without `--output`, stdout holds only the results; with it, the names of the written files. */
async function reportExported(
  { terminal }: CommandContext,
  written: Written,
  exported: Exported,
): Promise<void> {
  printExported(terminal, written, exported);
  const { batchId, name, format, request } = written;
  if (request.output === undefined) return;
  const output = exported.output > 0 || request.whenEmpty === "write" ? request.output : null;
  const errors = exported.errors > 0 ? (request.errors ?? null) : null;
  if (!terminal.isJson) {
    for (const file of [output, errors]) if (file !== null) await terminal.print(file);
    return;
  }
  await terminal.printJson({
    ok: true,
    batch_id: batchId,
    batch: name,
    format,
    output,
    errors,
    jobs: exported.output + exported.errors,
    left_out: exported.leftOut,
  });
}

function printExported(
  terminal: CommandContext["terminal"],
  { name, format, request }: Written,
  { output, errors, leftOut }: Exported,
): void {
  const batch = `batch ${JSON.stringify(name)}`;
  const waiting = leftOut === 0 ? "" : ` ${countOf(leftOut, "job")} not ended yet, and left out.`;
  if (format !== "openai") {
    terminal.say(`Exported ${countOf(output, "job")} of ${batch}.${waiting}`);
    return;
  }
  const where = errors > 0 && request.errors !== undefined ? ` (to ${request.errors})` : "";
  terminal.say(
    `Exported ${batch}: ${countOf(output, "result")}, ${countOf(errors, "error")}${where}.${waiting}`,
  );
}
