import { askRoute } from "./ask-route.ts";
import type { ModelPlace } from "./host-failure.ts";
import { HostError, wireAt } from "./host-request.ts";
import type { Wire } from "./host-request.ts";
import type { Message, Tool } from "./model.ts";
import { toolsOnWire } from "./streamed-reply.ts";

/**
 * How a host counts the tokens of a prompt.
 *
 *   chat      `/v1/chat/completions/input_tokens` of llama.cpp: includes the template and the tools
 *   tokenize  `/tokenize` of vLLM, which takes messages as well
 *   none      the host has neither route
 */
export type Counting = "chat" | "tokenize" | "none";

export type CountedPrompt = {
  readonly messages: readonly Pick<Message, "role" | "content">[];
  readonly tools?: readonly Tool[] | undefined;
};

const ROUTES = {
  chat: { path: "/v1/chat/completions/input_tokens", key: "input_tokens" },
  tokenize: { path: "/tokenize", key: "count" },
} as const;

/** Finds out how a host counts, with a prompt of one word. It generates nothing. */
export async function findCounting(place: ModelPlace, signal: AbortSignal): Promise<Counting> {
  const prompt = { messages: [{ role: "user", content: "Hello" }] } as const;
  for (const counting of ["chat", "tokenize"] as const) {
    if ((await countTokens(place, counting, prompt, signal)) !== null) return counting;
  }
  return "none";
}

/**
 * The tokens that a prompt takes on its host; null if the host does not count.
 * @throws what askHost throws for a host that is down or busy
 */
export async function countTokens(
  place: ModelPlace,
  counting: Counting,
  { messages, tools }: CountedPrompt,
  signal: AbortSignal,
): Promise<number | null> {
  if (counting === "none") return null;
  const { path, key } = ROUTES[counting];
  const body = {
    model: place.name,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...toolsOnWire(tools),
  };
  return numberAt(await requestCount(place, path, body, signal), key);
}

const requestCount = (
  { baseUrl, access }: ModelPlace,
  path: string,
  body: Wire,
  signal: AbortSignal,
): Promise<Wire | null> =>
  askRoute(`${baseUrl}${path}`, body, signal, access).catch((error: unknown) => {
    // A host that has the route and can't count this prompt answers with such a status: the count stays unknown.
    if (error instanceof HostError && (error.status === 500 || error.status === 501)) return null;
    throw error;
  });

function numberAt(wire: Wire | null, key: string): number | null {
  const value = wire?.[key] ?? wireAt(wire, "usage")?.[key];
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}
