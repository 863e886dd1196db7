import { pipeline } from "node:stream/promises";
import { Failure } from "../../../shared/failure.ts";
import { filesOf, isExternalData } from "../transformers/model-files.ts";
import type { Dtype, ModelFolder } from "../transformers/model-files.ts";
import { startHash } from "./download-file.ts";
import { isPlainPath, openModelFile } from "./model-folder.ts";
import type { RemoteFile, RemoteModel } from "./model-hub.ts";

/** Beyond what any model has: weights of a hub are split at 50 GB. */
const MAX_FILE_BYTES = 50e9;
const MAX_FILES = 100;

export type PlannedFile = RemoteFile & {
  /** Whether the very same file is there already. */
  readonly isThere: boolean;
};

/**
 * The files that a model of that precision needs, and no other: nothing that could be run is among them.
 * @throws Failure NOT_FOUND when the hub lacks one; MODEL_OUTPUT_INVALID for a list that no model has, such as one with a
 *   path that leads out of the folder
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
  const wanted = files.filter(({ path }) => needed.includes(path) || isExternalData(path, dtype));
  checkList(model, wanted);
  const planned: PlannedFile[] = [];
  for (const file of wanted) planned.push({ ...file, isThere: await isSame(folder, file) });
  return planned;
}

function checkList(model: string, wanted: readonly RemoteFile[]): void {
  const names = wanted.map(({ path }) => path);
  const foreign = names.find((path) => !isPlainPath(path));
  const twice = names.find((path, place) => names.indexOf(path) !== place);
  const large = wanted.find(({ bytes }) => bytes > MAX_FILE_BYTES);
  if (foreign !== undefined)
    throw refused(model, `${shown(foreign)}, which is no name of a file in a folder`);
  if (twice !== undefined) throw refused(model, `${shown(twice)} twice`);
  if (large !== undefined) throw refused(model, `${shown(large.path)} with ${large.bytes} bytes`);
  if (wanted.length > MAX_FILES) throw refused(model, `${wanted.length} files of weights`);
}

const shown = (path: string): string => JSON.stringify(path.slice(0, 200));

const refused = (model: string, what: string): Failure =>
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
    `"${model}" has no ${lacking.join(", ")}, which embed.dtype ${dtype} needs; of weights it has ${has}. Choose ` +
      "another --dtype, or a model that was exported for transformers.js.",
  );
}
