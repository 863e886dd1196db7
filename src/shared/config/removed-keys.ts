/**
 * The replacement of each removed key, or of a removed value, which is written like a line of YAML. Without its entry the key
 * would be reported as unknown. The table goes with 0.1.0.
 */
const REMOVED: Readonly<Record<string, string>> = {
  "embed.provider: llama-cpp":
    "embed.provider: openai-compatible, with llama-server on the same GGUF file",
  "model.llama_cpp": "the options of llama-server",
  "model.provider: llama-cpp":
    "model.provider: openai-compatible, with llama-server on the same GGUF file; or ollama",
};

/**
 * @param key dotted, or a line like `model.provider: llama-cpp`
 * @returns undefined for a key that never existed
 */
export const replacementOf = (key: string): string | undefined =>
  Object.hasOwn(REMOVED, key) ? REMOVED[key] : undefined;
