import { askOptionalRoute, askRoute, probeHost } from "./ask-route.ts";
import { modelMissing } from "./host-failure.ts";
import type { ModelHost, ModelPlace } from "./host-failure.ts";
import { countAt, HostError, textAt, wireAt, textsAt, wiresAt } from "./host-request.ts";
import type { Wire } from "./host-request.ts";

/** The facts that an OpenAI-compatible host reports about a model by its own routes; null for each that it does not report. */
export type OpenAiProbe = {
  readonly server: "llama.cpp" | "vLLM" | "LM Studio" | null;
  readonly serverVersion: string | null;
  readonly quantization: string | null;
  /** Tokens of the window that the model is served with. */
  readonly servedTokens: number | null;
  /** The most tokens that the window can have. */
  readonly trainedTokens: number | null;
  readonly tools: "yes" | "unknown";
  readonly readsPictures: boolean | null;
  /** An embedding model writes no text. */
  readonly kind: "chat" | "embedding";
};

/**
 * Asks a host whether it has a model (`/v1/models`), and for further facts: llama.cpp by `/props`, vLLM by
 * `max_model_len` and `/version`, LM Studio by `/api/v0/models`. Loads nothing.
 *
 * Throws Failure MODEL_NOT_FOUND for a model that is not listed, MODEL_UNREACHABLE if no such server answers,
 * MODEL_OVERLOADED if it is busy or still loading.
 */
export function probeOpenAi(place: ModelPlace, signal: AbortSignal): Promise<OpenAiProbe> {
  const host = openAiHost(place);
  return probeHost(host, signal, (until) => askAll(host, until));
}

async function askAll(host: ModelHost, signal: AbortSignal): Promise<OpenAiProbe> {
  const { name, baseUrl, access } = host;
  const [models, props, studio, version] = await Promise.all([
    askRoute(`${baseUrl}/v1/models`, null, signal, access),
    askOptionalRoute(`${baseUrl}/props`, signal, access),
    askOptionalRoute(`${baseUrl}/api/v0/models`, signal, access),
    askOptionalRoute(`${baseUrl}/version`, signal, access),
  ]);
  if (models === null && props === null && studio === null) {
    throw new HostError(404, "it has none of the routes");
  }
  const listed = findListedModel(models, name);
  if (Array.isArray(models?.["data"]) && listed === undefined)
    throw modelMissing(host, textsAt(models, "data", "id"));
  const served = findListedModel(studio, name);
  if (served !== undefined) return studioFacts(served);
  if (wireAt(props, "default_generation_settings") !== null) return llamaFacts(props, listed);
  return countAt(listed, "max_model_len") > 0 ? vllmFacts(listed, version) : UNKNOWN;
}

/** llama.cpp lists a model once, by its first name, with all of its names in `aliases`. */
export const findListedModel = (models: Wire | null, name: string): Wire | undefined =>
  wiresAt(models, "data").find((model) => {
    const aliases = model["aliases"];
    return textAt(model, "id") === name || (Array.isArray(aliases) && aliases.includes(name));
  });

const UNKNOWN: OpenAiProbe = {
  server: null,
  serverVersion: null,
  quantization: null,
  servedTokens: null,
  trainedTokens: null,
  tools: "unknown",
  readsPictures: null,
  kind: "chat",
};

function llamaFacts(props: Wire | null, listed: Wire | undefined): OpenAiProbe {
  const caps = wireAt(props, "chat_template_caps");
  const callsTools = caps?.["supports_tool_calls"] === true || caps?.["supports_tools"] === true;
  const settings = wireAt(props, "default_generation_settings");
  const pictures = wireAt(props, "modalities")?.["vision"];
  return {
    ...UNKNOWN,
    server: "llama.cpp",
    serverVersion: serverName("llama.cpp", textAt(props, "build_info")),
    quantization: textAt(props, "model_ftype"),
    servedTokens: countAt(settings, "n_ctx") || null,
    trainedTokens: countAt(wireAt(listed, "meta"), "n_ctx_train") || null,
    tools: callsTools ? "yes" : "unknown",
    readsPictures: typeof pictures === "boolean" ? pictures : null,
  };
}

const vllmFacts = (listed: Wire | undefined, version: Wire | null): OpenAiProbe => ({
  ...UNKNOWN,
  server: "vLLM",
  serverVersion: serverName("vLLM", textAt(version, "version")),
  servedTokens: countAt(listed, "max_model_len") || null,
});

function studioFacts(model: Wire): OpenAiProbe {
  const capabilities = model["capabilities"];
  const callsTools = Array.isArray(capabilities) && capabilities.includes("tool_use");
  const type = textAt(model, "type");
  return {
    ...UNKNOWN,
    server: "LM Studio",
    serverVersion: "LM Studio",
    quantization: textAt(model, "quantization"),
    servedTokens: countAt(model, "loaded_context_length") || null,
    trainedTokens: countAt(model, "max_context_length") || null,
    tools: callsTools ? "yes" : "unknown",
    readsPictures: type === null ? null : type === "vlm",
    kind: type === "embeddings" ? "embedding" : "chat",
  };
}

const serverName = (server: string, version: string | null): string =>
  version === null ? server : `${server} ${version}`;

/** A model of an OpenAI-compatible host, with the parts of messages about its faults. */
export const openAiHost = (place: ModelPlace): ModelHost => ({
  ...place,
  server: "OpenAI-compatible server",
  toStart: `Start it, or set ${place.entry === undefined ? "model.base_url" : "its url in hosts"} to its scheme://host:port, with what stands before /v1 and without it.`,
  toInstall: `Load it there, or ${place.setting === undefined ? "name" : `set ${place.setting} to`} one that GET /v1/models lists.`,
});
