import { posix } from "node:path";
import type { EmbedRequest, LoadRequest, Reply, Request } from "./model-files.ts";

// The process that holds a model: started by model-process.ts with a channel, told by messages, silent otherwise. The
// native runtime gives no memory back, so the process goes when it has grown.

/** The part of @huggingface/transformers that is used. The package is optional, so its types may be absent. */
type Library = {
  readonly env: { allowRemoteModels: boolean; allowLocalModels: boolean; localModelPath: string };
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
type Loaded = { readonly extractor: Extractor; readonly pooling: string };

let loaded: Loaded | undefined;

async function load({ folder, dtype, device, pooling, maxLength }: LoadRequest): Promise<Reply> {
  let library: Library;
  // A variable, so that the build passes where the optional package is not installed.
  const specifier = "@huggingface/transformers";
  try {
    library = (await import(specifier)) as Library;
  } catch (error) {
    return { kind: "failed", why: "no_package", message: messageOf(error) };
  }
  try {
    library.env.allowRemoteModels = false;
    library.env.allowLocalModels = true;
    library.env.localModelPath = posix.dirname(folder);
    const options = { local_files_only: true, dtype, device } as const;
    const extractor = await library.pipeline("feature-extraction", posix.basename(folder), options);
    // The pipeline cuts at this length and takes no other; the library defines it as a getter of the class.
    Object.defineProperty(extractor.tokenizer, "model_max_length", { value: maxLength });
    loaded = { extractor, pooling };
    return { kind: "ready" };
  } catch (error) {
    return { kind: "failed", why: "no_model", message: messageOf(error) };
  }
}

async function embed({ texts }: EmbedRequest): Promise<Reply> {
  if (loaded === undefined) return { kind: "failed", why: "no_vectors", message: "not loaded" };
  try {
    const { data } = await loaded.extractor(texts, { pooling: loaded.pooling, normalize: false });
    const rssBytes = process.memoryUsage.rss();
    return { kind: "vectors", values: Float32Array.from(data), rows: texts.length, rssBytes };
  } catch (error) {
    // Its words may repeat the text that it stumbled over.
    return { kind: "failed", why: "no_vectors", message: error instanceof Error ? error.name : "" };
  }
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";

// Ctrl-C reaches the whole group, and the worker still wants what it has asked for. It ends this process itself.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
process.on("disconnect", () => {
  process.exit(0);
});
process.on("message", (request: Request) => {
  const answering = request.kind === "load" ? load(request) : embed(request);
  void answering.then((reply) => process.send?.(reply));
});
