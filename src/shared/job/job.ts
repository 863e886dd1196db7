import { z } from "zod";
import { daySchema, whereSchema } from "../files/document-filter.ts";
import {
  examplesProblem,
  labelExampleSchema,
  MOST_EXAMPLES,
  MOST_LABEL_CHARS,
} from "./label-examples.ts";
import { issueText, ruleWords } from "../config/issue-words.ts";
import { readDataUrl } from "../files/picture-data.ts";
import { findSchemaProblem } from "../schema/check-schema.ts";
import { NEGATIVE_MODES, VERIFY_MODES } from "./verify-modes.ts";

export const KINDS = [
  "ask",
  "summarize",
  "extract",
  "digest",
  "investigate",
  "check",
  "examine",
  "embed",
  "sync",
  "index",
  "ocr",
  "chat",
  "command",
  "notify",
] as const;
export type Kind = (typeof KINDS)[number];

export const JOB_STATES = [
  "queued",
  "running",
  "parked",
  "succeeded",
  "refused",
  "failed",
  "cancelled",
  "expired",
] as const;
export const FINAL_STATES = ["succeeded", "refused", "failed", "cancelled", "expired"] as const;

const MAX_TEXT_CHARS = 1_000_000;
const text = z
  .string()
  .max(MAX_TEXT_CHARS)
  .refine((value) => value.trim() !== "", "must not be blank");
/** Which model answers. */
const answeredBy = {
  route: z.enum(["fast", "big"]).optional(),
  model: z.string().min(1).optional(),
};

/** Kinds whose answers are verified. */
export const VERIFIED_KINDS = ["ask", "summarize", "extract", "investigate"] as const;
export type VerifyMode = (typeof VERIFY_MODES)[number];
export type NegativeMode = (typeof NEGATIVE_MODES)[number];
const path = z.string().min(1).max(4096);
/** Prefix of the paths that the job may find and read; a folder ends in "/". */
const pathPrefix = { path_prefix: path.optional() };
const verification = {
  /** Default: verify.mode of the configuration. */
  verify: z.enum(VERIFY_MODES).optional(),
  /** Default: verify.negative of the configuration. */
  negative: z.enum(NEGATIVE_MODES).optional(),
};

const askInput = z.strictObject({
  kind: z.literal("ask"),
  question: text,
  /** The file that the question is about. It counts as named by the question, whose text need not name it. */
  path: path.optional(),
  options: z
    .strictObject({
      ...answeredBy,
      full: z.boolean().optional(),
      /** The job of an earlier question: its text is put before this one, and the files of its run count as named. */
      follows: z.uuid().optional(),
      ...pathPrefix,
      source: z.string().min(1).optional(),
      /** Values in the frontmatter, and dates of the documents. */
      where: whereSchema.optional(),
      since: daySchema.optional(),
      until: daySchema.optional(),
      ...verification,
    })
    .optional(),
});

const summarizeInput = z.strictObject({
  kind: z.literal("summarize"),
  path,
  options: z
    .strictObject({
      ...answeredBy,
      length: z.enum(["sentence", "short", "medium", "long"]).optional(),
      bullets: z.boolean().optional(),
      ...pathPrefix,
      ...verification,
    })
    .optional(),
});

const embedTextInput = z.strictObject({
  kind: z.literal("embed"),
  text: z.union([text, z.array(text).min(1).max(2048)]),
  /** The expected number of dimensions; the job is refused when the embedder makes another number. */
  dimensions: z.int().positive().optional(),
  /** How an export in OpenAI's format writes the vectors; default `float`. */
  encoding_format: z.enum(["float", "base64"]).optional(),
});

