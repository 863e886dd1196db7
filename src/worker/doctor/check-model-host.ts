import { z } from "zod";
import { modelBaseUrl } from "../../shared/config/model-base-url.ts";
import type { Config } from "../../shared/config/schema.ts";
import { fail, ok, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

const TIMEOUT_MS = 5_000;
const tagsSchema = z.object({ models: z.array(z.object({ name: z.string() })).nullish() });

/** Asks the model host for its models, and looks whether the configured ones are there. */
export async function checkModelHost(config: Config): Promise<readonly Check[]> {
  if (config.model.provider === "extractive") {
    return [ok("DOCTOR_OLLAMA_OK", "The extractive model needs no host.")];
  }
  let url: string;
  try {
    url = modelBaseUrl(config);
  } catch (error) {
    return [fail("DOCTOR_OLLAMA_URL_INVALID", wordsOf(error), "Give scheme://host[:port].")];
  }
  const names = await listModels(url).catch((error: unknown) => wordsOf(error));
  if (typeof names === "string") {
    return [
      fail(
        "DOCTOR_OLLAMA_UNREACHABLE",
        `${url} does not answer (${names}).`,
        "Start Ollama there, or change model.base_url; --no-ollama skips this check.",
      ),
    ];
  }
  return [
    ok("DOCTOR_OLLAMA_OK", `${url} answers.`),
    ...wantedModels(config).map((name) => checkModel(name, names)),
  ];
}

async function listModels(url: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/tags`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (tagsSchema.parse(await response.json()).models ?? []).map(({ name }) => name);
}

const wantedModels = ({ model, embed }: Config): readonly string[] => [
  ...new Set(
    [model.name, model.fast, model.big, embed.provider === "ollama" ? embed.model_id : null].filter(
      (name) => name !== null,
    ),
  ),
];

/** Names match without regard to case, and without a tag they mean `latest`. */
function checkModel(wanted: string, names: readonly string[]): Check {
  const full = (name: string) => (name.includes(":") ? name : `${name}:latest`).toLowerCase();
  return names.some((name) => full(name) === full(wanted))
    ? ok("DOCTOR_MODEL_OK", `Model ${wanted} is installed.`)
    : fail(
        "DOCTOR_MODEL_MISSING",
        `Model ${wanted} is not installed on the host.`,
        `Run: ollama pull ${wanted}`,
      );
}
