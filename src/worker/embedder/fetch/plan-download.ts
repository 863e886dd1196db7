import { createReadStream, statSync } from "node:fs";
import { posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { Failure } from "../../../shared/failure.ts";
import { filesOf, isExternalData } from "../transformers/model-files.ts";
import type { Dtype } from "../transformers/model-files.ts";
import { startHash } from "./download-file.ts";
import type { RemoteFile, RemoteModel } from "./model-hub.ts";

export type PlannedFile = RemoteFile & {
  /** Absolute. */
  readonly target: string;
  /** Whether the very same file is there already. */
  readonly isThere: boolean;
};

/**
 * The files that a model of that precision needs, and no other: nothing that could be run is among them.
 * @throws Failure NOT_FOUND when the hub lacks one
 */
export async function planDownload(
  { files }: RemoteModel,
  model: string,
  dtype: Dtype,
  folder: string,
): Promise<readonly PlannedFile[]> {
  const needed = filesOf(dtype);
  const lacking = needed.filter((path) => !files.some((file) => file.path === path));
  if (lacking.length > 0) throw notThere(model, dtype, lacking, files);
  const wanted = files.filter(({ path }) => needed.includes(path) || isExternalData(path, dtype));
  return Promise.all(
    wanted.map(async (file) => {
      const target = posix.join(folder, file.path);
      return { ...file, target, isThere: await isSame(target, file) };
    }),
  );
}

async function isSame(target: string, file: RemoteFile): Promise<boolean> {
  if (statSync(target, { throwIfNoEntry: false })?.size !== file.bytes) return false;
  const hash = startHash(file);
  await pipeline(createReadStream(target), hash);
  return hash.digest("hex") === file.hash.hex;
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
