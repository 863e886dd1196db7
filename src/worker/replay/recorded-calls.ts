import { hash } from "node:crypto";
import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import { routeOf, withModel } from "../../shared/job/kinds.ts";
import type { RepeatableInput } from "../../shared/job/kinds.ts";
import { PROVIDER_NAMES } from "../../shared/config/providers.ts";
import type { Provider } from "../../shared/config/providers.ts";
import type { Route, RoutingSettings } from "../../shared/job/route-models.ts";
import type { PromptRecord, ReplyRecord } from "../../shared/job/run-result.ts";
import type { StoredStep } from "../../shared/store/investigations/steps.ts";
import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { recordedReply } from "../jobs/call-log.ts";
import type { CallLog, RecordedReply } from "../evidence/types.ts";
import { HOST_UNREADABLE } from "../jobs/investigate/next-action.ts";
import { ReplyUnreadable, ToolCallUnreadable } from "../models/model.ts";
import type { Message, Model, ModelRegistry, ModelReply, ModelRequest } from "../models/model.ts";
import { UNLIMITED } from "../models/limiter.ts";
import { roomForCountedPrompt, roomForPrompt } from "../models/prompt-window.ts";

/** Something that a repetition needed and its run had not done. */
export type Unrecorded =
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "tool"; readonly name: string }
  /** The stored result of the call of a step has been removed since. */
  | { readonly kind: "output"; readonly name: string; readonly step: number }
  | { readonly kind: "call"; readonly pass: ReplyRecord["pass"]; readonly prompt: PromptRecord };

/** Ends a repetition: it makes no calls of models, so it can't continue. */
export class NotOnRecord extends Error {
  override readonly name = "NotOnRecord";
  readonly what: Unrecorded;
  constructor(what: Unrecorded) {
    super(`the run made no such ${what.kind}`);
    this.what = what;
  }
}

/** A call of the repetition that a stored reply answered. */
export type RepeatedCall = {
  readonly pass: ReplyRecord["pass"];
  readonly prompt_template: string;
  readonly prompt_sha256: string;
  /** differs: the prompt is the same, but the model's options or its room for the reply are not. */
  readonly request: "same" | "differs";
};

type RecordedCalls = {
  readonly log: CallLog;
  /** The stored reply to the same messages; undefined if they were never sent. */
  replyTo(messages: readonly Message[]): RecordedReply | undefined;
  /** The calls that were answered so far, in order. */
  readonly repeated: readonly RepeatedCall[];
};

/** The calls of a job as the log of its repetition. For a call that was never made it throws NotOnRecord. */
export function recordedCalls(stored: readonly StoredCall[]): RecordedCalls {
  const byRequest = new Map(stored.map((call) => [call.requestSha256, call]));
  const byPrompt = new Map(stored.map((call) => [call.prompt.sha256, call]));
  const repeated: RepeatedCall[] = [];
  const answer = (call: StoredCall, request: RepeatedCall["request"]) => {
    const { pass, prompt } = call;
    const { template, sha256 } = prompt;
    repeated.push({ pass, prompt_template: template, prompt_sha256: sha256, request });
  };
  return {
    repeated,
    log: {
      limiter: UNLIMITED,
      async recall(requestSha256) {
        const call = byRequest.get(requestSha256);
        if (call === undefined) return undefined;
        answer(call, "same");
        return recordedReply(call);
      },
      // Only here the prompt comes with the values that filled it.
      async commit({ pass, prompt }) {
        const call = byPrompt.get(prompt.sha256);
        if (call === undefined) throw new NotOnRecord({ kind: "call", pass, prompt });
        answer(call, "differs");
      },
    },
    replyTo(messages) {
      const sha256 = hash("sha256", JSON.stringify(messages));
      const call = byPrompt.get(sha256);
      return call === undefined ? undefined : recordedReply(call);
    },
  };
}

/** A placeholder for a missing reply; the log ends the repetition when it gets it. */
const NO_REPLY: ModelReply = {
  kind: "reply",
  text: "",
  toolCalls: [],
  promptTokens: 0,
  completionTokens: 0,
  loadMs: 0,
  doneReason: "stop",
};

