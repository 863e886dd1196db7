import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { recordWriteBackEnd, selectExtracted } from "../../shared/store/index/write-backs.ts";
import type { DocumentId, ExtractedFile } from "../../shared/store/index/write-backs.ts";
import { openPaperlessPlace } from "../sync/open-remote.ts";
import { readNames } from "./documents.ts";
import { openPaperlessApi } from "./paperless-api.ts";
import type { OpenedSource } from "./settle-writes.ts";
import { writeExtraction } from "./write-back.ts";
import type { BatchToWrite, ValueEnd } from "./write-back.ts";

/** Opens each source once; undefined for a source without write-back. */
export type SourceOpener = (name: string) => Promise<OpenedSource> | undefined;

export type WrittenValue = ValueEnd & DocumentId;

export type BatchWritten = {
  readonly values: readonly WrittenValue[];
  readonly documents: number;
  /** Numbers of skipped extractions. */
  readonly left: {
    readonly unfinished: number;
    readonly elsewhere: number;
    readonly repeated: number;
  };
};

/**
 * Writes back the extractions of a batch; if several are of one document, only the first.
 * @param onDocument is called before each document is read
 * @throws Failure as requestPlace
 */
export async function writeBatch(
  database: Queryable,
  sources: SourceOpener,
  batch: BatchToWrite,
  onDocument: () => void = () => undefined,
): Promise<BatchWritten> {
  const values: WrittenValue[] = [];
  const left = { unfinished: 0, elsewhere: 0, repeated: 0 };
  const done = new Set<string>();
  for await (const file of extractedFiles(database, batch.batchId)) {
    const { state, source, remoteId } = file;
    const opened = source === null ? undefined : await sources(source);
    if (state !== "succeeded") left.unfinished += 1;
    else if (source === null || remoteId === null || opened === undefined) left.elsewhere += 1;
    else if (done.has(documentKey({ source, remoteId }))) left.repeated += 1;
    else {
      onDocument();
      done.add(documentKey({ source, remoteId }));
      const ends = await writeExtraction(opened, { ...file, source, remoteId }, batch);
      values.push(...ends.map((end) => ({ source, remoteId, ...end })));
    }
  }
  if (batch.mode === "write") await recordWriteBackEnd(database, batch.batchId);
  return { values, documents: done.size, left };
}

export const documentKey = ({ source, remoteId }: DocumentId): string => `${source} ${remoteId}`;

async function* extractedFiles(db: Queryable, batchId: string): AsyncGenerator<ExtractedFile> {
  for (let after = "0"; ;) {
    const files = await selectExtracted(db, batchId, after);
    yield* files;
    const last = files.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

/** @param which batch_end: only sources with `write_back.when: batch_end` */
export function openSources(
  { config, invocation }: Pick<CommandContext, "config" | "invocation">,
  db: Queryable,
  { which, signal }: { readonly which: "all" | "batch_end"; readonly signal: AbortSignal },
): SourceOpener {
  const opened = new Map<string, Promise<OpenedSource>>();
  return (name) => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const source = config.index.sources.find((one) => one.name === name);
    const { from, remote, write_back: settings } = source ?? {};
    if (
      source === undefined ||
      from !== "paperless" ||
      remote === undefined ||
      settings === undefined ||
      (which === "batch_end" && settings.when !== "batch_end")
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
