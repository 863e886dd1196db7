import type { ServerResponse } from "node:http";
import { startHttpDouble } from "./http-double.ts";
import type { HttpDouble, RequestRecord, Route } from "./http-double.ts";
import { sendJson } from "./ollama/chat-route.ts";
import type { DoubleModel } from "./ollama/double-model.ts";
import { HttpError } from "./ollama/http-error.ts";
import { countTokens, tokensOf } from "./ollama/window.ts";
import { answerCompletion, messagesOf } from "./openai/chat-completions.ts";
import type { Flavour } from "./openai/chat-completions.ts";
import { createSlots } from "./openai/slots.ts";

export type OpenAiDoubleOptions = {
  readonly models: readonly DoubleModel[];
  readonly flavour?: Flavour;
  /** Tokens of the window that every model is served with. */
  readonly windowTokens?: number;
  readonly numParallel?: number;
  /** shared: all slots of llama.cpp share one window, as without `-np`. */
  readonly pool?: "apart" | "shared";
  /** More names of each model of llama.cpp (`--alias`). */
  readonly aliases?: readonly string[];
  /** Whether llama.cpp is new enough to count the tokens of a prompt; it is unless told. */
  readonly counts?: boolean;
  /** Whether llama.cpp was started with `--embeddings`. */
  readonly embeds?: boolean;
  /** Of the weights, as llama.cpp lists it: what tells one build from another. */
  readonly weightBytes?: number;
  /** first_call: LM Studio loads its models only then, and tells their window from then on. */
  readonly loadedBy?: "start" | "first_call";
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

function refuse(response: ServerResponse, error: HttpError, flavour: Flavour): void {
  const { status, message, details } = error;
  if (response.headersSent) return;
  if (flavour === "vllm") {
    sendJson(response, status, { object: "error", message, type: "BadRequestError", code: status });
  } else if (flavour === "lm-studio") sendJson(response, status, { error: message });
  else {
    const type = LLAMA_TYPES[status] ?? "server_error";
    sendJson(response, status, { error: { code: status, message, type, ...details } });
  }
}

const LLAMA_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  501: "not_supported_error",
  503: "unavailable_error",
};

function routesOf(options: OpenAiDoubleOptions): Record<string, Record<string, Route>> {
  const { flavour = "llama.cpp", windowTokens = 4096, models } = options;
  const slots = createSlots(options.numParallel ?? 1);
  const tokens = options.pool === "shared" ? windowTokens : Number.POSITIVE_INFINITY;
  const pool = { tokens, used: 0 };
  let loaded = options.loadedBy !== "first_call";
  const chat: Route = (context, response) => {
    loaded = true;
    return answerCompletion({ ...context, models, flavour, windowTokens, slots, pool }, response);
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

function modelList(options: OpenAiDoubleOptions): object {
  const { models, flavour, windowTokens = 4096, aliases = [] } = options;
  const data = models.map(({ name, contextLength = 8192 }) => ({
    id: name,
    object: "model",
    ...(flavour === "vllm" ? { owned_by: "vllm", max_model_len: windowTokens } : {}),
    ...(flavour === undefined || flavour === "llama.cpp"
      ? {
          aliases: [name, ...aliases],
          owned_by: "llamacpp",
          meta: {
            n_ctx: windowTokens,
            n_ctx_train: contextLength,
            n_embd: EMBEDDING_WIDTH,
            size: options.weightBytes ?? 1_000_000,
          },
        }
      : {}),
  }));
  return { object: "list", data };
}

function ownRoutes(
  options: OpenAiDoubleOptions,
  says: (body: object) => Route,
  isLoaded: () => boolean,
): Record<string, Record<string, Route>> {
  const { models, flavour = "llama.cpp", windowTokens = 4096 } = options;
  const callsTools = models.some(({ capabilities }) => capabilities?.includes("tools") === true);
  switch (flavour) {
    case "llama.cpp": {
      const props = {
        default_generation_settings: { n_ctx: windowTokens },
        total_slots: options.numParallel ?? 1,
        model_ftype: models[0]?.quantization ?? "Q4_K_M",
        chat_template_caps: { supports_tools: callsTools, supports_tool_calls: callsTools },
        build_info: "b9652-6eab471",
      };
      return {
        "/props": { GET: says(props) },
        ...(options.counts === false ? {} : countingRoutes),
        ...embeddingRoutes(options),
      };
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

/** llama.cpp's own routes for counting. */
const countingRoutes: Record<string, Record<string, Route>> = {
  "/tokenize": {
    POST: ({ body }, response) => {
      const tokens = tokensOf(String(body["content"])).map((_, index) => index);
      sendJson(response, 200, { tokens });
    },
  },
  "/v1/chat/completions/input_tokens": {
    POST: ({ body }, response) => {
      sendJson(response, 200, {
        input_tokens: countTokens(messagesOf(body)),
        object: "response.input_tokens",
      });
    },
  },
};

const EMBEDDING_WIDTH = 64;
/** An input may have as many tokens as a batch (`-ub`). */
const EMBEDDING_TOKENS = 512;

const embeddingRoutes = ({
  embeds = false,
}: OpenAiDoubleOptions): Record<string, Record<string, Route>> => ({
  "/v1/embeddings": {
    POST: ({ body }, response) => {
      if (!embeds) {
        const how = "This server does not support embeddings. Start it with `--embeddings`";
        throw new HttpError(501, how);
      }
      const inputs = [body["input"]].flat().map(String);
      const data = inputs.map((input, index) => ({
        object: "embedding",
        index,
        embedding: vectorOf(input),
      }));
      sendJson(response, 200, { object: "list", data });
    },
  },
});

/** Of length 1, from the letters. */
function vectorOf(input: string): readonly number[] {
  const tokens = tokensOf(input).length;
  if (tokens > EMBEDDING_TOKENS) {
    const why = `input (${tokens} tokens) is too large to process. increase the physical batch size (current batch size: ${EMBEDDING_TOKENS})`;
    throw new HttpError(500, why);
  }
  const values = Array.from({ length: EMBEDDING_WIDTH }, (_, index) =>
    Math.sin(1 + index + input.length + (input.charCodeAt(index % input.length) || 0)),
  );
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}
