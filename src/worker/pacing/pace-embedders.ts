import type { Embedder } from "../embedder/embedder.ts";
import { endingOf } from "../pipeline/ask-in-turn.ts";
import type { Pace } from "../pipeline/pace.ts";
import type { WorkerResources } from "../runtime/worker-resources.ts";

type EmbedderPace = {
  readonly pace: Pace;
  /** Told before each call how many texts it is about. */
  readonly mayTake: (texts: number) => void;
};

/** The resources of a run whose embedders take turns at their host with the calls of all workers. */
export const paceEmbedders = (
  resources: WorkerResources,
  parts: EmbedderPace,
): WorkerResources => ({
  ...resources,
  embedder: async () => paceEmbedder(await resources.embedder(), parts),
  embedderOf: async (model) => paceEmbedder(await resources.embedderOf(model), parts),
});

const UNCOUNTED = { promptTokens: 0, replyTokens: 0 };

const paceEmbedder = (embedder: Embedder, { pace, mayTake }: EmbedderPace): Embedder => ({
  ...embedder,
  async embed(texts, signal, onCut) {
    const turn = await pace.takeTurn(UNCOUNTED, signal);
    mayTake(texts.length);
    const startedAt = performance.now();
    let vectors: Float32Array[];
    try {
      vectors = await embedder.embed(texts, signal, onCut);
    } catch (error) {
      await turn.end(endingOf(error, UNCOUNTED, performance.now() - startedAt));
      throw error;
    }
    const durationMs = performance.now() - startedAt;
    await turn.end({ kind: "answered", promptTokens: 0, completionTokens: 0, durationMs });
    return vectors;
  },
});
