import { parseJobInput } from "../job/job.ts";
import type { JobInput } from "../job/job.ts";
import { isRecord } from "../schema/json-value.ts";
import { readDataUrl } from "../files/picture-data.ts";
import type { ModelNames } from "./model-names.ts";

type Fields = Readonly<Record<string, unknown>>;

type ParsedRequest =
  | { readonly ok: true; readonly customId: string; readonly input: JobInput }
  /** `unknownModel` is set when the model's name is the fault. */
  | { readonly ok: false; readonly reason: string; readonly unknownModel?: string };

/** Spelled as in the references of OpenAI and Azure. */
const CHAT_URLS: readonly unknown[] = ["/v1/chat/completions", "/chat/completions"];
const EMBEDDINGS_URLS: readonly unknown[] = ["/v1/embeddings"];
/** Accepts jobs of Nightdesk's kinds; the body is a line in Nightdesk's own format. */
const JOBS_URL = "/v1/nightdesk/jobs";
const JOB_KINDS: readonly unknown[] = ["ask", "summarize", "extract", "investigate"];
const ENVELOPE = ["custom_id", "method", "url", "body"];
const MOST_MODEL_CHARS = 200;

/** Whether an object is a line of OpenAI's Batch and not one in Nightdesk's own format. */
export const isRequest = (line: Fields): boolean => "url" in line && "body" in line;

/** Converts a line of OpenAI's Batch to the input of a job, or says why it can't. The reason never holds the line's texts. */
export function parseRequest(line: Fields, models: ModelNames): ParsedRequest {
  const refused = (reason: string): ParsedRequest => ({ ok: false, reason });
  const extra = Object.keys(line).find((key) => !ENVELOPE.includes(key));
  if (extra !== undefined) return refused(`must hold ${ENVELOPE.join(", ")} and nothing else`);
  const { custom_id: customId, method, url, body } = line;
  if (typeof customId !== "string") return refused("custom_id is missing");
  if (method !== "POST") return refused('method must be "POST"');
  if (url === JOBS_URL) return parseOwnJob(customId, body);
  const isChat = CHAT_URLS.includes(url);
  if (!isChat && !EMBEDDINGS_URLS.includes(url)) {
    return refused(`url must be one of ${[...CHAT_URLS, ...EMBEDDINGS_URLS, JOBS_URL].join(", ")}`);
  }
  if (!isRecord(body)) return refused("body must be an object");
  const name = body["model"];
  if (typeof name !== "string" || name.trim() === "" || name.length > MOST_MODEL_CHARS) {
    return refused(`body.model must be a name of 1 to ${MOST_MODEL_CHARS} characters`);
  }
  const model = isChat ? models.ofChat(name) : models.isEmbedder(name) ? name : undefined;
  if (model === undefined) return refuseModel(name);
  const input = isChat ? parseChatRequest(body, model) : parseEmbeddingsRequest(body);
  return typeof input === "string" ? refused(input) : { ok: true, customId, input };
}

function parseOwnJob(customId: string, body: unknown): ParsedRequest {
  if (!isRecord(body)) return { ok: false, reason: "body must be an object" };
  if (!JOB_KINDS.includes(body["kind"]))
    return { ok: false, reason: `body.kind must be one of ${JOB_KINDS.join(", ")}` };
  const parsed = parseJobInput(body);
  return parsed.ok
    ? { ok: true, customId, input: parsed.input }
    : { ok: false, reason: `body.${parsed.reason}`.replace(/^body\.(?=needs )/, "body ") };
}

const refuseModel = (name: string): ParsedRequest => ({
  ok: false,
  reason: `body.model ${JSON.stringify(name)} is not known here`,
  unknownModel: name,
});

type Body = Readonly<Record<string, unknown>>;

const CHAT_FIELDS = [
  "model",
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "seed",
  "stop",
  "response_format",
];

/** Converts the body of a chat completion to the input of a chat job, or gives its fault. @param model with its alias resolved */
function parseChatRequest(body: Body, model: string): JobInput | string {
  const unsupported = findUnsupportedField(body, "chat", CHAT_FIELDS);
  if (unsupported !== undefined) return unsupported;
  const messages = parseMessages(body["messages"]);
  if (typeof messages === "string") return messages;
  const { stop, response_format: format } = body;
  const parsed = parseJobInput(
    dropNulls({
      kind: "chat",
      messages,
      model,
      max_tokens: body["max_completion_tokens"] ?? body["max_tokens"],
      temperature: body["temperature"],
      top_p: body["top_p"],
      seed: body["seed"],
      stop: typeof stop === "string" ? [stop] : isEmptyList(stop) ? undefined : stop,
      response_format: isPlainText(format) ? undefined : format,
    }),
  );
  return parsed.ok ? parsed.input : `body.${parsed.reason}`;
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const isPlainText = (format: unknown): boolean =>
  typeof format === "object" && format !== null && "type" in format && format.type === "text";

/** In OpenAI's requests null means the same as a missing field. */
const dropNulls = (values: Body): Body =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  );