/** Makes vectors for chunks of the index whose vector is missing or outdated. */
const embedChunksInput = z.strictObject({
  kind: z.literal("embed"),
  chunks: z.strictObject({
    rebuild: z.boolean().optional(),
    limit: z.int().positive().optional(),
    batch_size: z.int().positive().optional(),
    model: z.string().min(1).optional(),
    dry_run: z.boolean().optional(),
    prune: z.boolean().optional(),
    /** Chunk ids above `after` and up to `upto`, of which `due` need a vector: a part of an index or embed job's work. */
    range: z
      .strictObject({ after: z.int().min(0), upto: z.int().min(1), due: z.int().min(0) })
      .optional(),
    /** With `rebuild`: vectors made since this time, by the database's clock, belong to the rebuild and stay. */
    redo_before: z.iso.datetime({ offset: true }).optional(),
    /** Signature of the embedder that the job was planned for; a worker with another embedder fails the job as EMBED_DRIFT. */
    signature: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .optional(),
  }),
});

const indexInput = z.strictObject({
  kind: z.literal("index"),
  options: z
    .strictObject({
      source: z.string().min(1).optional(),
      rebuild: z.boolean().optional(),
      /** Read and hash every file, even when its times have not changed. */
      verify: z.boolean().optional(),
      /** Remove documents of sources that are not configured. */
      prune: z.boolean().optional(),
      /** Remove documents of a root that is missing or empty. */
      prune_missing: z.boolean().optional(),
      /** Do not exit with 3 because of documents that can't be indexed. */
      allow_partial: z.boolean().optional(),
      /** Queue an embed job for the changed chunks; default true. */
      embed: z.boolean().optional(),
      /** Queue an ocr job for each file that has unread pictures of pages. */
      ocr: z.boolean().optional(),
    })
    .optional(),
});

/** Mirrors a remote place into a source: fetches changed files, deletes those that are gone. Only `nightdesk sync` queues it. */
const syncInput = z.strictObject({
  kind: z.literal("sync"),
  source: z.string().min(1).max(200),
  /** Delete local files that are gone from the remote place, however many they are. */
  accept_deletions: z.boolean().optional(),
});

/** Reads the pictures of pages of a file. Only index jobs queue it. */
const ocrInput = z.strictObject({ kind: z.literal("ocr"), path });

const pictureUrl = z.string().superRefine((url, context) => {
  const read = readDataUrl(url);
  if (typeof read === "string") context.addIssue({ code: "custom", message: read });
});

