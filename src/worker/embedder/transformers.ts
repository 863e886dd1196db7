import { existsSync } from "node:fs";
import { posix } from "node:path";
import type { ConfigValues } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import type { EmbedderPlace } from "./create-embedder.ts";
import type { Embedder } from "./embedder.ts";
import { fingerprintFolder } from "./fingerprint-folder.ts";
import { normalize } from "./normalize.ts";
import { signatureOf } from "./signature.ts";

type TransformersSettings = Omit<ConfigValues["embed"], "provider" | "batch_size" | "base_url">;

/** The part of @huggingface/transformers that is used. The package is optional, so its types may be absent. */
type Library = {
  readonly env: {
    allowRemoteModels: boolean;
    allowLocalModels: boolean;
    localModelPath: string;
  };
  readonly pipeline: (
    task: "feature-extraction",
    model: string,
    options: { readonly local_files_only: true; readonly dtype: string; readonly device: string },
  ) => Promise<Extractor>;
};
type Tensor = { readonly data: Float32Array; readonly dims: readonly number[] };
type Extractor = {
  (
    texts: readonly string[],
    options: { readonly pooling: string; readonly normalize: boolean },
  ): Promise<Tensor>;
  readonly tokenizer: object;
};

/**
 * A local model by @huggingface/transformers. Nothing is ever downloaded.
 * @throws Failure EMBED_MODEL_MISSING when the package or the model's files are not there
 */
export async function createTransformersEmbedder(
  settings: TransformersSettings,
  { workroot }: Pick<EmbedderPlace, "workroot">,
): Promise<Embedder> {
  const folder = modelFolder(settings, workroot);
  if (!existsSync(posix.join(folder, "config.json"))) throw missingFiles(settings.model_id, folder);
  const extractor = await loadExtractor(await loadLibrary(), folder, settings);
  // The pipeline cuts at this length and takes no other; the library defines it as a getter of the class.
  Object.defineProperty(extractor.tokenizer, "model_max_length", { value: settings.max_length });
  const embedTexts = async (texts: readonly string[]) =>
    toVectors(await run(extractor, texts, settings));
  const dims = (await embedTexts(["dimensions"]))[0]?.length ?? 0;
  const { model_id, dtype, pooling, max_length } = settings;
  const files = await fingerprintFolder(folder);
  return {
    id: model_id,
    dims,
    signature: signatureOf({
      embedder: "transformers-1",
      model_id,
      files,
      dims,
      dtype,
      pooling,
      max_length,
    }),
    defaultWeight: 1,
    async embed(texts, signal) {
      signal.throwIfAborted();
      return texts.length === 0 ? [] : embedTexts(texts);
    },
  };
}

function modelFolder(settings: TransformersSettings, workroot: string): string {
  if (settings.local_model_path !== null) return posix.resolve(workroot, settings.local_model_path);
  return posix.resolve(workroot, settings.cache_dir ?? "models", settings.model_id);
}

async function loadLibrary(): Promise<Library> {
  // A variable, so that the build passes where the optional package is not installed.
  const specifier = "@huggingface/transformers";
  try {
    return (await import(specifier)) as Library;
  } catch (error) {
    throw new Failure(
      "EMBED_MODEL_MISSING",
      `embed.provider is transformers, and the optional package ${specifier} is not installed: run npm ci ` +
        "without --omit=optional, or set embed.provider to hashing.",
      { cause: error },
    );
  }
}

async function loadExtractor(
  { env, pipeline }: Library,
  folder: string,
  { model_id, dtype, device }: TransformersSettings,
): Promise<Extractor> {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = posix.dirname(folder);
  try {
    const options = { local_files_only: true, dtype, device } as const;
    return await pipeline("feature-extraction", posix.basename(folder), options);
  } catch (error) {
    throw missingFiles(model_id, folder, error);
  }
}

const missingFiles = (model: string, folder: string, cause?: unknown): Failure =>
  new Failure(
    "EMBED_MODEL_MISSING",
    `The files of the embedding model "${model}" can't be loaded from ${folder}: put config.json, tokenizer.json and ` +
      "onnx/ of the model there, or set embed.local_model_path. Nothing is downloaded.",
    { cause },
  );

const run = (extractor: Extractor, texts: readonly string[], { pooling }: TransformersSettings) =>
  extractor([...texts], { pooling, normalize: false });

/** The rows of a matrix, each of unit length. */
function toVectors({ data, dims }: Tensor): Float32Array[] {
  const [rows = 0, columns = 0] = dims;
  return Array.from({ length: rows }, (_, row) =>
    normalize(data.slice(row * columns, (row + 1) * columns)),
  );
}
