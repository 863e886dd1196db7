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
import { schemaProblem } from "../schema/check-schema.ts";
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
const route = z.enum(["fast", "big"]);

/** Kinds whose answers are verified. */
export const VERIFIED_KINDS = ["ask", "summarize", "extract", "investigate"] as const;
export type VerifyMode = (typeof VERIFY_MODES)[number];
export type NegativeMode = (typeof NEGATIVE_MODES)[number];
const path = z.string().min(1).max(4096);
/** What the paths begin with of all that the job may find and read; a folder ends in "/". */
const pathPrefix = { path_prefix: path.optional() };
const verification = {
  /** verify.mode of the configuration without it. */
  verify: z.enum(VERIFY_MODES).optional(),
  /** verify.negative of the configuration without it. */
  negative: z.enum(NEGATIVE_MODES).optional(),
};

const askInput = z.strictObject({
  kind: z.literal("ask"),
  question: text,
  /** The file that the question is about, as one that it names: its words need not name it. */
  path: path.optional(),
  options: z
    .strictObject({
      route: route.optional(),
      full: z.boolean().optional(),
      model: z.string().min(1).optional(),
      /** The job of a question: it stands before this one, and the files of its run count as named. */
      follows: z.uuid().optional(),
      ...pathPrefix,
      source: z.string().min(1).optional(),
      /** Values in the frontmatter, and the days that documents are of. */
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
      route: route.optional(),
      model: z.string().min(1).optional(),
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
  /** What the vectors are expected to have; an embedder that makes others refuses the job. */
  dimensions: z.int().positive().optional(),
  /** How an export in OpenAI's form writes the vectors; `float` unless it is said otherwise. */
  encoding_format: z.enum(["float", "base64"]).optional(),
});

/** Vectors for the chunks of the index that miss one or hold an outdated one. */
const embedChunksInput = z.strictObject({
  kind: z.literal("embed"),
  chunks: z.strictObject({
    rebuild: z.boolean().optional(),
    limit: z.int().positive().optional(),
    batch_size: z.int().positive().optional(),
    model: z.string().min(1).optional(),
    dry_run: z.boolean().optional(),
    prune: z.boolean().optional(),
    /** Chunk ids above `after` and up to `upto`, of which `due` were due: what an index or embed job hands out. */
    range: z
      .strictObject({ after: z.int().min(0), upto: z.int().min(1), due: z.int().min(0) })
      .optional(),
    /** With `rebuild`: vectors made since this time of the database's clock are the rebuild's own, and stay. */
    redo_before: z.iso.datetime({ offset: true }).optional(),
    /** Of the embedder that the job was planned for; a worker with another one fails it as EMBED_DRIFT. */
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
      /** Read and hash every file, whatever its times say. */
      verify: z.boolean().optional(),
      /** Remove documents of sources that are not configured. */
      prune: z.boolean().optional(),
      /** Remove documents of a root that is missing or empty. */
      prune_missing: z.boolean().optional(),
      /** Documents that can't be indexed are no reason for exit 3. */
      allow_partial: z.boolean().optional(),
      /** Queue an embed job for what changed; true unless it is said otherwise. */
      embed: z.boolean().optional(),
      /** Queue a job for each file with pictures of pages that were not read. */
      ocr: z.boolean().optional(),
    })
    .optional(),
});

/** What is new, changed or gone in another place that a source is a mirror of. Only `nightdesk sync` queues it. */
const syncInput = z.strictObject({
  kind: z.literal("sync"),
  source: z.string().min(1).max(200),
  /** Files that are gone there are deleted here, however many they are. */
  accept_deletions: z.boolean().optional(),
});

/** The pictures of pages of a file. Only index jobs queue it. */
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
          /** Data URLs, of models that model.sees names. */
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
    /** The reply ends before the first of them. */
    stop: z.array(z.string().min(1)).min(1).max(4).optional(),
    response_format: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(
    ({ prompt, messages }) => (prompt === undefined) !== (messages === undefined),
    "needs either prompt or messages, not both",
  );

const PRESETS = ["classify", "actions", "people"] as const;
export type Preset = (typeof PRESETS)[number];

/** Fields of one file: by a preset that ships with Nightdesk, or by a JSON schema. */
const extractInput = z
  .strictObject({
    kind: z.literal("extract"),
    path,
    preset: z.enum(PRESETS).optional(),
    /** Of an object; `schemaProblem` says what it may hold. */
    schema: z.record(z.string(), z.unknown()).optional(),
    /** Of preset `classify`: the labels to choose from. */
    labels: z
      .array(z.string().min(1).max(MOST_LABEL_CHARS))
      .min(2, "labels must be two or more, of which one is chosen (--labels a,b)")
      .max(100)
      .optional(),
    /** Of preset `classify`: texts with the labels that they have. */
    examples: z.array(labelExampleSchema).min(1).max(MOST_EXAMPLES).optional(),
    options: z
      .strictObject({
        route: route.optional(),
        model: z.string().min(1).optional(),
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

/** A question that takes looking around: the model uses tools, step by step, within a grant that a preset gives. */
const investigateInput = z.strictObject({
  kind: z.literal("investigate"),
  task: text,
  /** A file that is read before the model is asked where to look. */
  path: path.optional(),
  /** Of tools.presets or those that ship; readonly_safe without it. */
  preset: z.string().min(1).max(100).optional(),
  /** Tools that the preset must hold, or the job is not queued. */
  required_tools: z.array(z.string().min(1).max(100)).min(1).max(20).optional(),
  /** required (without it): a model that calls no tools is refused. optional: it answers from passages alone. */
  tools: z.enum(["required", "optional"]).optional(),
  /** Lower than those of tools.limits; a job can't raise them. */
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
      route: route.optional(),
      model: z.string().min(1).optional(),
      ...pathPrefix,
      /** Its searches give passages of documents that are of these days. */
      since: daySchema.optional(),
      until: daySchema.optional(),
      ...verification,
    })
    .optional(),
});

/**
 * A yes-or-no question about one statement of an answer, for somebody who sees nothing but the task, the statement and what
 * it cites. Only runs whose answers are verified queue it.
 */
const checkInput = z.strictObject({
  kind: z.literal("check"),
  /** What the job was asked for whose answer is checked. */
  task: text,
  /** The statement. */
  claim: text,
  question: text,
  /** Whoever answers so quotes words that carry the statement; missing where no single line can. The auditor is not told. */
  carries: z.enum(["yes", "no"]).optional(),
  /** Files that the statement rests on, relative to the work root; looked at first. */
  paths: z.array(z.string().min(1)).max(8),
  options: z
    .strictObject({
      model: z.string().min(1).optional(),
      ...pathPrefix,
    })
    .optional(),
});

const MOST_OWN = 200;

/** The exam of a model that is to judge statements. `nightdesk models examine` queues it, and a run that finds none on record. */
const examineInput = z.strictObject({
  kind: z.literal("examine"),
  /** Who would answer without it. */
  model: z.string().min(1).optional(),
  /** So many statements over the documents of the index besides. */
  own: z.int().min(2).max(MOST_OWN).optional(),
});

/** What other jobs gave, told in a few lines that cite them. Its children are rows of job_dependencies. */
const digestInput = z.strictObject({
  kind: z.literal("digest"),
  /** What it is of: a folder of the work root, or a batch. */
  title: z.string().min(1).max(4096),
  level: z.enum(["folder", "batch"]),
  options: z
    .strictObject({
      route: route.optional(),
      model: z.string().min(1).optional(),
      lines: z.int().positive().max(100).optional(),
    })
    .optional(),
});

/** A command of the `nightdesk` bin that a schedule runs, by its words. Only schedules queue it. */
const commandInput = z.strictObject({
  kind: z.literal("command"),
  schedule: z.string().min(1),
  /** When it was planned for, ISO 8601. */
  planned_at: z.iso.datetime({ offset: true }),
  command: z.array(z.string()).min(1),
});

export const HOOK_TARGETS = ["command", "webhook", "write_back"] as const;
/** What `on_batch_end` tells, a program or a URL, and what `write_back.when` of a source starts. */
export type HookTarget = (typeof HOOK_TARGETS)[number];

/** What of a batch is told: each of its ends, and, once, that a job of it waits for a person. */
export const HOOK_EVENTS = ["batch_end", "approval_needed"] as const;

/** Something about a batch, for a target of `on_batch_end`. A trigger queues it, whatever ends the batch or parks its jobs. */
const notifyInput = z.strictObject({
  kind: z.literal("notify"),
  event: z.enum(HOOK_EVENTS),
  batch_id: z.uuid(),
  /** Which of its ends: a batch that is opened again ends again. As exact as the database's clock. */
  at: z.iso.datetime(),
  target: z.enum(HOOK_TARGETS),
});

/** What a job works on; the `input` column of its row. */
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

/** The file that a job is about; undefined of one that is about none. */
export const pathOf = (input: JobInput): string | undefined =>
  "path" in input ? input.path : undefined;

/** What a job is bound to; undefined for one that may read all that the sandbox gives. */
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

/** Kinds that a line of a batch may name; Nightdesk itself queues the others. */
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
 * Parses the input of one kind and says what is wrong in words about that kind only.
 * @returns the input, or the reason why it is not one.
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

/** The schema of an extraction is looked at when it is queued, and not each time that its row is read. */
function withGoodSchema(input: JobInput): ReturnType<typeof parseJobInput> {
  const schema = input.kind === "extract" ? input.schema : undefined;
  const problem = schema === undefined ? undefined : schemaProblem(schema);
  return problem === undefined ? { ok: true, input } : { ok: false, reason: `schema: ${problem}` };
}

const embedSchemaFor = (value: Readonly<Record<string, unknown>>) =>
  "chunks" in value ? embedChunksInput : embedTextInput;