const chatInput = z
  .strictObject({
    kind: z.literal("chat"),
    prompt: text.optional(),
    messages: z
      .array(
        z.strictObject({
          role: z.enum(["system", "user", "assistant"]),
          content: z.string(),
          /** Data URLs; for models that model.sees names. */
          images: z.array(pictureUrl).min(1).max(8).optional(),
        }),
      )
      .min(1)
      .optional(),
    model: z.string().min(1).optional(),
    max_tokens: z.int().positive().optional(),
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().min(0).max(1).optional(),
    seed: z.int().optional(),
    /** The reply ends before the first of these texts. */
    stop: z.array(z.string().min(1)).min(1).max(4).optional(),
    response_format: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(
    ({ prompt, messages }) => (prompt === undefined) !== (messages === undefined),
    "needs either prompt or messages, not both",
  );

const PRESETS = ["classify", "actions", "people"] as const;
export type Preset = (typeof PRESETS)[number];

/** Extracts fields from one file: by a preset that ships with Nightdesk, or by a JSON schema. */
const extractInput = z
  .strictObject({
    kind: z.literal("extract"),
    path,
    preset: z.enum(PRESETS).optional(),
    /** JSON schema of an object; `findSchemaProblem` decides what it may hold. */
    schema: z.record(z.string(), z.unknown()).optional(),
    /** For preset `classify`: the labels to choose from. */
    labels: z
      .array(z.string().min(1).max(MOST_LABEL_CHARS))
      .min(2, "labels must be two or more, of which one is chosen (--labels a,b)")
      .max(100)
      .optional(),
    /** For preset `classify`: texts with their labels. */
    examples: z.array(labelExampleSchema).min(1).max(MOST_EXAMPLES).optional(),
    options: z
      .strictObject({
        ...answeredBy,
        ...pathPrefix,
        ...verification,
      })
      .optional(),
  })
  .refine(
    ({ preset, schema }) => (preset === undefined) !== (schema === undefined),
    "needs either preset or schema, not both",
  )
  .refine(
    ({ preset, labels }) => (preset === "classify") === (labels !== undefined),
    "preset classify needs labels to choose from (--labels a,b), and nothing else takes them",
  )
  .refine(
    ({ labels = [] }) => new Set(labels).size === labels.length,
    "labels must differ from each other",
  )
  .refine(
    ({ preset, examples }) => preset === "classify" || examples === undefined,
    "examples are for preset classify, and nothing else takes them",
  )
  .superRefine(({ labels = [], examples = [] }, context) => {
    const message = examplesProblem(examples, labels);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

/** A task that needs tools: the model calls them step by step, as far as the grant of a preset allows. */
const investigateInput = z.strictObject({
  kind: z.literal("investigate"),
  task: text,
  /** A file that is read before the model chooses where to look. */
  path: path.optional(),
  /** A name from tools.presets or of a built-in preset; default readonly_safe. */
  preset: z.string().min(1).max(100).optional(),
  /** Tools that the preset must have; otherwise the job is not queued. */
  required_tools: z.array(z.string().min(1).max(100)).min(1).max(20).optional(),
  /** required (the default): refuse a model that can't call tools. optional: such a model answers from passages alone. */
  tools: z.enum(["required", "optional"]).optional(),
  /** Limits below those of tools.limits; a job can't raise them. */
  limits: z
    .strictObject({
      steps: z.int().positive().optional(),
      calls: z.int().positive().optional(),
      tokens: z.int().positive().optional(),
      time_s: z.number().positive().optional(),
    })
    .optional(),
  options: z
    .strictObject({
      ...answeredBy,
      ...pathPrefix,
      /** Searches return only documents dated within these days. */
      since: daySchema.optional(),
      until: daySchema.optional(),
      ...verification,
    })
    .optional(),
});

/**
 * A yes-or-no question about one statement of an answer. The auditor sees only the task, the statement and its citations. Only
 * runs whose answers are verified queue it.
 */
const checkInput = z.strictObject({
  kind: z.literal("check"),
  /** The task of the job whose answer is checked. */
  task: text,
  /** The checked statement. */
  claim: text,
  question: text,
  /** The reply that needs a quote which supports the statement; missing when no single line can. The auditor does not see it. */
  carries: z.enum(["yes", "no"]).optional(),
  /** Files that the statement rests on, relative to the work root; searched first. */
  paths: z.array(z.string().min(1)).max(8),
  options: z
    .strictObject({
      model: z.string().min(1).optional(),
      ...pathPrefix,
    })
    .optional(),
});

const MOST_OWN = 200;

/** Examines a model that is to judge statements. `nightdesk models examine` queues it, and a run whose judge has no exam yet. */
const examineInput = z.strictObject({
  kind: z.literal("examine"),
  /** Default: the model that would answer. */
  model: z.string().min(1).optional(),
  /** Number of additional statements about documents of the index. */
  own: z.int().min(2).max(MOST_OWN).optional(),
});

/** Sums up the results of other jobs in a few lines that cite them. Its children are rows of job_dependencies. */
const digestInput = z.strictObject({
  kind: z.literal("digest"),
  /** A folder of the work root, or the name of a batch. */
  title: z.string().min(1).max(4096),
  level: z.enum(["folder", "batch"]),
  options: z
    .strictObject({
      ...answeredBy,
      lines: z.int().positive().max(100).optional(),
    })
    .optional(),
});

/** A command of the `nightdesk` bin that a schedule runs, word by word. Only schedules queue it. */
const commandInput = z.strictObject({
  kind: z.literal("command"),
  schedule: z.string().min(1),
  /** The planned time, ISO 8601. */
  planned_at: z.iso.datetime({ offset: true }),
  command: z.array(z.string()).min(1),
});

export const HOOK_TARGETS = ["command", "webhook", "write_back"] as const;
/** `on_batch_end` notifies a program (command) or a URL (webhook); `write_back.when` of a source starts a write_back. */
export type HookTarget = (typeof HOOK_TARGETS)[number];

/** Events of a batch: batch_end each time that it ends, approval_needed once, when one of its jobs first waits for a person. */
export const HOOK_EVENTS = ["batch_end", "approval_needed"] as const;

/** Notifies a target of `on_batch_end`. A trigger queues it, so it does not matter who ends the batch or parks its jobs. */
const notifyInput = z.strictObject({
  kind: z.literal("notify"),
  event: z.enum(HOOK_EVENTS),
  batch_id: z.uuid(),
  /** Time of the event, as exact as the database's clock. It tells the ends apart: a batch that is opened again ends again. */
  at: z.iso.datetime(),
  target: z.enum(HOOK_TARGETS),
});

/** The input of a job; the `input` column of its row. */
export const jobInputSchema = z.union([
  askInput,
  summarizeInput,
  extractInput,
  digestInput,
  investigateInput,
  checkInput,
  examineInput,
  commandInput,
  notifyInput,
  embedTextInput,
  embedChunksInput,
  syncInput,
  indexInput,
  ocrInput,
  chatInput,
]);

export type JobInput = z.infer<typeof jobInputSchema>;

/** The file that a job is about; undefined when it is about none. */
export const pathOf = (input: JobInput): string | undefined =>
  "path" in input ? input.path : undefined;

/** The path prefix that limits a job; undefined when it may read everything that the sandbox allows. */
export const pathPrefixIn = (input: JobInput): string | undefined =>
  "options" in input && input.options !== undefined && "path_prefix" in input.options
    ? input.options.path_prefix
    : undefined;

export type AskInput = z.infer<typeof askInput>;
export type SummarizeInput = z.infer<typeof summarizeInput>;
export type EmbedTextInput = z.infer<typeof embedTextInput>;
export type EmbedChunksInput = z.infer<typeof embedChunksInput>;
export type IndexInput = z.infer<typeof indexInput>;
export type SyncInput = z.infer<typeof syncInput>;
export type OcrInput = z.infer<typeof ocrInput>;
export type ChatInput = z.infer<typeof chatInput>;
export type ExtractInput = z.infer<typeof extractInput>;
export type DigestInput = z.infer<typeof digestInput>;
export type InvestigateInput = z.infer<typeof investigateInput>;
export type ExamineInput = z.infer<typeof examineInput>;
export type CheckInput = z.infer<typeof checkInput>;
export type CommandInput = z.infer<typeof commandInput>;
export type NotifyInput = z.infer<typeof notifyInput>;

const inputByKind = {
  ask: askInput,
  summarize: summarizeInput,
  extract: extractInput,
  investigate: investigateInput,
  index: indexInput,
  chat: chatInput,
} as const;

/** Kinds that a line of a batch may have; Nightdesk itself queues the others. */
export const LINE_KINDS = [
  "ask",
  "summarize",
  "extract",
  "investigate",
  "embed",
  "index",
  "chat",
] as const;

/**
 * Parses the input of a line. A fault is described in terms of its own kind, not of the union of all kinds.
 * @returns the input, or the reason why it is invalid
 */
export function parseJobInput(
  value: Readonly<Record<string, unknown>>,
):
  | { readonly ok: true; readonly input: JobInput }
  | { readonly ok: false; readonly reason: string } {
  const kind = LINE_KINDS.find((known) => known === value["kind"]);
  if (kind === undefined) {
    return { ok: false, reason: `kind must be one of ${LINE_KINDS.join(", ")}` };
  }
  const schema = kind === "embed" ? embedSchemaFor(value) : inputByKind[kind];
  const parsed = schema.safeParse(value, { error: ruleWords });
  if (parsed.success) return withGoodSchema(parsed.data);
  return { ok: false, reason: parsed.error.issues.map(issueText).join("; ") };
}

/** Checks the schema of an extraction once, when it is queued, and not each time that its row is read. */
function withGoodSchema(input: JobInput): ReturnType<typeof parseJobInput> {
  const schema = input.kind === "extract" ? input.schema : undefined;
  const problem = schema === undefined ? undefined : findSchemaProblem(schema);
  return problem === undefined ? { ok: true, input } : { ok: false, reason: `schema: ${problem}` };
}

const embedSchemaFor = (value: Readonly<Record<string, unknown>>) =>
  "chunks" in value ? embedChunksInput : embedTextInput;
