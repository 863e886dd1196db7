import { databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { groupBy } from "../../shared/group-by.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findDescription } from "../../shared/store/index/remote-files.ts";
import { selectExtracted, selectWriteBacks } from "../../shared/store/index/write-backs.ts";
import type { ExtractedFile, WriteBack } from "../../shared/store/index/write-backs.ts";
import { findBatch } from "../../shared/views/batches.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import { countOf } from "../../shared/views/quantity.ts";
import {
  describeDocument,
  descriptionSchema,
  readDocument,
  readNames,
} from "../paperless/documents.ts";
import { openPaperlessApi } from "../paperless/paperless-api.ts";
import { isEvidence } from "../paperless/plan-writes.ts";
import { keyOf, undoWrites } from "../paperless/settle-writes.ts";
import type { End, OpenedSource } from "../paperless/settle-writes.ts";
import { writeExtraction } from "../paperless/write-back.ts";
import type { ValueEnd } from "../paperless/write-back.ts";
import { openPaperlessPlace } from "../sync/open-remote.ts";
import { numberOf } from "../sync/paperless.ts";

type Told = ValueEnd & Pick<WriteBack, "source" | "remoteId">;

/** Writes what is supported of the extractions of a batch to where their files came from. */
export const writeBack = databaseCommand(async (context, database) => {
  const { options } = context.invocation;
  const { args } = context.invocation;
  if (options["ifAny"] === true && (await findBatch(database, args[0] ?? "")) === undefined)
    return print(context, { batch: null }, [], ["There is no such batch: nothing is written."]);
  const batch = await findNamedBatch(database, context.invocation.args[0] ?? "");
  const mode = options["dryRun"] === true ? "dry run" : "write";
  const sources = sourceOpener(context, database);
  const known = groupBy(await selectWriteBacks(database, batch.batchId), documentOf);
  const values: Told[] = [];
  const left = { unfinished: 0, elsewhere: 0, repeated: 0 };
  const done = new Set<string>();
  for await (const file of extractedFiles(database, batch.batchId)) {
    const { state, source, remoteId } = file;
    const opened = source === null ? undefined : await sources(source);
    if (state !== "succeeded") left.unfinished += 1;
    else if (source === null || remoteId === null || opened === undefined) left.elsewhere += 1;
    else if (done.has(documentOf({ source, remoteId }))) left.repeated += 1;
    else {
      const document = documentOf({ source, remoteId });
      done.add(document);
      const of = { batchId: batch.batchId, name: batch.name, mode } as const;
      const writes = known.get(document) ?? [];
      const ends = await writeExtraction(opened, { ...file, source, remoteId }, writes, of);
      values.push(...ends.map((end) => ({ source, remoteId, ...end })));
    }
  }
  if (done.size === 0 && (left.elsewhere > 0 || left.unfinished === 0))
    throw new Failure(
      "INPUT_INVALID",
      left.elsewhere === 0
        ? `${batch.name} holds no extraction: queue one with nightdesk extract.`
        : `No extraction of ${batch.name} is of a file of a source with from: paperless and write_back (docs/sources.md).`,
    );
  const verb = mode === "write" ? "written" : "to be written";
  const text = [
    `${batch.name}: ${countValues(values, "written")} ${verb} to ${countOf(done.size, "document")}; ${countValues(values, "stands")} stood there already, ${countValues(values, "withheld")} withheld.`,
    ...tell(left.unfinished, "extraction", "without a result"),
    ...tell(left.elsewhere, "extraction", "of files of no source with write_back"),
    ...tell(left.repeated, "extraction", "of a document that another one of the batch is of"),
  ];
  return print(context, { batch: batch.name, dry_run: mode === "dry run", left }, values, text);
});

/** Puts back what the write-back of a batch has changed, where nobody has changed it since. */
export const writeBackUndo = databaseCommand(async (context, database) => {
  const batch = await findNamedBatch(database, context.invocation.args[0] ?? "");
  const sources = sourceOpener(context, database);
  const values: Told[] = [];
  for (const rows of groupBy(
    await selectWriteBacks(database, batch.batchId),
    documentOf,
  ).values()) {
    const writes = rows.filter(({ state }) => state === "written" || state === "intended");
    const [first] = writes;
    if (first === undefined) continue;
    const { source, remoteId } = first;
    const opened = await sources(source);
    if (opened === undefined)
      throw new Failure(
        "NOT_FOUND",
        `The configuration has no source "${source}" with write_back.`,
      );
    const ends = await undoDocument(opened, database, writes);
    values.push(
      ...writes.map(({ kind, name, pointer, value }) => {
        const end: End = ends.get(keyOf({ kind, name })) ?? { state: "kept", reason: GONE };
        return { source, remoteId, kind, name, pointer, value, ...end };
      }),
    );
  }
  const kept = countValues(values, "kept");
  const text = [`${batch.name}: ${countValues(values, "undone")} undone, ${kept} kept.`];
  return print(context, { batch: batch.name }, values, text);
});

const GONE = "the document is not there any more, or may not be read";

async function undoDocument(
  opened: OpenedSource,
  database: Database,
  writes: readonly WriteBack[],
) {
  const [{ source, remoteId } = { source: "", remoteId: "" }] = writes;
  const document = await readDocument(opened.api, numberOf(remoteId), opened.signal);
  if (document === undefined) return new Map<string, End>();
  const found = await findDescription(database, source, remoteId);
  const seen = descriptionSchema.safeParse(found).data ?? describeDocument(document, opened.names);
  return undoWrites(opened, writes, { document, seen });
}

async function* extractedFiles(db: Database, batchId: string): AsyncGenerator<ExtractedFile> {
  for (let after = "0"; ;) {
    const files = await selectExtracted(db, batchId, after);
    yield* files;
    const last = files.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

/** Opens each source once; undefined of one that is not written to. */
function sourceOpener({ config, invocation }: CommandContext, db: Database) {
  const opened = new Map<string, Promise<OpenedSource>>();
  const { signal } = new AbortController();
  return (name: string): Promise<OpenedSource> | undefined => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const source = config.index.sources.find((one) => one.name === name);
    const { from, remote, write_back: settings } = source ?? {};
    if (
      source === undefined ||
      from !== "paperless" ||
      remote === undefined ||
      settings === undefined
    )
      return undefined;
    const open = async (): Promise<OpenedSource> => {
      const place = await openPaperlessPlace({ ...source, from, remote }, config, invocation.env);
      const api = openPaperlessApi(place);
      return { db, settings, place, api, signal, names: await readNames(place, api, signal) };
    };
    const opening = open();
    opened.set(name, opening);
    return opening;
  };
}

const documentOf = ({ source, remoteId }: Pick<Told, "source" | "remoteId">): string =>
  `${source} ${remoteId}`;

const countValues = (values: readonly Told[], state: End["state"]): string =>
  countOf(values.filter((value) => value.state === state && !isEvidence(value)).length, "value");

const tell = (count: number, noun: string, what: string): readonly string[] =>
  count === 0 ? [] : [`${countOf(count, noun)} ${what}: left out.`];

const MOST_TOLD = 20;
const TOLD: ReadonlySet<End["state"]> = new Set(["withheld", "kept", "pending"]);

async function print(
  { terminal }: CommandContext,
  about: Readonly<Record<string, unknown>>,
  values: readonly Told[],
  text: readonly string[],
): Promise<number> {
  const told = values.filter(({ state }) => TOLD.has(state));
  const isWhole = values.every(({ state }) => state !== "kept" && state !== "pending");
  if (terminal.isJson) {
    const shown = values.map(({ remoteId, ...value }) => ({ remote_id: remoteId, ...value }));
    await terminal.printJson({ ok: isWhole, ...about, values: shown });
  } else {
    for (const line of text) await terminal.print(line);
    for (const { remoteId, pointer, name, state, reason } of told.slice(0, MOST_TOLD))
      await terminal.print(`${remoteId} ${pointer} (${name}) ${state}: ${reason ?? ""}`);
    if (told.length > MOST_TOLD)
      terminal.say(`${told.length - MOST_TOLD} more: nightdesk sql "select * from write_backs"`);
  }
  return isWhole ? EXIT.ok : EXIT.partial;
}
