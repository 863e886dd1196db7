import { Failure } from "../failure.ts";
import { parseBaseUrl } from "./base-url.ts";
import type { Config } from "./schema.ts";
import { quote } from "./problem.ts";

const DEFAULT_BASE_URL = "http://127.0.0.1:11434";

/**
 * The model host, checked when it is needed and not before: the extractive model and `doctor --no-ollama` work
 * with a host that is not valid. The first that is not blank decides: `--ollama-base-url`,
 * NIGHTDESK_OLLAMA_BASE_URL, OLLAMA_BASE_URL, model.base_url, http://127.0.0.1:11434.
 *
 * @returns `scheme://host[:port]`, lower case, without a final slash
 * @throws Failure CONFIG_ERROR where it is anything but that
 */
export const modelBaseUrl = (config: Pick<Config, "model" | "origins">): string =>
  check("model.base_url", config.model.base_url, config.origins) ?? DEFAULT_BASE_URL;

/** The embedder's host: `--ollama-base-url`, then embed.base_url, then the model's. Throws like modelBaseUrl. */
export const embedBaseUrl = (config: Pick<Config, "embed" | "model" | "origins">): string =>
  check("embed.base_url", config.embed.base_url, config.origins) ?? modelBaseUrl(config);

function check(key: string, value: string | null, origins: Config["origins"]): string | null {
  if (value === null || value.trim() === "") return null;
  const parsed = parseBaseUrl(value);
  if (parsed.kind === "valid") return parsed.url;
  // A lone user name may be a token.
  const found = value.includes("@") ? "a text that is not shown" : quote(value);
  throw new Failure(
    "CONFIG_ERROR",
    `${origins.get(key) ?? "default"}: ${key} is ${found}, and ${parsed.reason}; expected http://host:port or ` +
      `https://host:port, like "${DEFAULT_BASE_URL}"`,
  );
}
