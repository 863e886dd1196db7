import { databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { groupBy } from "../../shared/group-by.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findDescription } from "../../shared/store/index/remote-files.ts";
import { selectWriteBacks } from "../../shared/store/index/write-backs.ts";
import type { WriteBack } from "../../shared/store/index/write-backs.ts";
import { findBatch } from "../../shared/views/batches.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { countValuesWaiting } from "../../shared/views/value-reviews.ts";
import { GONE, lastDescription, readDocument } from "../paperless/documents.ts";
import { isEvidence } from "../paperless/plan-writes.ts";
import { keyOf, undoWrites } from "../paperless/settle-writes.ts";
import type { End } from "../paperless/settle-writes.ts";
import { TAKEN, withDocument } from "../paperless/with-document.ts";
import { documentKey, openSources, writeBatch } from "../paperless/write-batch.ts";
import type { BatchWritten, SourceOpener, WrittenValue } from "../paperless/write-batch.ts";
import type { BatchToWrite } from "../paperless/write-back.ts";
import { numberOf } from "../sync/paperless.ts";

/** Writes the supported values of a batch's extractions to the sources of their files. */
export const writeBack = databaseCommand(async (context, database) => {
  const { args, options } = context.invocation;
  if (options["ifAny"] === true && (await findBatch(database, args[0] ?? "")) === undefined)
    return printValues(
      context,
      { batch: null },
      [],
      ["There is no such batch: nothing is written."],
    );
  const batch = await findNamedBatch(database, args[0] ?? "");
  const mode = options["dryRun"] === true ? "dry run" : "write";
  const sources = openSources(context, database, { which: "all", signal: NEVER });
  const written = await writeBatch(database, sources, { ...batch, mode });
  const { values, left, documents } = written;
  if (documents === 0 && (left.elsewhere > 0 || left.unfinished === 0))
    throw new Failure(
      "INPUT_INVALID",
      left.elsewhere === 0
        ? `${batch.name} holds no extraction: queue one with nightdesk extract.`
        : `No extraction of ${batch.name} is of a file of a source with from: paperless and write_back (docs/sources.md).`,
    );
  const text = [
    ...writtenLines(batch.name, mode, written),
    ...(mode === "write" ? await askedLines(database, batch.batchId) : []),
  ];
  return printValues(
    context,
    { batch: batch.name, dry_run: mode === "dry run", left },
    values,
    text,
  );
});

const NEVER = new AbortController().signal;

function writtenLines(
  name: string,
  mode: BatchToWrite["mode"],
  { values, documents, left }: BatchWritten,
): readonly string[] {
  const verb = mode === "write" ? "written" : "to be written";
  return [
    `${name}: ${countValues(values, "written")} ${verb} to ${countOf(documents, "document")}; ${countValues(values, "stands")} stood there already, ${countValues(values, "withheld")} withheld.`,
    ...leftOut(left.unfinished, "extraction", "without a result"),
    ...leftOut(left.elsewhere, "extraction", "of files of no source with write_back"),
    ...leftOut(left.repeated, "extraction", "of a document that another one of the batch is of"),
  ];
}

async function askedLines(database: Database, batchId: string): Promise<readonly string[]> {
  const waiting = await countValuesWaiting(database, batchId);
  return waiting === 0
    ? []
    : [
        `${countOf(waiting, "value")} ${waiting === 1 ? "waits" : "wait"} for a person: nightdesk reviews list --batch ${batchId}`,
      ];
}

/** Reverts the write-back of a batch, except values that somebody has changed since. */
export const writeBackUndo = databaseCommand(async (context, database) => {
  const batch = await findNamedBatch(database, context.invocation.args[0] ?? "");
  const sources = openSources(context, database, { which: "all", signal: NEVER });
  const rows = await selectWriteBacks(database, batch.batchId);
  const writes = rows.filter(({ state }) => state === "written" || state === "intended");
  const values: WrittenValue[] = [];
  for (const each of groupBy(writes, documentKey).values())
    values.push(...(await undoDocument(database, sources, each)));
  const text = [
    `${batch.name}: ${countValues(values, "undone")} undone, ${countValues(values, "kept")} kept.`,
  ];
  return printValues(context, { batch: batch.name }, values, text);
});

/** @param writes all of one document @throws Failure NOT_FOUND if its source has no write_back any more */
async function undoDocument(
  database: Database,
  sources: SourceOpener,
  writes: readonly WriteBack[],
): Promise<readonly WrittenValue[]> {
  const [{ source, remoteId } = { source: "", remoteId: "" }] = writes;
  const opened = await sources(source);
  if (opened === undefined)
    throw new Failure(
      "NOT_FOUND",
      `The configuration has no source ${JSON.stringify(source)} with write_back: add it again to undo what was written to it.`,
    );
  const ends = await withDocument(database, { source, remoteId }, async () => {
    const document = await readDocument(opened.api, numberOf(remoteId), opened.signal);
    if (document === undefined) return new Map<string, End>();
    const found = await findDescription(database, source, remoteId);
    const seen = lastDescription(found, document, opened.names);
    return undoWrites(opened, writes, { document, seen });
  });
  return writes.map(({ kind, name, pointer, value }) => {
    const end = ends === undefined ? TAKEN : (ends.get(keyOf({ kind, name })) ?? KEPT);
    return { source, remoteId, kind, name, pointer, value, ...end };
  });
}

const KEPT: End = { state: "kept", reason: GONE };

const countValues = (values: readonly WrittenValue[], state: End["state"]): string =>
  countOf(values.filter((value) => value.state === state && !isEvidence(value)).length, "value");

const leftOut = (count: number, noun: string, what: string): readonly string[] =>
  count === 0 ? [] : [`${countOf(count, noun)} ${what}: left out.`];

const MOST_SHOWN = 20;
const SHOWN_STATES: ReadonlySet<End["state"]> = new Set(["withheld", "kept", "pending"]);

async function printValues(
  { terminal }: CommandContext,
  about: Readonly<Record<string, unknown>>,
  values: readonly WrittenValue[],
  text: readonly string[],
): Promise<number> {
  const told = values.filter(({ state }) => SHOWN_STATES.has(state));
  const isWhole = values.every(({ state }) => state !== "kept" && state !== "pending");
  if (terminal.isJson) {
    const shown = values.map(({ remoteId, ...value }) => ({ remote_id: remoteId, ...value }));
    await terminal.printJson({ ok: isWhole, ...about, values: shown });
  } else {
    for (const line of text) await terminal.print(line);
    for (const { remoteId, pointer, name, state, reason } of told.slice(0, MOST_SHOWN))
      await terminal.print(`${remoteId} ${pointer} (${name}) ${state}: ${reason ?? ""}`);
    if (told.length > MOST_SHOWN)
      terminal.say(`${told.length - MOST_SHOWN} more: nightdesk sql "select * from write_backs"`);
  }
  return isWhole ? EXIT.ok : EXIT.partial;
}
