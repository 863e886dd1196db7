import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { z } from "zod";
import type { Config } from "../../shared/config/schema.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { parseJson } from "../../shared/schema/json-value.ts";
import {
  fingerprintModel,
  isModelName,
  modelFolderOf,
  OPTIONAL_FILES,
  requireFiles,
  requirePackage,
} from "../embedders/transformers/model-files.ts";
import type { Completion, Dtype, ModelRole } from "../embedders/transformers/model-files.ts";
import { openModelProcess } from "../embedders/transformers/model-process.ts";
import type { ModelProcess, ModelProcessOptions } from "../embedders/transformers/model-process.ts";
import { callProcess } from "./deadline.ts";
import { durationMs } from "./keep-alive.ts";
import { holdOneAtATime } from "./one-at-a-time.ts";
import type { Holder } from "./one-at-a-time.ts";
import { completionOf } from "./model.ts";
import type { Model, ModelFacts, ModelReply } from "./model.ts";
import { replyTokens, roomForPrompt } from "./prompt-window.ts";
import { toModelReply } from "./streamed-reply.ts";

type TransformersConfig = Pick<Config, "model" | "embed" | "roots">;

const LANGUAGE_MODEL: ModelRole = {
  noun: "language model",
  keys: "model",
  missing: "MODEL_NOT_FOUND",
  smaller: "lower model.num_ctx, or name a smaller one in model.name",
  without: "set model.provider to another",
  folder: "by name",
};

/** Nothing can stop a process while it reads a prompt in one piece: after this time, ending it costs less than waiting. */
const STOP_MS = 10_000;

/** The state of a model in its folder when it was opened. */
type OpenedModel = {
  readonly name: string;
  readonly folder: string;
  readonly digest: string;
  readonly windowTokens: number;
  readonly libraryVersion: string;
};

/**
 * Small instruction models by @huggingface/transformers in a process of this machine, one model at a time and one call after
 * the other. The model's tokenizer counts a prompt before the model reads it. No schema can be enforced. An aborted call ends
 * at its next token; if that takes longer than `stopMs`, its process is killed.
 *
 * Opening a model loads it. @throws Failure MODEL_NOT_FOUND, MODEL_TIMEOUT, TOOL_ERROR; the signal's reason
 */
export function transformersModels(
  config: TransformersConfig,
  execArgv: readonly string[] = process.execArgv,
  stopMs = STOP_MS,
): (name: string, signal: AbortSignal) => Promise<Model> {
  const known = new Map<string, OpenedModel>();
  const trials = new Map<string, Promise<void>>();
  const holder = holdOneAtATime<ModelProcess>({
    open: async (key) => {
      const opened = known.get(key);
      if (opened === undefined) throw new Error("the model was not opened");
      return openProcess(opened, config, { execArgv, stopMs });
    },
    close: (held) => {
      held.close();
    },
    isUsable: () => true,
  });
  return async (name, signal) => {
    const opened = await inspectModel(name, config);
    const key = keyOf(opened);
    const model = modelOf(opened, config, holder);
    for (let running = trials.get(key); running !== undefined; running = trials.get(key)) {
      try {
        await running;
        return model;
      } catch {
        // The job that tried it was stopped, or the model failed: this job tries it itself.
        signal.throwIfAborted();
      }
    }
    known.set(key, opened);
    const trial = assertReplies(model, config, signal);
    trials.set(key, trial);
    try {
      await trial;
    } catch (error) {
      trials.delete(key);
      throw error;
    }
    return model;
  };
}

const digestOfModel = (folder: string, dtype: Dtype): Promise<string> =>
  fingerprintModel(folder, dtype, OPTIONAL_FILES);

/** Other files under the same name count as another model. */
const keyOf = ({ name, digest }: OpenedModel): string => `${digest} ${name}`;

/** Inspects the files of a model without loading it. */
async function inspectModel(
  name: string,
  { model, embed, roots }: TransformersConfig,
): Promise<OpenedModel> {
  const { dtype } = model.transformers;
  const place = { model_id: name, cache_dir: embed.cache_dir, local_model_path: null };
  const folder = modelFolderOf(place, roots.workroot);
  if (!isModelName(name)) {
    throw new Failure(
      "MODEL_NOT_FOUND",
      `${JSON.stringify(name)} is no name of a model: expected OWNER/NAME, as nightdesk models fetch takes it.`,
    );
  }
  requireFiles(LANGUAGE_MODEL, name, folder, dtype);
  return {
    name,
    folder,
    digest: await digestOfModel(folder, dtype),
    windowTokens: Math.min(model.num_ctx, trainedTokensOf(folder) ?? model.num_ctx),
    libraryVersion: requirePackage(LANGUAGE_MODEL).version,
  };
}

const configSchema = z.object({
  architectures: z.array(z.string()).optional(),
  max_position_embeddings: z.int().positive().optional(),
  n_positions: z.int().positive().optional(),
});