const factsSchema = z.object({
  provider: z.enum(PROVIDER_NAMES),
  is_free: z.boolean(),
  reads_prompts: z.boolean(),
  digest: z.string().nullable(),
  quantization: z.string().nullable(),
  server_version: z.string().nullable(),
  window_tokens: z.number().nullable(),
  tool_protocol: z.enum(["native", "schema", "text"]),
  ignores_schemas: z.boolean().default(false),
  options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

type Run = Pick<RunDetail, "models" | "events">;

/**
 * The models of a run as their hosts described them then. They reply from the record and never call a host.
 * @param steps steps of an investigation; empty for any other run
 */
export function recordedModels(
  { models, events }: Run,
  calls: RecordedCalls,
  steps: readonly StoredStep[],
): ModelRegistry {
  const stepsWith = (fact: string): ReadonlySet<string> =>
    new Set(events.filter(({ detail }) => detail[fact] === true).map(({ step }) => step));
  const unreadable = {
    calls: stepsWith("unreadable_call"),
    replies: stepsWith("unreadable_reply"),
    steps: steps.filter(
      ({ kind, detail }) => kind === "model" && detail["unreadable"] === HOST_UNREADABLE,
    ),
  };
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

type Recording = {
  readonly calls: RecordedCalls;
  /** The steps in which the host could not read a tool call or a reply, so that no reply is stored. */
  readonly unreadable: Readonly<Record<"calls" | "replies", ReadonlySet<string>>> & {
    /** The steps of an investigation that were not repeated yet, in order. */
    readonly steps: StoredStep[];
  };
};

function recordedModel(use: RunDetail["models"][number], { calls, unreadable }: Recording): Model {
  const facts = factsSchema.parse(use.facts);
  const { window_tokens: windowTokens } = facts;
  return {
    name: use.model,
    facts: {
      provider: facts.provider,
      isFree: facts.is_free,
      readsPrompts: facts.reads_prompts,
      digest: facts.digest,
      quantization: facts.quantization,
      serverVersion: facts.server_version,
      windowTokens,
      toolProtocol: facts.tool_protocol,
      ignoresSchemas: facts.ignores_schemas,
      options: facts.options,
    },
    promptChars: (maxTokens) =>
      windowTokens === null
        ? Number.POSITIVE_INFINITY
        : roomAt(facts.provider, windowTokens, maxTokens),
    async complete(request) {
      const found = calls.replyTo(request.messages);
      if (found !== undefined) return found.reply;
      if (request.task.purpose === "investigate") {
        const given = unreadable.steps.shift();
        if (given !== undefined) throw new ReplyUnreadable(use.model, hostWordsOf(given));
        return NO_REPLY;
      }
      const step = stepOf(request);
      if (unreadable.calls.has(step)) throw new ToolCallUnreadable(use.model, null);
      if (unreadable.replies.has(step)) throw new ReplyUnreadable(use.model, null);
      return NO_REPLY;
    },
  };
}

/** Characters of a prompt that fit, by the estimate of each provider. */
const roomAt = (provider: Provider, windowTokens: number, maxTokens: number): number =>
  provider === "openai-compatible"
    ? roomForCountedPrompt(windowTokens, maxTokens)
    : roomForPrompt(windowTokens, maxTokens);

function hostWordsOf({ detail }: StoredStep): string | null {
  const words = detail["host_words"];
  return typeof words === "string" ? words : null;
}

const stepOf = ({ task }: ModelRequest): string =>
  task.purpose === "select_tool" ? "first_pass" : "second_pass";

/** The models that would take the passes of a job now. */
function routeNow(input: RepeatableInput, settings: RoutingSettings): Route {
  const route = routeOf(input, settings);
  if (route === null) throw new Error(`no model answers a job of kind ${input.kind}`);
  return route;
}

type RoutedInput = { readonly input: RepeatableInput; readonly settings: RoutingSettings };

/** Changes input and settings so that they lead to the models of the run, whatever is configured now. */
export function recordedRoute(
  { models }: Pick<RunDetail, "models">,
  input: RepeatableInput,
  settings: RoutingSettings,
): RoutedInput {
  const second = models.find(({ pass }) => pass === "second");
  if (second === undefined) return { input, settings };
  const first = models.find(({ pass }) => pass === "first") ?? second;
  const now = routeNow(input, settings);
  return {
    input: withSecond(input, second.model),
    settings: {
      ...settings,
      provider: "ollama",
      name: second.model,
      fast: first.model,
      big: second.model,
      prefer_fast: true,
      big_triggers: [],
      aliases: {},
      sees: models.map(({ model }) => model),
      max_tokens: maxTokensOf(first, now.first.maxTokens),
      max_tokens_big_second: maxTokensOf(second, now.second.maxTokens),
    },
  };
}

const maxTokensOf = ({ facts }: RunDetail["models"][number], now: number): number =>
  typeof facts["max_tokens"] === "number" ? facts["max_tokens"] : now;

/** Uses the route on which pass 2 has its own model and budget. */
const withSecond = (input: RepeatableInput, second: string): RepeatableInput =>
  withModel(input, input.kind === "chat" ? { model: second } : { model: undefined, route: "big" });
