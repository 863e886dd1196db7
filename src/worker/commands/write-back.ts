import { databaseCommand } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectDescriptions } from "../../shared/store/index/remote-files.ts";
import { selectExtracted, selectWriteBacks } from "../../shared/store/index/write-backs.ts";
import type { ExtractedFile, WriteBack } from "../../shared/store/index/write-backs.ts";
import { findBatch } from "../../shared/views/batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
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
  const batch = await findNamed(context, database);
  const mode = options["dryRun"] === true ? "dry run" : "write";
  const sources = sourceOpener(context, database);
  const known = byDocument(await selectWriteBacks(database, batch.batchId));
  const values: Told[] = [];
  const left = { unfinished: 0, elsewhere: 0, repeated: 0 };
  const done = new Set<string>();
  for await (const file of extractedFiles(database, batch.batchId)) {
    const { state, source, remoteId } = file;
    const opened = source === null ? undefined : await sources(source);
    if (state !== "succeeded") left.unfinished += 1;
    else if (source === null || remoteId === null || opened === undefined) left.elsewhere += 1;
    else if (done.has(`${source} ${remoteId}`)) left.repeated += 1;
    else {
      done.add(`${source} ${remoteId}`);
      const of = { batchId: batch.batchId, name: batch.name, mode } as const;
      const writes = known.get(`${source} ${remoteId}`) ?? new Map<string, WriteBack>();
      const ends = await writeExtraction(opened, { ...file, source, remoteId }, writes, of);
      values.push(...ends.map((end) => ({ source, remoteId, ...end })));
    }
  }
  if (done.size === 0 && left.elsewhere > 0)
    throw new Failure(
      "INPUT_INVALID",
      `No extraction of ${batch.name} is of a file of a source with from: paperless and write_back (docs/sources.md).`,
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
  const batch = await findNamed(context, database);
  const sources = sourceOpener(context, database);
  const values: Told[] = [];
  for (const rows of byDocument(await selectWriteBacks(database, batch.batchId)).values()) {
    const writes = [...rows.values()].filter(
      ({ state }) => state === "written" || state === "intended",
    );
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
  const all = await selectDescriptions(database, source);
  const found = all.find((one) => one.remoteId === remoteId)?.description;
  const seen = descriptionSchema.safeParse(found).data ?? describeDocument(document, opened.names);
  return undoWrites(opened, writes, { document, seen });
}

/** @throws Failure NOT_FOUND */
async function findNamed(
  { invocation }: CommandContext,
  database: Database,
): Promise<BatchProgress> {
  const [named = ""] = invocation.args;
  const batch = await findBatch(database, named);
  if (batch !== undefined) return batch;
  const hint = "nightdesk batch list --all shows all.";
  throw new Failure("NOT_FOUND", `There is no batch ${JSON.stringify(named)}; ${hint}`);
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
  const opened = new Map<string, Promise<OpenedSource> | undefined>();
  const { signal } = new AbortController();
  return (name: string): Promise<OpenedSource> | undefined => {
    if (opened.has(name)) return opened.get(name);
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
    opened.set(name, open());
    return opened.get(name);
  };
}

function byDocument(writes: readonly WriteBack[]): Map<string, Map<string, WriteBack>> {
  const documents = new Map<string, Map<string, WriteBack>>();
  for (const write of writes) {
    const key = `${write.source} ${write.remoteId}`;
    documents.set(
      key,
      (documents.get(key) ?? new Map<string, WriteBack>()).set(keyOf(write), write),
    );
  }
  return documents;
}

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
