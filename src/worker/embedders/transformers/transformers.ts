import type { ConfigValues } from "../../../shared/config/schema.ts";
import { normalize, signatureOf, splitBatches, toRows } from "../embedder.ts";
import type { Embedder, EmbedderPlace } from "../embedder.ts";
import { fingerprintModel, modelFolderOf, requireFiles } from "./model-files.ts";
import type { ModelRole } from "./model-files.ts";
import { openModelProcess } from "./model-process.ts";
import type { ModelProcess, ModelProcessOptions } from "./model-process.ts";

export type TransformersSettings = Omit<
  ConfigValues["embed"],
  | "provider"
  | "normalize"
  | "base_url"
  | "query_prefix"
  | "passage_prefix"
  | "dimensions"
  | "precision"
>;

const EMBEDDING: ModelRole = {
  noun: "embedding model",
  keys: "embed",
  missing: "EMBED_MODEL_MISSING",
  smaller: "lower embed.batch_size or embed.max_length",
  without: "set embed.provider to hashing",
};

/**
 * A local model by @huggingface/transformers in a process of its own. Nothing is ever downloaded.
 * @throws Failure EMBED_MODEL_MISSING if the package or the model's files are missing; MODEL_TIMEOUT, TOOL_ERROR
 */
export async function createTransformersEmbedder(
  settings: TransformersSettings,
  { workroot, execArgv = process.execArgv }: Pick<EmbedderPlace, "workroot" | "execArgv">,
): Promise<Embedder & { readonly close: () => void }> {
  const { model_id, dtype, pooling, max_length } = settings;
  const folder = modelFolderOf(settings, workroot);
  requireFiles(EMBEDDING, model_id, folder, dtype);
  const model = openModelProcess(processOptions(settings, folder, execArgv));
  const embed: Embedder["embed"] = async (texts, signal) => {
    const vectors: Float32Array[] = [];
    for (const batch of splitBatches(texts, settings.batch_size)) {
      const { values, rows } = await model.ask({ kind: "embed", texts: batch }, signal);
      vectors.push(...toRows(values, rows).map(normalize));
    }
    return vectors;
  };
  const dims = await findDims(model);
  const facts = { embedder: "transformers-2", model: model_id, dims, dtype, pooling, max_length };
  const digest = await fingerprintModel(folder, dtype);
  const signature = signatureOf({ ...facts, digest });
  return { id: model_id, dims, signature, defaultWeight: 1, embed, close: model.close };
}

const processOptions = (
  settings: TransformersSettings,
  folder: string,
  execArgv: readonly string[],
): ModelProcessOptions => ({
  role: EMBEDDING,
  model: settings.model_id,
  load: {
    kind: "load",
    task: "embed",
    folder,
    dtype: settings.dtype,
    device: settings.device,
    pooling: settings.pooling,
    maxLength: settings.max_length,
  },
  timeoutMs: settings.timeout_s * 1_000,
  recycle: { inputs: settings.recycle_texts, megabytes: settings.recycle_mb },
  execArgv,
});

async function findDims(model: ModelProcess): Promise<number> {
  const request = { kind: "embed", texts: ["dimensions"] } as const;
  const { values } = await model.ask(request, new AbortController().signal);
  return values.length;
}
