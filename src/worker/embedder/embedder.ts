/** Something that turns texts into vectors. Vectors of two embedders are compared only if their signatures agree. */
export type Embedder = {
  /** The model that vectors are stored under. */
  readonly id: string;
  readonly dims: number;
  /** 32 hex digits of everything that decides the numbers: model, files, preprocessing, normalisation. */
  readonly signature: string;
  /** What a vector rank counts beside a lexical rank (1) when nothing is configured. */
  readonly defaultWeight: number;
  /** What its vectors are near in; nothing for meaning. */
  readonly nearIn?: "spelling";
  /**
   * One vector a text, in order, of unit length; all zeros for a text without a word.
   * @param onCut called once a text that the model's window does not hold: its vector stands for the beginning that
   *   fits. Ollama only: `transformers` cuts at embed.max_length, and does not say so
   * @throws Failure MODEL_UNREACHABLE, MODEL_TIMEOUT, MODEL_NOT_FOUND, MODEL_OUTPUT_INVALID, TOOL_ERROR,
   *   EMBED_MODEL_MISSING, EMBED_DRIFT; the signal's reason
   */
  embed(texts: readonly string[], signal: AbortSignal, onCut?: () => void): Promise<Float32Array[]>;
};
