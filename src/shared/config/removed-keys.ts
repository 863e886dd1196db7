/**
 * What replaces a key that configurations had before, or a value of a key, which is written like a line of YAML. Without it such a
 * key would be an unknown one. The table goes with 0.1.0.
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
 * @returns undefined for what was never there
 */
export const replacementOf = (key: string): string | undefined =>
  Object.hasOwn(REMOVED, key) ? REMOVED[key] : undefined;
