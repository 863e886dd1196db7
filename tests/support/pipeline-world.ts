import { createHash } from "node:crypto";
import { refuse } from "../../src/shared/failure.ts";
import type { Refusal } from "../../src/shared/failure.ts";
import type {
  Note,
  Passage,
  PipelineDependencies,
  PipelineSettings,
  Reading,
} from "../../src/worker/evidence/types.ts";
import { extractiveModel } from "../../src/worker/models/extractive/extractive.ts";
import type { Model, ModelFacts, ModelReply, ModelRequest } from "../../src/worker/models/model.ts";
import { UNLIMITED } from "../../src/worker/models/limiter.ts";
import { knownFilesOf } from "../../src/worker/question/known-files.ts";
import { testOffload } from "../worker/offload/test-offload.ts";

export const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A reading of a whole text, or of its first `maxChars` characters. */
export function readingOf(path: string, text: string, maxChars = 1_000_000): Reading {
  const chars = Array.from(text);
  return {
    kind: "read",
    path,
    sha256: sha256Of(text),
    extractor: "utf-8",
    textSha256: sha256Of(text),
    locator: null,
    bytes: Buffer.byteLength(text),
    charsFull: chars.length,
    charsReturned: Math.min(chars.length, maxChars),
    truncated: chars.length > maxChars,
    text: chars.slice(0, maxChars).join(""),
  };
}

export function passageOf(path: string, text: string, heading: string | null = null): Passage {
  return {
    chunkKey: sha256Of(`${path}|${text}`).slice(0, 32),
    source: "corpus",
    path,
    sha256: sha256Of(text),
    extractor: "utf-8",
    docChars: text.length,
    truncated: false,
    headingPath: heading,
    locator: null,
    title: null,
    startChar: 0,
    endChar: Array.from(text).length,
    lineStart: 1,
    lineEnd: text.split("\n").length,
    text,
    score: 1,
    lexicalScore: 1,
  };
}

export const SETTINGS: PipelineSettings = {
  ask: {
    top_n: 8,
    read_full_on_thorough: true,
    max_chars_full_read: 200_000,
    full_evidence_triggers: ["thorough", "in depth"],
    summary_triggers: ["summarize", "summarise", "summary"],
    citations: {
      enabled: true,
      strict: true,
      require_in_snapshot: true,
      heading_match: "prefix",
      normalize_heading: true,
    },
    quotes: "require",
    // What is said stands, so that a test is about one thing; answer-claims.test.ts tells what becomes of it.
    unsupported: "flag",
    answer_form: "auto",
  },
  model: {
    provider: "ollama",
    name: "scripted",
    fast: null,
    big: null,
    prefer_fast: true,
    big_triggers: ["compare", "long"],
    aliases: {},
    sees: [],
    max_tokens: 800,
    max_tokens_big_second: 4500,
    timeout_s: 300,
    timeout_s_big_second: 600,
  },
  security: { allowed_exts: [".md", ".txt", ".json"] },
};

export type World = {
  readonly files?: Readonly<Record<string, string>>;
  readonly passages?: readonly Passage[];
  readonly holdsAny?: boolean;
  readonly models: readonly Model[];
  readonly settings?: PipelineSettings;
  readonly notes?: readonly Note[];
};

export type ReadLog = { readonly path: string; readonly maxChars: number }[];

/** Dependencies over files and passages in memory, with a log of every read. */
export function worldOf(world: World): PipelineDependencies & { readonly reads: ReadLog } {
  const reads: ReadLog = [];
  const offload = testOffload();
  const models = [...world.models, extractiveModel(offload)];
  return {
    reads,
    settings: world.settings ?? SETTINGS,
    models: {
      async get(name) {
        const model = models.find((candidate) => candidate.name === name);
        if (model === undefined) throw new Error(`the test has no model ${name}`);
        return model;
      },
    },
    search: async () => world.passages ?? [],
    holdsAny: async () => world.holdsAny ?? true,
    versions: async () => new Map(),
    async readTextFile({ path, maxChars }): Promise<Reading | Refusal> {
      reads.push({ path, maxChars });
      const text = world.files?.[path];
      if (text === undefined) return refuse("FILE_NOT_FOUND", `no ${path.slice(0, 100)}`);
      return readingOf(path, text, maxChars);
    },
    knownFiles: async () => knownFilesOf(Object.keys(world.files ?? {})),
    async locate(path) {
      return world.files?.[path] === undefined
        ? refuse("FILE_NOT_FOUND", `no ${path.slice(0, 100)}`)
        : { kind: "located", path };
    },
    offload,
    calls: { recall: async () => undefined, commit: async () => undefined, limiter: UNLIMITED },
    notes: async () => ({ shown: world.notes ?? [], leftOut: 0 }),
    fenceKey: Buffer.alloc(32, 7),
    previewChars: 20,
  };
}

export const FACTS: ModelFacts = {
  provider: "ollama",
  isFree: false,
  readsPrompts: true,
  digest: "d".repeat(64),
  quantization: "Q4_K_M",
  serverVersion: "0.32.15",
  windowTokens: 8192,
  toolProtocol: "text",
  ignoresSchemas: false,
  options: { temperature: 0, seed: 42, num_ctx: 8192 },
};

export type ScriptedModel = Model & { readonly requests: ModelRequest[] };

/** A model that gives these replies in order, or fails with these errors; it fails the test when asked once more. */
export function scripted(
  replies: readonly (string | Partial<ModelReply> | Refusal | Error)[],
  promptChars = 100_000,
): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    name: "scripted",
    facts: FACTS,
    requests,
    promptChars: () => promptChars,
    async complete(request) {
      const next = replies[requests.length];
      requests.push(request);
      if (next === undefined) throw new Error("the scripted model has no further reply");
      if (next instanceof Error) throw next;
      if (typeof next !== "string" && next.kind === "refused") return next;
      const reply = typeof next === "string" ? { text: next } : next;
      return {
        kind: "reply",
        text: "",
        toolCalls: [],
        promptTokens: 10,
        completionTokens: 5,
        loadMs: 0,
        doneReason: "stop",
        ...reply,
      };
    },
  };
}

export const callFor = (path: string): string =>
  JSON.stringify({ type: "tool_call", name: "read_text_file", args: { path } });

/** The text that a prompt shows the model last. */
export const userText = (request: ModelRequest | undefined): string =>
  request?.messages.at(-1)?.content ?? "";
