import { z } from "zod";
import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import { Failure } from "../../shared/failure.ts";
import { ToolCallUnreadable } from "../model/model.ts";
import type { Model, ModelRegistry, ModelRequest } from "../model/model.ts";
import { roomForCountedPrompt, roomForPrompt } from "../model/prompt-window.ts";
import { NO_REPLY } from "./recorded-calls.ts";
import type { RecordedCalls } from "./recorded-calls.ts";

const factsSchema = z.object({
  provider: z.enum(["ollama", "openai-compatible", "extractive"]),
  digest: z.string().nullable(),
  quantization: z.string().nullable(),
  server_version: z.string().nullable(),
  window_tokens: z.number().nullable(),
  tool_protocol: z.enum(["native", "schema", "text"]),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

type Run = Pick<RunDetail, "models" | "events">;

/** The models of a run as their hosts described them then. They reply from the record, and never ask anybody. */
export function recordedModels({ models, events }: Run, calls: RecordedCalls): ModelRegistry {
  const unreadable = new Set(
    events.filter(({ detail }) => detail["unreadable_call"] === true).map(({ step }) => step),
  );
  const byName = new Map(
    models.map((use) => [use.model, recordedModel(use, { calls, unreadable })]),
  );
  return {
    async get(name) {
      const model = byName.get(name);
      if (model !== undefined) return model;
      throw new Failure("MODEL_NOT_FOUND", `The run asked no model "${name}".`);
    },
  };
}

type OnRecord = {
  readonly calls: RecordedCalls;
  /** The steps in which the host could not read a tool call, so that no reply of it is on record. */
  readonly unreadable: ReadonlySet<string>;
};

function recordedModel(use: RunDetail["models"][number], { calls, unreadable }: OnRecord): Model {
  const facts = factsSchema.parse(use.facts);
  const { window_tokens: windowTokens } = facts;
  return {
    name: use.model,
    facts: {
      provider: facts.provider,
      digest: facts.digest,
      quantization: facts.quantization,
      serverVersion: facts.server_version,
      windowTokens,
      toolProtocol: facts.tool_protocol,
      options: facts.options,
    },
    promptChars: (maxTokens) =>
      windowTokens === null
        ? Number.POSITIVE_INFINITY
        : ROOM[facts.provider](windowTokens, maxTokens),
    async complete(request) {
      const found = calls.replyTo(request.messages);
      if (found !== undefined) return found.reply;
      if (unreadable.has(stepOf(request))) throw new ToolCallUnreadable(use.model, undefined);
      return NO_REPLY;
    },
  };
}

/** Characters of prompt that fit, as each kind of model reckons. */
const ROOM = {
  ollama: roomForPrompt,
  extractive: roomForPrompt,
  "openai-compatible": roomForCountedPrompt,
} as const;

const stepOf = ({ task }: ModelRequest): string =>
  task.purpose === "select_tool" ? "first_pass" : "second_pass";
