import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { withoutAlias } from "../../shared/job/route-models.ts";
import { probeHost, unlessLocked, unlessMissing } from "./ask-route.ts";
import { modelMissing } from "./host-failure.ts";
import type { ModelHost, ModelPlace } from "./host-failure.ts";
import { countAt, HostError, textAt, wireAt, textsAt, wiresAt } from "./host-request.ts";
import type { Wire } from "./host-request.ts";
import type { Model } from "./model.ts";
import { ollamaClient } from "./ollama-client.ts";

/** The facts that an Ollama host reports about a model; null for each that it does not report. */
export type OllamaProbe = {
  /** SHA-256 of the manifest, 64 hex. */
  readonly digest: string | null;
  readonly quantization: string | null;
  readonly serverVersion: string | null;
  /** Tokens that the model was trained for. */
  readonly trainedTokens: number | null;
  /** For example completion, tools, thinking, embedding. */
  readonly capabilities: readonly string[] | null;
  /** For example llama or gptoss. */
  readonly family: string | null;
};

/**
 * Asks an Ollama host what it knows of a model: `/api/show` (without capabilities before v0.6.4), `/api/tags`
 * for the digest, `/api/version`. Loads nothing.
 *
 * Throws Failure MODEL_NOT_FOUND for a model that is not installed, MODEL_UNREACHABLE if no Ollama answers,
 * MODEL_OVERLOADED if it is busy.
 */
export function probeOllama(place: ModelPlace, signal: AbortSignal): Promise<OllamaProbe> {
  const host = ollamaHost(place);
  return probeHost(host, signal, (until) => askAll(host, until));
}

async function askAll(host: ModelHost, signal: AbortSignal): Promise<OllamaProbe> {
  const { name, baseUrl, access } = host;
  const client = ollamaClient(baseUrl, signal, access);
  // Servers of 2023 read `name`, later ones `model`.
  const asked = { model: name, name };
  const [show, tags, version] = await Promise.all([
    unlessMissing(() => client.show(asked)),
    unlessLocked(unlessMissing(() => client.list())),
    unlessLocked(unlessMissing(() => client.version())),
  ]);
  if (show === null && tags === null && version === null) {
    throw new HostError(404, "it has none of Ollama's routes");
  }
  const installed = findInstalled(tags, name);
  if (show === null && tags !== null && installed === undefined)
    throw modelMissing(host, textsAt(tags, "models", "name"));
  return {
    ...shownFacts(show),
    ...installedFacts(installed),
    serverVersion: textAt(version, "version"),
  };
}

function shownFacts(show: Wire | null): Omit<OllamaProbe, "digest" | "serverVersion"> {
  const details = wireAt(show, "details");
  const info = wireAt(show, "model_info");
  const architecture = textAt(info, "general.architecture");
  const trained = countAt(info, `${architecture ?? ""}.context_length`);
  const capabilities = show?.["capabilities"];
  return {
    quantization: textAt(details, "quantization_level"),
    trainedTokens: trained > 0 ? trained : null,
    capabilities: Array.isArray(capabilities)
      ? capabilities.filter((capability) => typeof capability === "string")
      : null,
    family: textAt(details, "family") ?? architecture,
  };
}

const findInstalled = (tags: Wire | null, name: string): Wire | undefined =>
  wiresAt(tags, "models").find((model) => {
    const found = textAt(model, "name") ?? textAt(model, "model");
    return found !== null && fullName(found) === fullName(name);
  });

/** Read from `/api/tags`, because `/api/show` has no digest. */
function installedFacts(installed: Wire | undefined): Pick<OllamaProbe, "digest"> {
  const digest =
    textAt(installed, "digest")
      ?.toLowerCase()
      .replace(/^sha256:/, "") ?? "";
  return { digest: /^[0-9a-f]{64}$/.test(digest) ? digest : null };
}

/** A model of an Ollama host, with the parts of messages about its faults. */
export const ollamaHost = (place: ModelPlace): ModelHost => ({
  ...place,
  server: "Ollama",
  toStart: `Start it with "ollama serve", or set ${place.entry === undefined ? "model.base_url" : "its url in hosts"}.`,
  toInstall: `Run: ollama pull ${place.name}`,
});

/**
 * The full name of a model, `[host/][namespace/]model:tag`: lower case, with the default tag if it has none, and without
 * the default registry and namespace.
 */
export function fullName(name: string): string {
  const bare = name
    .toLowerCase()
    .replace(/^registry\.ollama\.ai\//, "")
    .replace(/^library\//, "");
  return bare.includes(":", bare.lastIndexOf("/") + 1) ? bare : `${bare}:latest`;
}

/**
 * Returns the model if its weights are those of model.digest. Throws Failure MODEL_NOT_FOUND for other weights, and for a
 * host that does not report a digest.
 *
 * @param pinned SHA-256, 64 hex digits in lower case
 */
export function checkDigest(model: Model, pinned: string): Model {
  const { digest } = model.facts;
  if (digest === pinned) return model;
  const found = digest === null ? "reports none for it" : `has ${digest}`;
  throw new Failure(
    "MODEL_NOT_FOUND",
    `model.digest asks for "${model.name}" with the digest ${pinned}, and the host ${found}. ` +
      `Install that build, or change model.digest.`,
  );
}

type NameConfig = { readonly model: Pick<Config["model"], "aliases" | "name"> };

/** Whether this is model.name, which model.digest pins, under any alias or spelling. */
export const isPinned = (name: string, { model }: NameConfig): boolean =>
  model.name !== null &&
  fullName(withoutAlias(model.name, model)) === fullName(withoutAlias(name, model));
