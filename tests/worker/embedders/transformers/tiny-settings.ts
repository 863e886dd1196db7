import type { TransformersSettings } from "../../../../src/worker/embedders/transformers/transformers.ts";

/** For the model that writeTinyModel writes to `tiny/` in the work root. */
export const TINY_SETTINGS: TransformersSettings = {
  model_id: "tiny",
  batch_size: 8,
  local_model_path: "tiny",
  cache_dir: null,
  dtype: "fp32",
  device: "cpu",
  pooling: "mean",
  max_length: 16,
  timeout_s: 60,
  recycle_texts: 1_000,
  recycle_mb: 10_000,
};