type ChatMessage = Content & { readonly role: "system" | "user" | "assistant" };

type Content = {
  readonly content: string;
  /** Data URLs. */
  readonly images?: readonly string[];
};

/** Newer models call the role `system` `developer`. */
const ROLES: ReadonlyMap<unknown, ChatMessage["role"]> = new Map([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
]);

/**
 * Converts messages to those of a chat job: the text parts of one message are joined by line feeds, its pictures are a list of
 * their own.
 * @returns the messages, or the fault of the first bad one with its index
 */
function parseMessages(value: unknown): readonly ChatMessage[] | string {
  if (!Array.isArray(value) || value.length === 0)
    return "body.messages must be a list of messages";
  const messages: ChatMessage[] = [];
  for (const [index, item] of value.entries()) {
    const read = parseMessage(item);
    if (typeof read === "string") return `body.messages.${index}${read}`;
    messages.push(read);
  }
  return messages;
}

function parseMessage(value: unknown): ChatMessage | string {
  if (!isRecord(value)) return " must be an object with role and content";
  const role = ROLES.get(value["role"]);
  if (role === undefined) return ".role must be system, developer, user or assistant";
  const extra = Object.entries(value).find(([key, member]) => !isKnown(key) && member !== null);
  if (extra !== undefined) return ` holds more than role and content: ${extra[0].slice(0, 60)}`;
  const content = parseContent(value["content"]);
  return typeof content === "string" ? content : { role, ...content };
}

const isKnown = (key: string): boolean => key === "role" || key === "content";

/** @returns the content, or its fault, to follow the path of its message */
function parseContent(value: unknown): Content | string {
  if (typeof value === "string") return { content: value };
  if (!Array.isArray(value)) return ".content must be a text or a list of parts";
  const texts: string[] = [];
  const images: string[] = [];
  for (const [index, part] of value.entries()) {
    const { type, text, image_url: image }: Fields = isRecord(part) ? part : {};
    const url: unknown = isRecord(image) ? image["url"] : undefined;
    if (type === "text" && typeof text === "string") texts.push(text);
    else if (type === "image_url" && typeof url === "string") {
      const read = readDataUrl(url);
      if (typeof read === "string") return `.content.${index}.image_url.url ${read}`;
      images.push(url);
    } else return `.content.${index} ${formatPart(type)}; a chat job takes text and pictures`;
  }
  return { content: texts.join("\n"), ...(images.length === 0 ? {} : { images }) };
}

function formatPart(type: unknown): string {
  switch (type) {
    case "image_url":
      return "has no image_url.url";
    case "input_audio":
      return "is sound";
    case "file":
      return "is a file";
    default:
      return "is no text";
  }
}

const EMBEDDING_FIELDS = ["model", "input", "dimensions", "encoding_format"];

/** Converts the body of an embeddings request to the input of an embed job, or gives its fault. */
function parseEmbeddingsRequest(body: Body): JobInput | string {
  const unsupported = findUnsupportedField(body, "embeddings", EMBEDDING_FIELDS);
  if (unsupported !== undefined) return unsupported;
  const { input, dimensions, encoding_format: encoding } = body;
  if (holdsTokens(input)) return "body.input holds numbers of tokens; send the text itself";
  const fields = { kind: "embed", text: input, dimensions, encoding_format: encoding };
  const parsed = parseJobInput(dropNulls(fields));
  return parsed.ok ? parsed.input : `body.${parsed.reason.replace(/^text/, "input")}`;
}

const holdsTokens = (input: unknown): boolean =>
  Array.isArray(input) &&
  input.some((item) => typeof item === "number" || (Array.isArray(item) && item.length > 0));

type Rule = "harmless" | { readonly unless: (value: unknown) => boolean; readonly reason: string };

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
const never = (): boolean => false;

const TOOLS = "offers tools, and a chat job has none";
const PENALTY = "is not honoured by every local host";

/** Fields that a job ignores. A field that could change the answer is accepted only with the value that changes nothing. */
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
 * Checks the fields of a body that a job ignores; null counts as missing.
 * @param taken fields that the caller reads
 * @returns the fault of the first field that would change the answer, with its name, or undefined
 */
function findUnsupportedField(
  body: Body,
  kind: "chat" | "embeddings",
  taken: readonly string[],
): string | undefined {
  const rules = kind === "chat" ? CHAT_RULES : EMBEDDINGS_RULES;
  for (const [name, value] of Object.entries(body)) {
    if (value === null || taken.includes(name)) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) return `body.${shortenName(name)} is not a field of ${kind} requests`;
    if (rule !== "harmless" && !rule.unless(value)) return `body.${name} ${rule.reason}`;
  }
  return undefined;
}

const MOST_NAME_CHARS = 60;
const shortenName = (name: string): string =>
  name.length > MOST_NAME_CHARS ? `${name.slice(0, MOST_NAME_CHARS)}…` : name;
