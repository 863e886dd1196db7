import type { ServerResponse } from "node:http";
import { startHttpDouble } from "./http-double.ts";
import type { HttpDouble, RequestRecord, Route } from "./http-double.ts";
import { sendJson } from "./ollama/chat-route.ts";
import type { DoubleModel } from "./ollama/double-model.ts";
import type { HttpError } from "./ollama/http-error.ts";
import { answerCompletion } from "./openai/chat-completions.ts";
import type { Flavour } from "./openai/chat-completions.ts";
import { createSlots } from "./openai/slots.ts";

export type OpenAiDoubleOptions = {
  readonly models: readonly DoubleModel[];
  readonly flavour?: Flavour;
  /** Tokens of the window that every model is served with. */
  readonly windowTokens?: number;
  readonly numParallel?: number;
  /** first_call: LM Studio loads its models only then, and tells their window from then on. */
  readonly loadedBy?: "start" | "first_call";
  /** Requests that may wait for a slot; the next one gets 503. */
  readonly maxQueue?: number;
};

export type OpenAiDouble = HttpDouble & {
  /** The requests of /v1/chat/completions so far, oldest first. */
  chats(): readonly RequestRecord[];
};

/** An HTTP double of a server that speaks OpenAI's protocol, in one of four flavours. */
export async function startOpenAiDouble(options: OpenAiDoubleOptions): Promise<OpenAiDouble> {
  const { flavour = "llama.cpp" } = options;
  const double = await startHttpDouble({
    routes: routesOf(options),
    notFound: (response, why) => {
      if (flavour === "lm-studio") {
        sendJson(response, 200, { error: "Unexpected endpoint or method." });
      } else sendJson(response, why, { detail: "Not Found" });
    },
    refuse: (response, error) => {
      refuse(response, error, flavour);
    },
  });
  return {
    ...double,
    chats: () => double.requests.filter(({ path }) => path === "/v1/chat/completions"),
  };
}

function refuse(response: ServerResponse, { status, message }: HttpError, flavour: Flavour): void {
  if (response.headersSent) return;
  if (flavour === "vllm") {
    sendJson(response, status, { object: "error", message, type: "BadRequestError", code: status });
  } else if (flavour === "lm-studio") sendJson(response, status, { error: message });
  else sendJson(response, status, { error: { code: status, message, type: "server_error" } });
}

function routesOf(options: OpenAiDoubleOptions): Record<string, Record<string, Route>> {
  const { flavour = "llama.cpp", windowTokens = 4096, models } = options;
  const slots = createSlots(options.numParallel ?? 1, options.maxQueue ?? 512);
  let loaded = options.loadedBy !== "first_call";
  const chat: Route = (context, response) => {
    loaded = true;
    return answerCompletion({ ...context, models, flavour, windowTokens, slots }, response);
  };
  const says =
    (body: object): Route =>
    (_, response) => {
      sendJson(response, 200, body);
    };
  return {
    "/v1/chat/completions": { POST: chat },
    "/v1/models": { GET: says(modelList(options)) },
    ...ownRoutes(options, says, () => loaded),
  };
}

function modelList({ models, flavour, windowTokens = 4096 }: OpenAiDoubleOptions): object {
  const data = models.map(({ name, contextLength = 8192 }) => ({
    id: name,
    object: "model",
    ...(flavour === "vllm" ? { owned_by: "vllm", max_model_len: windowTokens } : {}),
    ...(flavour === undefined || flavour === "llama.cpp"
      ? { owned_by: "llamacpp", meta: { n_ctx_train: contextLength } }
      : {}),
  }));
  return { object: "list", data };
}

function ownRoutes(
  { models, flavour = "llama.cpp", windowTokens = 4096 }: OpenAiDoubleOptions,
  says: (body: object) => Route,
  isLoaded: () => boolean,
): Record<string, Record<string, Route>> {
  const callsTools = models.some(({ capabilities }) => capabilities?.includes("tools") === true);
  switch (flavour) {
    case "llama.cpp": {
      const props = {
        default_generation_settings: { n_ctx: windowTokens },
        chat_template_caps: { supports_tools: callsTools, supports_tool_calls: callsTools },
        build_info: "b9652-6eab471",
      };
      return { "/props": { GET: says(props) } };
    }
    case "vllm":
      return { "/version": { GET: says({ version: "0.11.0" }) } };
    case "lm-studio":
      return {
        "/api/v0/models": {
          GET: (_, response) => {
            sendJson(response, 200, {
              data: models.map(studioModel(isLoaded() ? windowTokens : null)),
            });
          },
        },
      };
    case "bare":
      return {};
  }
}

const studioModel =
  (windowTokens: number | null) =>
  ({ name, capabilities, quantization = "Q4_K_M", contextLength = 8192 }: DoubleModel): object => ({
    id: name,
    type: capabilities?.includes("completion") === false ? "embeddings" : "llm",
    quantization,
    state: windowTokens === null ? "not-loaded" : "loaded",
    max_context_length: contextLength,
    ...(windowTokens === null ? {} : { loaded_context_length: windowTokens }),
    capabilities: capabilities?.includes("tools") === true ? ["tool_use"] : [],
  });
