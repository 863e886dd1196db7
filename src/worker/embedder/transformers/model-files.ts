import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { posix } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";

export type Dtype = ConfigValues["embed"]["dtype"];
type ModelPlace = Pick<ConfigValues["embed"], "model_id" | "local_model_path" | "cache_dir">;

const DEFAULT_CACHE = "models";

/** The folder of a model, absolute: the one that was named, or that of its id in the cache. */
export function modelFolderOf(place: ModelPlace, workroot: string): string {
  if (place.local_model_path !== null) return posix.resolve(workroot, place.local_model_path);
  return posix.resolve(workroot, place.cache_dir ?? DEFAULT_CACHE, place.model_id);
}

/** How the library names the weights of each precision. */
const WEIGHTS: Readonly<Record<Dtype, string>> = {
  fp32: "model",
  fp16: "model_fp16",
  q8: "model_quantized",
  int8: "model_int8",
  uint8: "model_uint8",
  q4: "model_q4",
  q4f16: "model_q4f16",
  bnb4: "model_bnb4",
};

/** The weights of a precision, relative to the model's folder. */
export const weightsOf = (dtype: Dtype): string => `onnx/${WEIGHTS[dtype]}.onnx`;

/** Every file that a model can't be loaded without, relative to its folder. */
export const filesOf = (dtype: Dtype): readonly string[] => [
  "config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  weightsOf(dtype),
];

/** Whether a file holds weights that the ONNX file of that precision names: those beyond 2 GB lie beside it. */
export const isExternalData = (file: string, dtype: Dtype): boolean =>
  file.startsWith(`${weightsOf(dtype)}_data`);

/** @throws Failure EMBED_MODEL_MISSING naming the folder and what is not in it */
export function requireFiles(model: string, folder: string, dtype: Dtype): void {
  const missing = filesOf(dtype).filter((file) => !existsSync(posix.join(folder, file)));
  if (missing.length === 0) return;
  throw new Failure(
    "EMBED_MODEL_MISSING",
    `The embedding model "${model}" (${dtype}) lacks ${missing.join(", ")} in ${folder}. Put the files there, name ` +
      `their folder in embed.local_model_path, or run: nightdesk models fetch ${model}`,
  );
}

/** SHA-256 over names and contents of the files that decide the vectors, wherever the folder lies. */
export async function fingerprintModel(folder: string, dtype: Dtype): Promise<string> {
  const beside = (await readdir(posix.join(folder, "onnx")))
    .map((name) => `onnx/${name}`)
    .filter((file) => isExternalData(file, dtype));
  const whole = createHash("sha256");
  for (const file of [...filesOf(dtype), ...beside].sort()) {
    const content = createHash("sha256");
    await pipeline(createReadStream(posix.join(folder, file)), content);
    whole.update(`${file.length}:${file}${content.digest("hex")}`);
  }
  return whole.digest("hex");
}
