import { constants } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import {
  createAtomicFile,
  openBelow,
  openPartFile,
  pathOfFolder,
} from "../../../shared/files/atomic-file.ts";
import type { AtomicFile, PartFile } from "../../../shared/files/atomic-file.ts";
import { Failure } from "../../../shared/failure.ts";
import { hasCode } from "../../../shared/store/connection/errors.ts";
import type { ModelFolder } from "../transformers/model-files.ts";

/** A file name has at most 255 bytes, and the partial download beside the file has a longer name. */
const MAX_NAME = 240;

/**
 * Whether a path of an untrusted list names a file below a folder, on any system: words separated by slashes, none of them
 * empty, `.` or `..`, without backslashes, colons (drives, streams) or control characters.
 */
export const isPlainPath = (path: string): boolean =>
  path
    .split("/")
    .every(
      (word) =>
        word !== "" &&
        word !== "." &&
        word !== ".." &&
        Buffer.byteLength(word) <= MAX_NAME &&
        !/[\\:\p{C}]/u.test(word),
    );

/** Opens a file below a model's folder for reading; undefined if it does not exist, or is a link. */
export async function openModelFile(
  model: ModelFolder,
  path: string,
): Promise<FileHandle | undefined> {
  const { folders, name } = partsOf(model, path);
  const folder = await openFolderOf(model, folders, "leave out");
  if (folder === undefined) return undefined;
  try {
    const place = await pathOfFolder(folder.handle, folder.path);
    const file = await open(
      join(place, name),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    if ((await file.stat()).isFile()) return file;
    await file.close();
    return undefined;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP")) return undefined;
    throw error;
  } finally {
    await folder.handle.close();
  }
}

/** Creates a file below a model's folder, including the folders that lead to it. */
export const createModelFile = (model: ModelFolder, path: string): Promise<AtomicFile> =>
  inFolderOf(model, path, (file) => createAtomicFile(file, "replace"));

/** Opens the part of a file that an earlier call may have left; "held" if another process writes it. */
export const openPartOfModel = (model: ModelFolder, path: string): Promise<PartFile | "held"> =>
  inFolderOf(model, path, openPartFile);

/** Removes a file below a model's folder, if it exists. */
export const removeModelFile = (model: ModelFolder, path: string): Promise<void> =>
  inFolderOf(model, path, (file) => rm(file, { force: true }));

async function inFolderOf<T>(
  model: ModelFolder,
  path: string,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const { folders, name } = partsOf(model, path);
  await mkdir(model.base, { recursive: true });
  const folder = await openFolderOf(model, folders, "make");
  if (folder === undefined) throw new Error("a folder that was made is not there");
  try {
    const place = await pathOfFolder(folder.handle, folder.path);
    return await work(join(place, name));
  } finally {
    await folder.handle.close();
  }
}

function partsOf({ below }: ModelFolder, path: string): { folders: string[]; name: string } {
  const words = path.split("/");
  return { folders: [...below, ...words.slice(0, -1)], name: words.at(-1) ?? "" };
}

type OpenFolder = { readonly handle: FileHandle; readonly path: string };

/** Opens a folder below the one that the user named; follows no link there. */
async function openFolderOf(
  { base }: ModelFolder,
  folders: readonly string[],
  missing: "make" | "leave out",
): Promise<OpenFolder | undefined> {
  const opened = await openBelow(base, folders, missing);
  if (opened.kind === "open") return opened;
  if (opened.kind === "missing") return undefined;
  throw new Failure(
    "INPUT_INVALID",
    `${opened.path} is a link or no folder, and models fetch follows no link. Take it away, or name the folder that is meant in ` +
      "embed.cache_dir or embed.local_model_path.",
  );
}