/** The config.json of a model in its folder; empty if it can't be read. */
function readModelConfig(folder: string): z.infer<typeof configSchema> {
  const text = readFileSync(posix.join(folder, "config.json"), "utf8");
  return configSchema.safeParse(parseJson(text)).data ?? {};
}

/** The window that a model was trained for; undefined if its configuration does not say. */
function trainedTokensOf(folder: string): number | undefined {
  const { max_position_embeddings, n_positions } = readModelConfig(folder);
  return max_position_embeddings ?? n_positions;
}

/** Whether the files in a folder are those of a language model. */
export const isCausal = (folder: string): boolean =>
  readModelConfig(folder).architectures?.some((name) => name.endsWith("ForCausalLM")) ?? false;

function openProcess(
  { name, folder, windowTokens }: OpenedModel,
  { model }: TransformersConfig,
  process: Pick<ModelProcessOptions, "execArgv" | "stopMs">,
): ModelProcess {
  const { dtype, device, recycle_replies, recycle_mb } = model.transformers;
  return openModelProcess({
    role: LANGUAGE_MODEL,
    model: name,
    load: { kind: "load", task: "complete", folder, dtype, device, maxLength: windowTokens },
    timeoutMs: model.timeout_s * 1_000,
    idleMs: durationMs(model.keep_alive),
    recycle: { inputs: recycle_replies, megabytes: recycle_mb },
    ...process,
  });
}

function modelOf(
  opened: OpenedModel,
  { model: settings }: TransformersConfig,
  holder: Holder<ModelProcess>,
): Model {
  const { name, folder, digest, windowTokens, libraryVersion } = opened;
  const { temperature, seed, num_ctx, transformers } = settings;
  const facts: ModelFacts = {
    provider: "transformers",
    isFree: false,
    readsPrompts: true,
    digest,
    quantization: transformers.dtype,
    serverVersion: `@huggingface/transformers ${libraryVersion}, ${transformers.device}`,
    windowTokens,
    toolProtocol: "text",
    ignoresSchemas: false,
    options: { temperature, seed, num_ctx: Math.min(num_ctx, windowTokens) },
  };
  return {
    name,
    facts,
    promptChars: (maxTokens) => roomForPrompt(windowTokens, maxTokens),
    async complete(request, signal) {
      if (request.format !== undefined) return refuseFormat(name);
      const { timeoutMs } = request;
      const limit = replyTokens(windowTokens, request.maxTokens);
      const completion = {
        kind: "complete",
        ...completionOf(request, { temperature, seed, limit }),
      } as const;
      const limits = { name, timeoutKey: "model.timeout_s", signal, timeoutMs };
      const reply = await callProcess(limits, async (until, onStarted) => {
        // If the files were replaced while the worker runs, the next process would load the new ones.
        if ((await digestOfModel(folder, transformers.dtype)) !== digest) throw filesChanged(name);
        return holder.with(keyOf(opened), until, (held) =>
          held.complete(completion, until, onStarted),
        );
      });
      return toReply(reply, { name, windowTokens, limit, num_ctx });
    },
  };
}

type Bounds = {
  readonly name: string;
  readonly windowTokens: number;
  readonly limit: number;
  readonly num_ctx: number;
};

const toReply = (
  reply: Completion,
  { name, windowTokens, limit, num_ctx }: Bounds,
): ModelReply | Refusal =>
  reply.kind === "completed"
    ? toModelReply(
        { ...reply, reasoning: "", toolCalls: [], loadMs: 0 },
        { windowTokens, replyTokens: limit },
      )
    : refuse(
        "CONTEXT_OVERFLOW",
        `The prompt takes ${reply.promptTokens} tokens, and the window of "${name}" has ${windowTokens}, which the reply shares. ` +
          (windowTokens < num_ctx
            ? "It was trained for no more: lower ask.top_n, or use a model with a larger window."
            : "Raise model.num_ctx, or lower ask.top_n."),
      );

/** Generates one token as a trial: the files may not be a language model, or not one for chats. */
async function assertReplies(
  model: Model,
  { model: { timeout_s } }: TransformersConfig,
  signal: AbortSignal,
): Promise<void> {
  const messages = [{ role: "user", content: "A trial." }] as const;
  const request = { messages, task: { purpose: "chat" }, maxTokens: 1 } as const;
  await model.complete({ ...request, timeoutMs: timeout_s * 1_000 }, signal);
}

const refuseFormat = (name: string): Refusal =>
  refuse(
    "MODEL_UNSUPPORTED",
    `"${name}" by model.provider "transformers" can't be held to a schema. Leave response_format out, or use ` +
      "a model host.",
  );

/** A cache forgets the model at this error, so the next attempt opens the new files. */
const filesChanged = (name: string): Failure =>
  new Failure("MODEL_NOT_FOUND", `The files of "${name}" were changed since it was opened.`);
