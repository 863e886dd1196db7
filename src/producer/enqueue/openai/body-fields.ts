type Body = Readonly<Record<string, unknown>>;
type Rule = "harmless" | { readonly unless: (value: unknown) => boolean; readonly reason: string };

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
const never = (): boolean => false;

const TOOLS = "offers tools, and a chat job has none";
const PENALTY = "is not honoured by every local host";

/** Fields beside those that a job takes over. One that would change the answer is allowed only where it changes nothing. */
const CHAT_RULES: Readonly<Record<string, Rule>> = {
  user: "harmless",
  metadata: "harmless",
  store: "harmless",
  service_tier: "harmless",
  safety_identifier: "harmless",
  prompt_cache_key: "harmless",
  prompt_cache_retention: "harmless",
  prediction: "harmless",
  parallel_tool_calls: "harmless",
  stream_options: "harmless",
  n: { unless: (value) => value === 1, reason: "must be 1: a job gives one answer" },
  stream: { unless: (value) => value === false, reason: "must be false: a batch has no stream" },
  logprobs: { unless: (value) => value === false, reason: "must be false: none are kept" },
  top_logprobs: { unless: (value) => value === 0, reason: "must be 0: none are kept" },
  tools: { unless: isEmpty, reason: TOOLS },
  functions: { unless: isEmpty, reason: TOOLS },
  tool_choice: { unless: (value) => value === "none" || value === "auto", reason: TOOLS },
  function_call: { unless: (value) => value === "none" || value === "auto", reason: TOOLS },
  presence_penalty: { unless: (value) => value === 0, reason: PENALTY },
  frequency_penalty: { unless: (value) => value === 0, reason: PENALTY },
  logit_bias: { unless: isEmpty, reason: PENALTY },
  modalities: { unless: (value) => String(value) === "text", reason: "must be text alone" },
  audio: { unless: never, reason: "asks for sound, and a job gives text" },
  reasoning_effort: { unless: never, reason: "can't be passed on: models answer without thinking" },
  verbosity: { unless: never, reason: "can't be passed on; say it in a message" },
  web_search_options: { unless: never, reason: "asks for a search, and a chat job has no tools" },
};
const EMBEDDINGS_RULES: Readonly<Record<string, Rule>> = { user: "harmless" };

/**
 * Judges the fields of a body that a job does not take over; null counts as left out.
 * @param taken fields that the caller reads
 * @returns what is wrong with the first that would change the answer, by its name, or undefined
 */
export function findUnsupportedField(
  body: Body,
  kind: "chat" | "embeddings",
  taken: readonly string[],
): string | undefined {
  const rules = kind === "chat" ? CHAT_RULES : EMBEDDINGS_RULES;
  for (const [name, value] of Object.entries(body)) {
    if (value === null || taken.includes(name)) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) return `body.${shorten(name)} is not a field of ${kind} requests`;
    if (rule !== "harmless" && !rule.unless(value)) return `body.${name} ${rule.reason}`;
  }
  return undefined;
}

const MOST_NAME_CHARS = 60;
const shorten = (name: string): string =>
  name.length > MOST_NAME_CHARS ? `${name.slice(0, MOST_NAME_CHARS)}…` : name;
