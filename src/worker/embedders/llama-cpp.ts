import type { ConfigValues } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import type { GgufRole } from "../models/llama-cpp/gguf-file.ts";
import { brokeOff, holdModels } from "../models/llama-cpp/held-models.ts";
import type { HeldModels, OpenedModel } from "../models/llama-cpp/held-models.ts";
import type { EmbeddingReply } from "../models/llama-cpp/model-process.ts";
import { normalize, signatureOf, splitBatches, toRows } from "./embedder.ts";
import type { Embedder, EmbedderPlace } from "./embedder.ts";
import { embedFitting, TextTooLong } from "./fit-texts.ts";

type LlamaCppSettings = Pick<
  ConfigValues["embed"],
  | "model_id"
  | "cache_dir"
  | "batch_size"
  | "max_length"
  | "timeout_s"
  | "recycle_texts"
  | "recycle_mb"
>;

const EMBEDDING_MODEL: GgufRole = {
  missing: "EMBED_MODEL_MISSING",
  nameKey: "embed.model_id",
  timeoutKey: "embed.timeout_s",
  less: "lower embed.max_length or embed.batch_size",
};

/** A model that nobody asks for gives its memory back. */
const IDLE_MS = 60_000;

/**
 * The model of a GGUF file, in a process of this machine. How the vectors of its tokens become one is said by the file. A text beyond
 * embed.max_length, or beyond what the model was trained for, is cut by us, and counted.
 * @throws Failure EMBED_MODEL_MISSING for a file or a runtime that is not there or can't be loaded; CONFIG_ERROR, MODEL_TIMEOUT,
 *   TOOL_ERROR
 */
export async function createLlamaCppEmbedder(
  settings: LlamaCppSettings,
  { workroot, llamaCpp }: Pick<EmbedderPlace, "workroot" | "llamaCpp">,
): Promise<Embedder & { readonly close: () => void }> {
  const { model_id: id, batch_size, max_length } = settings;
  const timeoutMs = settings.timeout_s * 1_000;
  const models = holdModels({
    config: { model: { llama_cpp: llamaCpp }, embed: settings, roots: { workroot } },
    role: EMBEDDING_MODEL,
    changed,
    load: { task: "embed", windowTokens: max_length, parallel: 1 },
    loadTimeoutMs: timeoutMs,
    idleMs: IDLE_MS,
    recycle: {
      inputs: settings.recycle_texts,
      megabytes: settings.recycle_mb,
    },
  });
  const { signal: always } = new AbortController();
  const opened = await models.open(id, always);
  const embedAll = embedBy(models, opened, { timeoutMs, texts: batch_size });
  const dims = await findDims(embedAll, always).catch((error: unknown) => {
    models.release();
    throw error;
  });
  const { digest, ready } = opened;
  const windowTokens = ready.model?.windowTokens ?? max_length;
  return {
    id,
    dims,
    signature: signatureOf({ embedder: "llama-cpp-1", model: id, digest, dims, windowTokens }),
    defaultWeight: 1,
    embed: (texts, signal, onCut = () => undefined) => embedAll(texts, dims, signal, onCut),
    close: models.release,
  };
}

async function findDims(embedAll: EmbedAll, signal: AbortSignal): Promise<number> {
  const [probe] = await embedAll(["dimensions"], 0, signal, () => undefined);
  return probe?.length ?? 0;
}

type EmbedAll = (
  texts: readonly string[],
  dims: number,
  signal: AbortSignal,
  onCut: () => void,
) => Promise<Float32Array[]>;

const embedBy =
  (
    models: HeldModels,
    opened: OpenedModel,
    { timeoutMs, texts: most }: { readonly timeoutMs: number; readonly texts: number },
  ): EmbedAll =>
  async (texts, dims, signal, onCut) => {
    const embed = async (batch: readonly string[]): Promise<Float32Array[]> => {
      const limits = { signal, timeoutMs, inputs: batch.length };
      const reply = await models.call(opened, limits, (process, until, onStarted) =>
        process.embed(batch, until, onStarted),
      );
      return toVectors(reply, batch.length, opened);
    };
    const vectors: Float32Array[] = [];
    for (const batch of splitBatches(texts, most)) {
      const fitted = embedFitting(batch, { embed, dims, onCut });
      vectors.push(...(await fitted.catch(explainFor(opened))));
    }
    return vectors;
  };

function toVectors(reply: EmbeddingReply, rows: number, { name }: OpenedModel): Float32Array[] {
  switch (reply.kind) {
    case "embedded":
      return toRows(reply.values, rows).map(normalize);
    case "too_long":
      throw new TextTooLong(`it takes ${reply.tokens} tokens`);
    case "failed":
      throw brokeOff(name, EMBEDDING_MODEL, reply.error);
  }
}

/** What refuses a few words can't be helped by cutting. */
const explainFor =
  ({ name }: OpenedModel) =>
  (error: unknown) => {
    if (!(error instanceof TextTooLong)) throw error;
    throw new Failure(
      "CONFIG_ERROR",
      `"${name}" has no room for a few words (${error.message}). Raise embed.max_length, or set embed.model_id to another ` +
        "model.",
      { cause: error },
    );
  };

const changed = (name: string): Failure =>
  new Failure(
    "EMBED_DRIFT",
    `The file of "${name}" is another than when this process began. Start the worker again, then run: nightdesk embed`,
  );
