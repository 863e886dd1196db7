import { z } from "zod";
import { daySchema, whereSchema } from "./document-filter.ts";

export const KINDS = ["ask", "summarize", "embed", "index", "chat"] as const;
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

const askInput = z.strictObject({
  kind: z.literal("ask"),
  question: text,
  options: z
    .strictObject({
      route: route.optional(),
      full: z.boolean().optional(),
      model: z.string().min(1).optional(),
      path_prefix: z.string().min(1).optional(),
      source: z.string().min(1).optional(),
      /** Values in the frontmatter, and the days that documents are of. */
      where: whereSchema.optional(),
      since: daySchema.optional(),
      until: daySchema.optional(),
    })
    .optional(),
});

const summarizeInput = z.strictObject({
  kind: z.literal("summarize"),
  path: z.string().min(1).max(4096),
  options: z
    .strictObject({
      route: route.optional(),
      model: z.string().min(1).optional(),
      length: z.enum(["short", "medium", "long"]).optional(),
      bullets: z.boolean().optional(),
    })
    .optional(),
});

const embedTextInput = z.strictObject({
  kind: z.literal("embed"),
  text: z.union([text, z.array(text).min(1).max(1000)]),
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
      /** Queue an embed job for what changed; true unless it is said otherwise. */
      embed: z.boolean().optional(),
    })
    .optional(),
});

const chatInput = z
  .strictObject({
    kind: z.literal("chat"),
    prompt: text.optional(),
    messages: z
      .array(z.strictObject({ role: z.enum(["system", "user", "assistant"]), content: z.string() }))
      .min(1)
      .optional(),
    model: z.string().min(1).optional(),
    max_tokens: z.int().positive().optional(),
    temperature: z.number().min(0).max(2).optional(),
    response_format: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(
    ({ prompt, messages }) => (prompt === undefined) !== (messages === undefined),
    "needs either prompt or messages, not both",
  );

/** What a job works on; the `input` column of its row. */
export const jobInputSchema = z.union([
  askInput,
  summarizeInput,
  embedTextInput,
  embedChunksInput,
  indexInput,
  chatInput,
]);

export type JobInput = z.infer<typeof jobInputSchema>;
export type AskInput = z.infer<typeof askInput>;
export type SummarizeInput = z.infer<typeof summarizeInput>;
export type EmbedTextInput = z.infer<typeof embedTextInput>;
export type EmbedChunksInput = z.infer<typeof embedChunksInput>;
export type IndexInput = z.infer<typeof indexInput>;
export type ChatInput = z.infer<typeof chatInput>;

const inputByKind = {
  ask: askInput,
  summarize: summarizeInput,
  index: indexInput,
  chat: chatInput,
} as const;

/**
 * Parses the input of one kind and says what is wrong in words about that kind only.
 * @returns the input, or the reason why it is not one.
 */
export function parseJobInput(
  value: Readonly<Record<string, unknown>>,
):
  | { readonly ok: true; readonly input: JobInput }
  | { readonly ok: false; readonly reason: string } {
  const kind = KINDS.find((known) => known === value["kind"]);
  if (kind === undefined) {
    return { ok: false, reason: `kind must be one of ${KINDS.join(", ")}` };
  }
  const schema = kind === "embed" ? embedSchemaFor(value) : inputByKind[kind];
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, input: parsed.data };
  const reason = parsed.error.issues.map((issue) => describeIssue(issue, value)).join("; ");
  return { ok: false, reason };
}

function describeIssue(
  { code, path, message }: z.core.$ZodIssue,
  value: Readonly<Record<string, unknown>>,
): string {
  const [key, ...deeper] = path.map(String);
  if (key === undefined) return message;
  if (code === "invalid_type" && deeper.length === 0 && !(key in value)) return `${key} is missing`;
  return `${path.join(".")}: ${message}`;
}

const embedSchemaFor = (value: Readonly<Record<string, unknown>>) =>
  "chunks" in value ? embedChunksInput : embedTextInput;
