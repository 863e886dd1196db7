import { REST_MS } from "../../run-trace.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { isMcpTool } from "../../../shared/config/mcp-servers.ts";
import type { ModelChoice } from "../../../shared/job/route-models.ts";
import type { StepDetail } from "../../../shared/store/investigations/steps.ts";
import { callModel, hashRequest } from "../../answer/call-model.ts";
import type { CallParts, ModelCall } from "../../answer/call-model.ts";
import { renderPrompt } from "../../answer/prompt.ts";
import { cleanText } from "../../text/clean-text.ts";
import { fenceBoundary } from "../../evidence/fence.ts";
import { ReplyUnreadable } from "../../models/model.ts";
import type { Model, ModelReply } from "../../models/model.ts";
import { fromNativeCalls, grammarOf, toolName } from "../../tools/parse-tool-call.ts";
import { registryOf } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";
import {
  listNotes,
  listTools,
  LOOP_BY_SCHEMA,
  LOOP_BY_TEXT,
  LOOP_NATIVELY,
  replySchema,
  showLog,
} from "./context.ts";
import { parseObject } from "../../verify/validate-fields.ts";
import { CUT_REPLY, unreadableLately } from "./policy.ts";
import { writeStep } from "./record.ts";
import type { InvestigationRecord } from "./record.ts";
import type { StepLog } from "./step-log.ts";

/** The next action that the model chooses. */
type NextAction =
  | {
      readonly kind: "call";
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "end" }
  /** The reply can't be read as a call; the record holds the reason, and the next prompt shows it. */
  | { readonly kind: "unreadable" };

export type LoopRun = {
  readonly task: string;
  /** The file that the job is about; it was read before the first call of the model. */
  readonly given?: string | undefined;
  readonly model: Model;
  readonly choice: ModelChoice;
  /** The tools that the grant allows and this machine can run. */
  readonly tools: readonly Tool[];
  readonly record: InvestigationRecord;
  readonly log: StepLog;
  readonly fenceKey: Buffer;
};

/** Room for the prompt beside the log: rules, tools, task. */
const PROMPT_CHARS = 4_000;
const FEWEST_ROOM = 3_000;
const END_ACTION = { kind: "end" } as const;

/**
 * Makes one call of the model, as a step that is committed before and after. If the prompt would not fit, older steps are
 * shown in brief from here on, which is recorded as a step of its own.
 *
 * Refusals: those of the model. CONTEXT_OVERFLOW when even the newest step alone does not fit.
 */
export async function askNextAction(run: LoopRun, parts: CallParts): Promise<NextAction | Refusal> {
  let tightness = 1;
  for (;;) {
    const call = await nextCall(run, tightness);
    const asked = await askInStep(run, call, parts);
    if (asked.kind !== "refused" || asked.code !== "CONTEXT_OVERFLOW" || tightness >= 8)
      return asked;
    // The text is dense: the host counts more tokens than estimated.
    tightness *= 2;
  }
}

async function nextCall(run: LoopRun, tightness: number): Promise<ModelCall> {
  const { model, choice, tools, record, task } = run;
  const protocol = protocolFor(run);
  const template = { native: LOOP_NATIVELY, schema: LOOP_BY_SCHEMA, text: LOOP_BY_TEXT }[protocol];
  const values = {
    task,
    tools: protocol === "native" ? "" : listTools(tools),
    notes: listNotes(record.steps),
    left: "What is next: a call of one tool, or the end?",
  };
  const boundary = fenceBoundary(template.version, [task], run.fenceKey);
  // PROMPT_CHARS covers our own tools; the length of the descriptions of servers is unknown beforehand.
  const ofServers = tools.filter(({ name }) => isMcpTool(name));
  const toolChars =
    protocol === "text" || ofServers.length === 0
      ? values.tools.length
      : Math.max(values.tools.length, listTools(ofServers).length);
  const taken = PROMPT_CHARS + task.length + toolChars + values.notes.length;
  const room = Math.max(
    FEWEST_ROOM,
    Math.floor((model.promptChars(choice.maxTokens) - taken) / tightness),
  );
  const since = briefBefore(record);
  const shown = showLog(record, { boundary, room, since, given: run.given });
  if (shown.begin !== since) await writeStep(run, "compaction", { brief_before: shown.begin });
  const prompt = renderPrompt(template, {
    values,
    boundary,
    evidence: { text: shown.text, shown: shown.shown },
  });
  return {
    pass: "step",
    model,
    choice,
    prompt,
    task: { purpose: "investigate", question: task, steps: record.steps.length },
    overrides: overridesFor(protocol, tools),
  };
}

/** The best protocol that the host has; the schema, once, after a reply without a readable call. */
function protocolFor({ model, record }: LoopRun): Protocol {
  const { toolProtocol } = model.facts;
  return toolProtocol === "native" && unreadableLately(record.steps) === 1
    ? "schema"
    : toolProtocol;
}

type Protocol = Model["facts"]["toolProtocol"];

