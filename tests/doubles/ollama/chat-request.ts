import type { DoubleMessage, DoubleModel } from "./double-model.ts";
import { isRecord } from "../http-double.ts";
import type { Body } from "../http-double.ts";
import { capabilitiesOf, findModel, fullName } from "./double-model.ts";
import { HttpError } from "./http-error.ts";

export type ChatRequest = {
  readonly model: DoubleModel;
  readonly asked: string;
  readonly messages: readonly DoubleMessage[];
  readonly stream: boolean;
  readonly truncate: boolean;
  readonly shift: boolean;
  readonly keepAliveMs: number;
  readonly options: Body;
  readonly body: Body;
};

/** Checks a body of /api/chat as the server does, with its texts. */
export function parseChatRequest(body: Body, models: readonly DoubleModel[]): ChatRequest {
  const asked = body["model"];
  if (typeof asked !== "string" || asked === "") throw new HttpError(400, "model is required");
  const model = findModel(models, asked);
  if (model === undefined) throw new HttpError(404, `model '${asked}' not found`);
  const options = isRecord(body["options"]) ? body["options"] : {};
  for (const key of ["num_ctx", "num_predict", "seed", "num_keep"]) {
    if (options[key] !== undefined && !Number.isInteger(options[key])) {
      throw new HttpError(500, `option "${key}" must be of type integer`);
    }
  }
  checkFormat(body["format"]);
  checkCapabilities(asked, model, body);
  return {
    model,
    asked,
    messages: messagesOf(body["messages"]),
    stream: body["stream"] !== false,
    truncate: body["truncate"] !== false,
    shift: body["shift"] !== false,
    keepAliveMs: keepAliveMs(body["keep_alive"]),
    options,
    body,
  };
}

function messagesOf(value: unknown): DoubleMessage[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    throw unmarshal(kindOf(value), "ChatRequest.messages of type []api.Message");
  }
  return value.map((message: Body) => {
    const { role, content = "" } = message;
    if (typeof content !== "string") {
      throw unmarshal(kindOf(content), "ChatRequest.messages.content of type string");
    }
    return { role: String(role), content };
  });
}

const unmarshal = (kind: string, field: string): HttpError =>
  new HttpError(400, `json: cannot unmarshal ${kind} into Go struct field ${field}`);

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "array" : typeof value === "object" ? "object" : typeof value;

function checkFormat(format: unknown): void {
  if (format === undefined || format === "" || format === "json" || isRecord(format)) return;
  throw new HttpError(
    500,
    `invalid format: ${JSON.stringify(format)}; expected "json" or a valid JSON Schema object`,
  );
}

function checkCapabilities(asked: string, model: DoubleModel, body: Body): void {
  const can = capabilitiesOf(model);
  if (!can.includes("completion")) throw new HttpError(400, `"${asked}" does not support chat`);
  if (Array.isArray(body["tools"]) && body["tools"].length > 0 && !can.includes("tools")) {
    const name = `registry.ollama.ai/library/${fullName(asked)}`;
    throw new HttpError(400, `${name} does not support tools`);
  }
  if (Boolean(body["think"]) && !can.includes("thinking")) {
    throw new HttpError(400, `"${asked}" does not support thinking`);
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A number is seconds, a text a Go duration; absent means five minutes. */
function keepAliveMs(value: unknown): number {
  if (value === undefined || value === null) return 5 * 60_000;
  if (typeof value === "number") return value * 1000;
  if (typeof value !== "string") throw unmarshal(kindOf(value), "ChatRequest.keep_alive");
  const text = value;
  if (text === "0") return 0;
  if (/^-?[\d.]+$/.test(text)) throw new HttpError(400, `time: missing unit in duration "${text}"`);
  const [, sign = "", parts] = /^(-?)((?:[\d.]+(?:ms|s|m|h))+)$/.exec(text) ?? [];
  if (parts === undefined) throw new HttpError(400, `time: invalid duration "${text}"`);
  const sum = [...parts.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce(
    (total, [, number, unit]) => total + Number(number) * (UNITS[unit ?? ""] ?? 0),
    0,
  );
  return sign === "-" ? -sum : sum;
}
