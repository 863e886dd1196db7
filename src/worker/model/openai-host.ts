import type { Host } from "./host-failure.ts";

/** A model of an OpenAI-compatible host, in whose words its faults are told. */
export const openAiHost = (name: string, baseUrl: string): Host => ({
  name,
  baseUrl,
  server: "OpenAI-compatible server",
  toStart: "Start it, or set model.base_url to its scheme://host:port, without /v1.",
  toInstall: "Load it there, or set model.name to one that GET /v1/models lists.",
});
