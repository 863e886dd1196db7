import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { Failure } from "../../../shared/failure.ts";
import { filesOf, isExternalData, OPTIONAL_FILES } from "../transformers/model-files.ts";
import type { Dtype, ModelFolder } from "../transformers/model-files.ts";
import { LONGEST_MS } from "../../models/deadline.ts";
import { isPlainPath, openModelFile } from "./model-folder.ts";
import { openRemoteFile } from "./model-hub.ts";
import type { ModelHub, RemoteContent, RemoteFile, RemoteModel } from "./model-hub.ts";
import { bytesOfPart, openModelPart } from "./model-part.ts";
import type { ModelPart } from "./model-part.ts";

/** A host that sends nothing for this long is given up. */
const IDLE_MS = 60_000;
/** The slowest acceptable rate. */
const LEAST_BYTES_A_MS = 10;

type Download = {
  readonly hub: ModelHub;
  readonly commit: string;
  readonly file: RemoteFile;
  readonly folder: ModelFolder;
};

/**
 * Downloads a file beside its place, and moves it there when size and hash match the hub's list: at its place stands a whole
 * file or none. The part of an earlier call is continued; if it turns out to belong to other content, the download starts
 * again. An interrupted download stays for the next call.
 * @param onBytes called with the total number of bytes so far
 * @throws Failure MODEL_UNREACHABLE, NOT_FOUND, MODEL_OUTPUT_INVALID; INPUT_INVALID while another process downloads it
 */
export async function downloadFile(
  download: Download,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const part = await openModelPart(download.folder, download.file);
  const hadBytes = part.bytes;
  try {
    await completePart(part, download, onBytes).catch(async (error: unknown) => {
      if (hadBytes === 0 || !isDamaged(error)) throw error;
      await part.begin(null);
      await completePart(part, download, onBytes);
    });
    await part.commit();
  } catch (error) {
    if (isDamaged(error)) await part.discard();
    throw error;
  } finally {
    await part.keep();
  }
}

async function completePart(
  part: ModelPart,
  download: Download,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { file } = download;
  const begun = startHash(file);
  await part.addTo(begun);
  const hash =
    part.bytes === file.bytes ? begun : await receiveRest(part, download, { hash: begun, onBytes });
  if (part.bytes !== file.bytes)
    throw damagedFile(file, `${part.bytes} bytes instead of ${file.bytes}`);
  if (hash.digest("hex") !== file.hash.hex) throw damagedFile(file, "another content");
}

type Progress = { readonly hash: Hash; readonly onBytes: (bytes: number) => void };

/** Requests the missing bytes and stores them as they arrive. @returns the hash of the whole file */
async function receiveRest(
  part: ModelPart,
  { hub, commit, file }: Download,
  { hash: begun, onBytes }: Progress,
): Promise<Hash> {
  const timeouts = startTimeouts(file);
  let content: RemoteContent | undefined;
  let hash = begun;
  try {
    content = await openRemoteFile(hub, { commit, file, there: part }, timeouts.signal);
    if (content.from === 0) {
      await part.begin(content.etag);
      hash = startHash(file);
    }
    for await (const piece of piecesOf(content.response, part, file)) {
      timeouts.refresh();
      // Stops at the announced size: a file without end would fill the disk.
      if (part.bytes + piece.length > file.bytes)
        throw damagedFile(file, `more than ${file.bytes} bytes`);
      hash.update(piece);
      await part.append(piece);
      onBytes(part.bytes);
    }
    return hash;
  } finally {
    content?.response.destroy();
    timeouts.clear();
  }
}

/** @throws Failure MODEL_UNREACHABLE if the connection ends before the content does */
async function* piecesOf(
  response: IncomingMessage,
  part: ModelPart,
  { path, bytes }: RemoteFile,
): AsyncGenerator<Buffer> {
  const brokeOff = (cause?: unknown) =>
    new Failure(
      "MODEL_UNREACHABLE",
      `The download of ${path} broke off. ${part.bytes} of its ${bytes} bytes are kept beside its place: run it again ` +
        "to go on from there.",
      { cause },
    );
  try {
    yield* response as AsyncIterable<Buffer>;
  } catch (error) {
    throw brokeOff(error);
  }
  // Without either header only the closed connection marks the end, and it may have closed too early.
  const isUntold = [response.headers["content-length"], response.headers["transfer-encoding"]];
  if (part.bytes < bytes && isUntold.every((said) => said === undefined)) throw brokeOff();
}

