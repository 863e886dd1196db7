import type { Host } from "./host-failure.ts";

/** A model of an Ollama host, in whose words its faults are told. */
export const ollamaHost = (name: string, baseUrl: string): Host => ({
  name,
  baseUrl,
  server: "Ollama",
  toStart: `Start it with "ollama serve", or set model.base_url.`,
  toInstall: `Run: ollama pull ${name}`,
});

/**
 * The full name of a model, `[host/][namespace/]model:tag`: lower case, with the tag that a missing one means,
 * and without the registry and namespace that missing ones mean.
 */
export function fullName(name: string): string {
  const bare = name
    .toLowerCase()
    .replace(/^registry\.ollama\.ai\//, "")
    .replace(/^library\//, "");
  return bare.includes(":", bare.lastIndexOf("/") + 1) ? bare : `${bare}:latest`;
}