function overridesFor(
  protocol: Protocol,
  tools: readonly Tool[],
): NonNullable<ModelCall["overrides"]> {
  switch (protocol) {
    case "native":
      return {
        tools: tools.map(({ name, description, parameters }) => ({
          name: nativeName(name),
          description,
          parameters,
        })),
      };
    case "schema":
      return { format: replySchema(tools) };
    case "text":
      return {};
  }
}

/** Hosts with their own protocol accept no dots in names. */
const nativeName = (name: string): string => name.replaceAll(".", "__");

/** The step from which on the last compaction shows results. */
function briefBefore({ steps }: InvestigationRecord): number {
  const before = steps.findLast(({ kind }) => kind === "compaction")?.detail["brief_before"];
  return typeof before === "number" ? before : 0;
}

async function askInStep(
  run: LoopRun,
  call: ModelCall,
  parts: CallParts,
): Promise<NextAction | Refusal> {
  const { record, log } = run;
  const ordinal = record.nextOrdinal;
  const startedAt = performance.now();
  await log.beginModel(ordinal, hashRequest(call));
  let waitedMs = 0;
  const reply = await callUnlessUnreadable(call, {
    ...parts,
    trace: {
      ...parts.trace,
      waited(milliseconds) {
        waitedMs += milliseconds;
        parts.trace.waited(milliseconds);
      },
    },
  });
  const action = reply.kind === "reply" ? actionOf(reply, run.tools) : reply;
  const isUsable = action.kind === "call" || action.kind === "end";
  const detail = {
    ...detailOf(action),
    ...(waitedMs === 0 ? {} : { waited_ms: Math.round(waitedMs) }),
  };
  await log.endModel(ordinal, isUsable ? "done" : "failed", detail);
  record.add({
    ordinal,
    kind: "model",
    state: isUsable ? "done" : "failed",
    detail,
    activeMs: performance.now() - startedAt - waitedMs,
    tokens: reply.kind === "reply" ? reply.promptTokens + reply.completionTokens : 0,
    tool: null,
  });
  parts.trace.mayTake(REST_MS);
  return action;
}

function detailOf(
  action: Exclude<NextAction, { kind: "unreadable" }> | Unreadable | Refusal,
): StepDetail {
  switch (action.kind) {
    case "unreadable":
      return {
        unreadable: action.reason,
        ...(action.holdsNoCall === true ? { no_call: true } : {}),
        ...hostWordsOf(action),
      };
    case "refused":
      return { refused: action.code };
    case "call":
      return { next: action.name };
    case "end":
      return { next: "end" };
  }
}

const hostWordsOf = ({ hostWords }: { readonly hostWords?: string }): StepDetail =>
  hostWords === undefined ? {} : { host_words: hostWords };

type Unreadable = {
  readonly kind: "unreadable";
  readonly reason: string;
  readonly holdsNoCall?: true;
  /** The error text of the host. */
  readonly hostWords?: string;
};

/** The reason of a step whose reply the host could not read; all other reasons are our own. */
export const HOST_UNREADABLE = "the host could not read it";

async function callUnlessUnreadable(
  call: ModelCall,
  parts: CallParts,
): Promise<ModelReply | Refusal | Unreadable> {
  try {
    return await callModel(call, parts);
  } catch (error) {
    if (!(error instanceof ReplyUnreadable)) throw error;
    const { hostWords } = error;
    return {
      kind: "unreadable",
      reason: HOST_UNREADABLE,
      ...(hostWords === null ? {} : { hostWords: cleanText(hostWords) }),
    };
  }
}

/** Reads a call, in JSON or by the protocol of the host, or the end as the prompt spells it; any other reply is unreadable. */
function actionOf(
  reply: ModelReply,
  tools: readonly Tool[],
): Exclude<NextAction, { kind: "unreadable" }> | Unreadable {
  const { text, toolCalls } = reply;
  const calls = toolCalls.map((call) => {
    const names = [call.name, toolName(call.name)];
    const meant = tools.find(({ name }) => names.includes(nativeName(name)));
    return { ...call, name: meant?.name ?? call.name };
  });
  const call = fromNativeCalls(calls, text, grammarOf(registryOf(tools)));
  if (call?.kind === "call") return { kind: "call", name: call.name, args: call.args };
  if (call === null && isEnd(text)) return END_ACTION;
  const reason = whyNoCall(reply, call?.reason);
  return { kind: "unreadable", reason, ...(call === null ? { holdsNoCall: true } : {}) };
}

/** END as the last word, or "end" on a line of its own. */
const END = /(?:(?<![\p{L}\p{N}])END|(?:^|\n)[^\p{L}\p{N}\n]{0,8}[Ee]nd)[^\p{L}\p{N}]{0,40}$/u;

function isEnd(text: string): boolean {
  if (END.test(text)) return true;
  const read = parseObject(text);
  return read.kind === "fields" && read.fields["type"] === "end";
}

function whyNoCall(reply: ModelReply, fault = "it held no call of a tool"): string {
  if (reply.doneReason === "thought") return "all of it stood in your thinking";
  if (reply.doneReason !== "stop") return CUT_REPLY;
  return reply.text === "" && reply.toolCalls.length === 0 ? "it was empty" : fault;
}
