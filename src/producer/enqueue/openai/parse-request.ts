import type { JobInput } from "../../../shared/job.ts";
import { isRecord } from "../../../shared/json-value.ts";
import { parseChatRequest } from "./chat-request.ts";
import { parseEmbeddingsRequest } from "./embeddings-request.ts";
import type { ModelNames } from "./model-names.ts";

type Fields = Readonly<Record<string, unknown>>;

export type ParsedRequest =
  | { readonly ok: true; readonly customId: string; readonly input: JobInput }
  /** `unknownModel` is set where it is the model's name that is wrong. */
  | { readonly ok: false; readonly reason: string; readonly unknownModel?: string };

/** As OpenAI's and Azure's references write them. */
const CHAT_URLS: readonly unknown[] = ["/v1/chat/completions", "/chat/completions"];
const EMBEDDINGS_URLS: readonly unknown[] = ["/v1/embeddings"];
const ENVELOPE = ["custom_id", "method", "url", "body"];
const MOST_MODEL_CHARS = 200;

/** Whether an object is a line of OpenAI's Batch rather than one of ours. */
export const isRequest = (line: Fields): boolean => "url" in line && "body" in line;

/** A line of OpenAI's Batch as the input of a job, or why it is none. The reason never holds the line's texts. */
export function parseRequest(line: Fields, models: ModelNames): ParsedRequest {
  const refused = (reason: string): ParsedRequest => ({ ok: false, reason });
  const extra = Object.keys(line).find((key) => !ENVELOPE.includes(key));
  if (extra !== undefined) return refused(`must hold ${ENVELOPE.join(", ")} and nothing else`);
  const { custom_id: customId, method, url, body } = line;
  if (typeof customId !== "string") return refused("custom_id is missing");
  if (method !== "POST") return refused('method must be "POST"');
  const isChat = CHAT_URLS.includes(url);
  if (!isChat && !EMBEDDINGS_URLS.includes(url)) {
    return refused(`url must be one of ${[...CHAT_URLS, ...EMBEDDINGS_URLS].join(", ")}`);
  }
  if (!isRecord(body)) return refused("body must be an object");
  const name = body["model"];
  if (typeof name !== "string" || name.trim() === "" || name.length > MOST_MODEL_CHARS) {
    return refused(`body.model must be a name of 1 to ${MOST_MODEL_CHARS} characters`);
  }
  const model = isChat ? models.ofChat(name) : models.isEmbedder(name) ? name : undefined;
  if (model === undefined) return unknown(name);
  const input = isChat ? parseChatRequest(body, model) : parseEmbeddingsRequest(body);
  return typeof input === "string" ? refused(input) : { ok: true, customId, input };
}

const unknown = (name: string): ParsedRequest => ({
  ok: false,
  reason: `body.model ${JSON.stringify(name)} is not known here`,
  unknownModel: name,
});
