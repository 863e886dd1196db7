// Embeds texts with a transformers model and prints what came out: print-vectors.ts WORKROOT MODEL_PATH TEXT…
// A process of its own, because the native runtime does not know the typed arrays of jest's realm.
import { createTransformersEmbedder } from "../../../src/worker/embedder/transformers.ts";

const [workroot = "", path = "", ...texts] = process.argv.slice(2);
const embedder = await createTransformersEmbedder(
  {
    model_id: "tiny",
    local_model_path: path,
    cache_dir: null,
    dtype: "fp32",
    device: "cpu",
    pooling: "mean",
    normalize: true,
    max_length: 16,
  },
  { workroot },
);
const vectors = await embedder.embed(texts, new AbortController().signal);
const { id, dims, signature } = embedder;
process.stdout.write(JSON.stringify({ id, dims, signature, vectors: vectors.map((v) => [...v]) }));
