import type { Hash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { partNameOf } from "../../../shared/files/atomic-file.ts";
import { Failure } from "../../../shared/failure.ts";
import { parseJson } from "../../../shared/schema/json-value.ts";
import type { ModelFolder } from "../transformers/model-files.ts";
import {
  createModelFile,
  openModelFile,
  openPartOfModel,
  removeModelFile,
} from "./model-folder.ts";
import type { RemoteFile } from "./model-hub.ts";

/** A partial download of a model's file: it stays beside its place until it is complete, with a note of which file it is. */
export type ModelPart = {
  /** The number of bytes of this file that exist. */
  readonly bytes: number;
  /** The etag of the content that the part began with; null if the host reported none, or there is no part. */
  readonly etag: string | null;
  /** Discards the part, and notes the etag of the content that will follow. */
  begin(etag: string | null): Promise<void>;
  append(piece: Uint8Array): Promise<void>;
  /** Adds the whole part to a hash, without ending the hash. */
  addTo(hash: Hash): Promise<void>;
  /** Moves the file to its place. */
  commit(): Promise<void>;
  /** Deletes part and note. Does nothing after a commit. */
  discard(): Promise<void>;
  /** Leaves the part for the next call. Does nothing after a commit or a discard. */
  keep(): Promise<void>;
};

type FileFacts = Pick<RemoteFile, "path" | "bytes" | "hash">;

/**
 * Opens the part of a file that an earlier call left; discards it if the file has another size or hash.
 * @throws Failure INPUT_INVALID while another process downloads it
 */
export async function openModelPart(folder: ModelFolder, file: FileFacts): Promise<ModelPart> {
  const opened = await openPartOfModel(folder, file.path);
  if (opened === "held") throw beingDownloaded(file);
  const { handle } = opened;
  const note = await readNote(folder, file).catch(async (error: unknown) => {
    await opened.keep();
    throw error;
  });
  const isOfFile = note !== undefined && opened.bytes <= file.bytes;
  if (!isOfFile) await handle.truncate(0);
  let bytes = isOfFile ? opened.bytes : 0;
  let etag = isOfFile ? note.etag : null;
  return {
    get bytes() {
      return bytes;
    },
    get etag() {
      return etag;
    },
    async begin(newEtag) {
      await handle.truncate(0);
      [bytes, etag] = [0, newEtag];
      await writeNote(folder, file, newEtag);
    },
    async append(piece) {
      await handle.appendFile(piece);
      bytes += piece.length;
    },
    async addTo(hash) {
      if (bytes === 0) return;
      const there = handle.createReadStream({ start: 0, end: bytes - 1, autoClose: false });
      await pipeline(there, hash, { end: false });
    },
    async commit() {
      await opened.commit();
      await removeModelFile(folder, noteNameOf(file));
    },
    async discard() {
      await opened.discard();
      await removeModelFile(folder, noteNameOf(file));
    },
    keep: () => opened.keep(),
  };
}

/** The number of bytes of a file that an earlier call left. */
export async function bytesOfPart(folder: ModelFolder, file: FileFacts): Promise<number> {
  if ((await readNote(folder, file)) === undefined) return 0;
  const part = await openModelFile(folder, besideOf(file, partNameOf));
  if (part === undefined) return 0;
  const { size } = await part.stat().finally(() => part.close());
  return size > file.bytes ? 0 : size;
}

const noteSchema = z.object({
  bytes: z.int(),
  hash: z.object({ kind: z.enum(["sha256", "git"]), hex: z.string() }),
  etag: z.string().nullable(),
});
type Note = z.infer<typeof noteSchema>;

const MOST_NOTE_BYTES = 16_384;

/** @returns undefined if there is no note, or it belongs to another file */
async function readNote(folder: ModelFolder, file: FileFacts): Promise<Note | undefined> {
  const found = await openModelFile(folder, noteNameOf(file));
  if (found === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await found.read(Buffer.alloc(MOST_NOTE_BYTES), 0);
    const note = noteSchema.safeParse(parseJson(buffer.toString("utf8", 0, bytesRead))).data;
    const isOfFile = note?.bytes === file.bytes && note.hash.hex === file.hash.hex;
    return isOfFile ? note : undefined;
  } finally {
    await found.close();
  }
}

async function writeNote(folder: ModelFolder, file: FileFacts, etag: string | null): Promise<void> {
  const note: Note = { bytes: file.bytes, hash: file.hash, etag };
  const written = await createModelFile(folder, noteNameOf(file));
  try {
    await written.handle.writeFile(`${JSON.stringify(note)}\n`);
    await written.commit();
  } finally {
    await written.discard();
  }
}

const noteNameOf = (file: FileFacts): string => `${besideOf(file, partNameOf)}.json`;

/** The path of a file beside this one, with a name derived from its name. */
function besideOf({ path }: FileFacts, rename: (name: string) => string): string {
  const words = path.split("/");
  return [...words.slice(0, -1), rename(words.at(-1) ?? "")].join("/");
}

const beingDownloaded = ({ path }: FileFacts): Failure =>
  new Failure(
    "INPUT_INVALID",
    `Another process downloads ${path} now. Wait until it has ended, then run this again.`,
  );