/** Aborts when the host sends nothing for too long, or too slowly. */
function startTimeouts({ bytes }: RemoteFile): {
  readonly signal: AbortSignal;
  refresh(): void;
  clear(): void;
} {
  const waiting = new AbortController();
  const stop = (): void => {
    waiting.abort();
  };
  const longestMs = Math.min(LONGEST_MS, IDLE_MS + Math.ceil(bytes / LEAST_BYTES_A_MS));
  const timers = [setTimeout(stop, IDLE_MS), setTimeout(stop, longestMs)];
  return {
    signal: waiting.signal,
    refresh: () => void timers[0]?.refresh(),
    clear() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

const isDamaged = (error: unknown): boolean =>
  error instanceof Failure && error.code === "MODEL_OUTPUT_INVALID";

/** Git hashes a file with a header that holds its size. */
const startHash = ({ hash, bytes }: RemoteFile): Hash =>
  hash.kind === "sha256" ? createHash("sha256") : createHash("sha1").update(`blob ${bytes}\0`);

const damagedFile = ({ path }: RemoteFile, what: string): Failure =>
  new Failure(
    "MODEL_OUTPUT_INVALID",
    `The host sent ${path} otherwise than it had told (${what}); nothing of it was kept. Run it again, or name another ` +
      "host with --host.",
  );

/** More than any model has: hubs split weights at 50 GB. */
const MAX_FILE_BYTES = 50e9;
const MAX_FILES = 100;

export type PlannedFile = RemoteFile & {
  /** Whether the identical file already exists. */
  readonly isThere: boolean;
  /** Otherwise: the bytes that an earlier call has left. */
  readonly keptBytes: number;
};

/**
 * The files that a model of this precision needs, and optional ones that the hub has; no others, so that nothing executable is
 * among them except the template of its prompts.
 * @throws Failure NOT_FOUND if the hub lacks a file; MODEL_OUTPUT_INVALID for an impossible list, such as one with a path that
 *   leads out of the folder
 */
export async function planDownload(
  { files }: RemoteModel,
  model: string,
  dtype: Dtype,
  folder: ModelFolder,
): Promise<readonly PlannedFile[]> {
  const needed = filesOf(dtype);
  const lacking = needed.filter((path) => !files.some((file) => file.path === path));
  if (lacking.length > 0) throw notThere(model, dtype, lacking, files);
  const known = [...needed, ...OPTIONAL_FILES];
  const wanted = files.filter(({ path }) => known.includes(path) || isExternalData(path, dtype));
  return planFiles(model, wanted, folder);
}

async function planFiles(
  model: string,
  wanted: readonly RemoteFile[],
  folder: ModelFolder,
): Promise<readonly PlannedFile[]> {
  checkList(model, wanted);
  const planned: PlannedFile[] = [];
  for (const file of wanted) {
    const isThere = await isSame(folder, file);
    planned.push({ ...file, isThere, keptBytes: isThere ? 0 : await bytesOfPart(folder, file) });
  }
  return planned;
}

function checkList(model: string, wanted: readonly RemoteFile[]): void {
  const names = wanted.map(({ path }) => path);
  const foreign = names.find((path) => !isPlainPath(path));
  const twice = names.find((path, place) => names.indexOf(path) !== place);
  const large = wanted.find(({ bytes }) => bytes > MAX_FILE_BYTES);
  if (foreign !== undefined)
    throw badList(model, `${quoteShort(foreign)}, which is no name of a file in a folder`);
  if (twice !== undefined) throw badList(model, `${quoteShort(twice)} twice`);
  if (large !== undefined)
    throw badList(model, `${quoteShort(large.path)} with ${large.bytes} bytes`);
  if (wanted.length > MAX_FILES) throw badList(model, `${wanted.length} files of weights`);
}

const quoteShort = (path: string): string => JSON.stringify(path.slice(0, 200));

const badList = (model: string, what: string): Failure =>
  new Failure(
    "MODEL_OUTPUT_INVALID",
    `The host lists for "${model}" ${what}. Nothing was downloaded; name a host that you trust with --host.`,
  );

async function isSame(folder: ModelFolder, file: RemoteFile): Promise<boolean> {
  const found = await openModelFile(folder, file.path);
  if (found === undefined) return false;
  try {
    if ((await found.stat()).size !== file.bytes) return false;
    const hash = startHash(file);
    await pipeline(found.createReadStream({ autoClose: false }), hash);
    return hash.digest("hex") === file.hash.hex;
  } finally {
    await found.close();
  }
}

function notThere(
  model: string,
  dtype: Dtype,
  lacking: readonly string[],
  files: readonly RemoteFile[],
): Failure {
  const weights = files.map(({ path }) => path).filter((path) => path.endsWith(".onnx"));
  const has = weights.length === 0 ? "no ONNX weights at all" : weights.slice(0, 10).join(", ");
  return new Failure(
    "NOT_FOUND",
    `"${model}" has no ${lacking.join(", ")}, which dtype ${dtype} needs; of weights it has ${has}. Choose ` +
      "another --dtype, or a model that was exported for transformers.js.",
  );
}
