import { z } from "zod";
import { VERIFIED_KINDS } from "../job/job.ts";
import { findCloseNames } from "../text/close-names.ts";
import { hostsSchema } from "./hosts-schema.ts";
import { JUDGE_FORMS, NEGATIVE_MODES, VERIFY_MODES } from "../job/verify-modes.ts";
import { LANGUAGE_SETTINGS } from "../text/language.ts";
import { EFFECTS, SERVER_NAME, TOOL_NAME } from "./mcp-servers.ts";
import { isNetwork } from "../http/network-address.ts";
import { EMBED_SOURCES, FROM_HOSTS, PROVIDER_NAMES, WEB_SEARCHES } from "./providers.ts";
import { isZone } from "../schedules/time.ts";
import { MCP_TOOLS, SUBMIT_KINDS } from "./mcp-tools.ts";
import { parseWindow } from "../schedules/windows.ts";

/** Encodings of texts that are not Unicode, by the names of the Encoding Standard that Nightdesk reads; Node decodes each of them. */
export const ENCODINGS: readonly string[] = [
  ...["big5", "euc-jp", "euc-kr", "gb18030", "gbk", "shift_jis", "ibm866", "koi8-r", "koi8-u"],
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15].map((part) => `iso-8859-${part}`),
  ...["macintosh", "x-mac-cyrillic", "windows-874"],
  ...Array.from({ length: 9 }, (_, at) => `windows-${1250 + at}`),
];

/** The encoding that was probably meant: the user may have written another label of it, such as `latin1` or `sjis`. */
function closeEncoding(written: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(written);
    if (ENCODINGS.includes(encoding)) return encoding;
  } catch {
    // The label is unknown.
  }
  return findCloseNames(written, ENCODINGS)[0];
}

// `expected` completes the message "expected …".
const format = (pattern: RegExp, expected: string) =>
  z.string().regex(pattern, { error: expected });
const wholeFrom = (least: number) => z.int({ error: `a whole number from ${least}` }).min(least);
const wholeBetween = (least: number, most: number) =>
  z
    .int({ error: `a whole number from ${least} to ${most}` })
    .min(least)
    .max(most);
const count = wholeFrom(1);
const fraction = z.number().min(0).max(1);
const name = z.string().trim().min(1);

/** A span of time in which jobs may run. parseWindow words the problem. */
const window = name.superRefine((text, context) => {
  const parsed = parseWindow(text);
  if (!parsed.ok) context.addIssue({ code: "custom", message: parsed.expected });
});

const network = name.refine(isNetwork, {
  error: 'an address or a network like "127.0.0.1", "10.0.0.0/8" or "fd00::/8"',
});

const extensions = z.array(format(/^\.[a-z0-9]+$/, 'an extension like ".md"')).min(1);

const securitySchema = z.strictObject({
  allowed_roots: z.array(name).min(1),
  allowed_exts: extensions,
  deny_absolute_paths: z.boolean(),
  deny_hidden_paths: z.boolean(),
  allow_any_path: z.boolean(),
  auto_create_allowed_roots: z.boolean(),
  roots_must_be_within_security_root: z.boolean(),
  max_file_bytes: count,
  allow_hard_links: z.boolean(),
  allow_racy_reads: z.boolean(),
});

const digest = format(/^[0-9a-f]{64}$/, "64 hexadecimal digits in lower case");
const dtype = z.enum(["fp32", "fp16", "q8", "int8", "uint8", "q4", "q4f16", "bnb4"]);

const modelSchema = z.strictObject({
  provider: z.enum([...PROVIDER_NAMES, FROM_HOSTS]),
  base_url: z.string().nullable(),
  name: name.nullable(),
  fast: name.nullable(),
  big: name.nullable(),
  prefer_fast: z.boolean(),
  big_triggers: z.array(name),
  num_ctx: count,
  temperature: z.number().min(0).max(2),
  seed: wholeFrom(0),
  max_tokens: count,
  max_tokens_big_second: count,
  timeout_s: z.number().positive(),
  timeout_s_big_second: z.number().positive(),
  keep_alive: format(
    /^(-?\d+(\.\d+)?(ns|us|ms|s|m|h))+$|^0$/,
    'a duration in quotes like "30m", "-1m" (for ever) or "0"',
  ),
  aliases: z.record(z.string(), name),
  sees: z.array(name),
  digest: digest.nullable(),
  parallel: wholeBetween(1, 64).nullable(),
  breaker_failures: count,
  transformers: z.strictObject({
    dtype,
    device: name,
    recycle_replies: count,
    recycle_mb: count,
  }),
});

const askSchema = z.strictObject({
  top_n: count,
  index_first_s: z.number().positive().max(3_600).nullable(),
  read_full_on_thorough: z.boolean(),
  max_chars_full_read: wholeBetween(200, 10_000_000),
  summary_triggers: z.array(name),
  full_evidence_triggers: z.array(name),
  citations: z.strictObject({
    enabled: z.boolean(),
    strict: z.boolean(),
    require_in_snapshot: z.boolean(),
    heading_match: z.enum(["exact", "prefix", "ignore"]),
    normalize_heading: z.boolean(),
  }),
  quotes: z.enum(["off", "record", "require"]),
  unsupported: z.enum(["repair", "drop", "refuse", "flag"]),
  answer_form: z.enum(["auto", "claims", "text"]),
});

const verifySchema = z.strictObject({
  mode: z.enum(VERIFY_MODES),
  rounds: wholeBetween(0, 8),
  sample_percent: z.number().min(0).max(100),
  model: name.nullable(),
  steps: wholeBetween(1, 50),
  min_sources: wholeBetween(1, 2),
  newest_wins: z.boolean(),
  negative: z.enum(NEGATIVE_MODES),
  budget: z.strictObject({ tokens: count.nullable(), calls: count.nullable() }),
  priority: wholeBetween(-100, 100),
  tiers: z.partialRecord(z.enum(VERIFIED_KINDS), z.array(name).min(1)),
  judge: z.strictObject({
    /** same: the model that answered; off; or a name. With two names both judge. */
    model: z.union([name, z.tuple([name, name])]),
    form: z.enum(JUDGE_FORMS),
    supported_means: z.enum(["yes", "no"]),
    exam_wait_s: count,
  }),
  entailment: z.strictObject({
    provider: z.enum(["off", "transformers"]),
    model_id: name,
    digest: digest.nullable(),
    dtype,
    local_model_path: name.nullable(),
    timeout_s: z.number().positive(),
  }),
});

const documentsSchema = z
  .strictObject({
    keep: z.enum(["bytes", "text", "none"]),
    quota: count,
    from: z.enum(["files", "store"]),
    reader: z.strictObject({
      timeout_s: z.number().positive(),
      memory_mb: wholeFrom(100),
      max_chars: wholeBetween(1_000, 10_485_760),
      max_pages: count,
      max_entries: count,
      max_unpacked_mb: count,
    }),
  })
  .refine(({ keep, from }) => keep !== "text" || from !== "store", {
    path: ["keep"],
    error:
      "bytes, or none for what is stored already, where documents.from is store: a worker without files reads documents by their bytes",
  });

/** Settings of OCR. */
const ocrSchema = z.strictObject({
  languages: z
    .array(format(/^[a-z]{3}(?:_[a-z]+)?$/, 'the name of a model like "eng"'))
    .min(1)
    .max(8),
  second: z.enum(["fast", "none"]).default("fast"),
  /** The folder of OCR models that are not installed as packages. */
  models_directory: name.nullable().default(null),
  page_timeout_s: wholeBetween(5, 600).default(60),
  memory_mb: wholeFrom(300).default(600),
  /** A vision model at an entry of `hosts`, which gets the picture of each doubtful figure. */
  confirm: z.strictObject({ host: name, model: name }).nullable().default(null),
});

const language = z.enum(LANGUAGE_SETTINGS);

/** What happens to a new file. The first rule with a job that matches wins. */
const watchRuleSchema = z.strictObject({
  /** A glob for its path below the root of the source. */
  match: name.optional(),
  formats: z
    .array(format(/^[a-z]+$/, 'the name of a format like "pdf"'))
    .min(1)
    .optional(),
  /** One of these tags is in its frontmatter. */
  tags: z.array(name).min(1).optional(),
  /** One of these labels is in its newest classification. A rule without `label` and `unclassified` applies to new files. */
  label: z.union([name, z.array(name).min(1)]).optional(),
  /** Matches files whose classification was refused or failed. */
  unclassified: z.literal(true).optional(),
  /** The rule also applies to attachments of mails. */
  attachments: z.literal(true).optional(),
  /** A line of a batch file without its path. */
  job: z.looseObject({ kind: z.enum(["summarize", "extract", "ask", "investigate"]) }),
  /** Relative to the work root. */
  move_to: name.optional(),
});

const watchSchema = z.strictObject({
  every_s: wholeBetween(1, 86_400).default(30),
  rest_s: wholeBetween(1, 86_400).default(10),
  rules: z.array(watchRuleSchema).default([]),
});

/** The encoding of texts that are not Unicode and do not declare theirs. */
const encoding = name.superRefine((written, context) => {
  if (ENCODINGS.includes(written)) return;
  const meant = closeEncoding(written);
  const hint = meant === undefined ? `one of ${ENCODINGS.join(", ")}` : `did you mean ${meant}?`;
  context.addIssue({ code: "custom", message: `the name of an encoding; ${hint}` });
});

const variable = format(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable");

/** A remote place that is mirrored into the root of a source. check-across-keys.ts checks what each kind needs. */
const remoteSchema = z.strictObject({
  url: name,
  user: name.optional(),
  secret_env: variable.optional(),
  secret_file: name.optional(),
  ca_file: name.optional(),
  /** For a mailbox. */
  folders: z.array(name).min(1).optional(),
  /** For S3 with the bucket in the host name. */
  bucket: format(/^[\w.-]{1,255}$/, "the name of a bucket").optional(),
  /** For S3. */
  region: format(/^[\w-]{1,60}$/, "a region, like eu-central-1").optional(),
  /** Networks that may be accessed beside the public internet. */
  allowed_networks: z.array(network).default([]),
  max_files: wholeBetween(1, 1_000_000).default(20_000),
  max_mb: count.default(20_000),
  mb_per_run: count.default(2_000),
  timeout_s: wholeBetween(1, 600).default(60),
});

/** Kinds of places that a source can mirror. */
const REMOTE_KINDS = ["webdav", "imap", "s3", "paperless"] as const;

/** Which extracted fields the write-back writes to the place of the file, and as what; null for none. */
const writeBackSchema = z.strictObject({
  correspondent: name.nullable().default("correspondent"),
  document_type: name.nullable().default("type"),
  tags: name.nullable().default("tags"),
  /** The custom field there of each extracted field. */
  custom_fields: z.record(name, name).default({}),
  /** Whether missing correspondents, types and custom fields are created there; tags never are. */
  create: z.boolean().default(false),
  /** Whether a different value is replaced that existed when the file was read. */
  replace: z.boolean().default(false),
  /** What starts the write-back: the command only, or also the end of a batch. */
  when: z.enum(["command", "batch_end"]).default("command"),
});

const sourceSchema = z.strictObject({
  name: format(/^[a-z0-9][a-z0-9_-]*$/, "lower-case letters, digits, - and _"),
  root: name,
  /** A subset of security.allowed_exts; all of them by default. */
  exts: extensions.optional(),
  /** The default is index.language. */
  language: language.optional(),
  encoding: encoding.optional(),
  one_device: z.boolean().optional(),
  watch: watchSchema.optional(),
  from: z.enum(REMOTE_KINDS).optional(),
  remote: remoteSchema.optional(),
  write_back: writeBackSchema.optional(),
});

export const embedSchema = z.strictObject({
  provider: z.enum(EMBED_SOURCES),
  model_id: name,
  query_prefix: z.string().max(500).nullable(),
  passage_prefix: z.string().max(500).nullable(),
  dimensions: count.nullable(),
  precision: z.enum(["full", "half"]),
  batch_size: count,
  local_model_path: name.nullable(),
  cache_dir: name.nullable(),
  dtype,
  device: name,
  pooling: z.enum(["mean", "cls"]),
  normalize: z.literal(true, { error: "true: vectors are compared by their direction alone" }),
  max_length: count,
  timeout_s: z.number().positive(),
  recycle_texts: count,
  recycle_mb: count,
  base_url: z.string().nullable(),
});

const retrieveSchema = z.strictObject({
  lexical_k: count,
  vector_k: count,
  rrf_k: count,
  vector_weight: z.number().min(0).nullable(),
  neighbour_weight: fraction,
  feedback: z.enum(["off", "auto", "rm3"]),
  per_document: count,
  floor: fraction,
  exact_below: count,
  rerank: z.strictObject({
    provider: z.enum(["off", "transformers"]),
    model_id: name,
    digest: digest.nullable(),
    dtype,
    local_model_path: name.nullable(),
    timeout_s: z.number().positive().max(600),
    candidates: wholeBetween(1, 500),
  }),
});

const webHost = format(
  /^(?:\*\.)?(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::\d{1,5})?$/,
  'a host in lower case like "example.org", "*.example.org" or "127.0.0.1:8080"',
);

const webSchema = z.strictObject({
  enabled: z.boolean(),
  ask: z.enum(["unknown", "always"]),
  user_agent: format(/^[\x20-\x7e]{1,200}$/, "up to 200 characters of ASCII"),
  ports: z.array(wholeBetween(1, 65_535)).min(1),
  only_hosts: z.array(webHost).nullable(),
  deny_hosts: z.array(webHost),
  allow_hosts: z.array(webHost),
  max_bytes: wholeBetween(1, 50_000_000),
  timeout_s: z.number().positive().max(240),
  fetches_per_minute: wholeBetween(1, 6_000),
  search: z.strictObject({
    provider: z.enum(WEB_SEARCHES).nullable(),
    base_url: name.nullable(),
    key_env: format(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable").nullable(),
    key_file: name.nullable(),
    per_minute: wholeBetween(1, 6_000),
    breaker_failures: count,
  }),
});

const effect = z.enum(EFFECTS);

/** check-mcp-servers.ts checks its rules across keys. */
const mcpServerSchema = z.strictObject({
  name: format(SERVER_NAME, "up to 32 lower-case letters, digits and _, a letter first"),
  command: name.optional(),
  args: z.array(z.string()).optional(),
  env: z.record(variable, z.string()).optional(),
  pass_env: z.array(variable).optional(),
  url: name.optional(),
  token_env: variable.optional(),
  token_file: name.optional(),
  effect,
  tools: z
    .record(format(TOOL_NAME, "up to 64 letters, digits, _, - and ."), effect)
    .refine((tools) => Object.keys(tools).length > 0, { error: "at least one tool" })
    .optional(),
  evidence: z.boolean().optional(),
  timeout_s: z.number().positive().max(240).optional(),
});

const mcpSchema = z.strictObject({
  tools: z.array(z.enum(MCP_TOOLS)),
  roots: z.array(name),
  submit_preset: name.nullable(),
  submit_kinds: z.array(z.enum(SUBMIT_KINDS)),
  max_open_jobs: wholeBetween(1, 100_000),
  http: z.strictObject({
    port: wholeBetween(1, 65_535),
    token_env: variable,
    allowed_origins: z.array(
      format(/^https?:\/\/[^/]+$/, 'an origin like "http://127.0.0.1:3000"'),
    ),
    max_body_bytes: wholeBetween(1_000, 16_000_000),
  }),
});

const budgetKeys = {
  tokens: count.nullable(),
  calls: count.nullable(),
  wall_time_s: z.number().positive().nullable(),
  money: z.number().positive().nullable(),
};

const hostNames = z.array(
  format(/^[a-z0-9.-]+$|^\[[0-9a-f:]+\]$/i, "a host name or an address, without a port"),
);
const tls = z.strictObject({ cert_file: name.nullable(), key_file: name.nullable() });

const dashboardSchema = z.strictObject({
  public_url: format(
    /^https?:\/\/[^\s/]+(?:\/\S*)?$/,
    "an address like https://desk.example.net",
  ).nullable(),
  host: name,
  port: wholeBetween(0, 65_535),
  allowed_hosts: hostNames,
  published: z.boolean(),
  // Its length is checked where it is used, in a message that does not repeat it.
  token: z.string().nullable(),
  tls,
  trusted_proxy: z.strictObject({
    addresses: z.array(network),
    user_header: format(/^[a-z0-9-]+$/i, "the name of a header like X-Forwarded-User").nullable(),
  }),
  session_hours: z.number().positive().max(168),
  zone: name
    .refine((zone) => isZone(zone), { error: "an IANA time zone like Europe/Berlin, or null" })
    .nullable(),
  connections: wholeBetween(2, 20),
  statement_timeout_s: z.number().positive().max(120),
  uploads: z.boolean(),
});

const serveSchema = z.strictObject({
  with_up: z.boolean(),
  host: name,
  port: wholeBetween(0, 65_535),
  allowed_hosts: hostNames,
  tls,
  connections: wholeBetween(2, 20),
  max_file_mb: wholeBetween(1, 2_000),
  max_lines: wholeBetween(1, 1_000_000),
  file_days: wholeBetween(1, 365),
  upload_timeout_s: wholeBetween(15, 86_400),
  answer_timeout_s: wholeBetween(1, 3_600),
  limits: z.strictObject({
    requests_per_minute: count,
    mb_per_day: count,
    open_jobs: count,
  }),
});

/** The whole configuration. Every key is present in configs/default.yaml, with a comment. */
export const configSchema = z.strictObject({
  workroot: name.nullable(),
  security: securitySchema,
  database: z.strictObject({ url: name, direct_url: name.nullable(), directory: name }),
  queue: z.strictObject({
    backend: z.enum(["redis", "postgres"]),
    redis_url: z.string().trim(),
    prefix: format(/^[a-z][a-z0-9_-]*$/, "a letter, then lower-case letters, digits, - and _"),
    concurrency: count,
  }),
  model: modelSchema,
  hosts: hostsSchema,
  ask: askSchema,
  verify: verifySchema,
  index: z.strictObject({
    sources: z.array(sourceSchema).min(1),
    language,
    // A tsvector of Postgres has at most 1 MB, which the words of a longer chunk could exceed.
    chunking: z.strictObject({ max_chars: wholeBetween(100, 20_000), overlap: wholeFrom(0) }),
    secrets: z.enum(["off", "warn", "withhold_remote"]),
    ocr: ocrSchema.nullable(),
  }),
  documents: documentsSchema,
  embed: embedSchema,
  retrieve: retrieveSchema,
  runs: z.strictObject({
    preview_chars: wholeFrom(0),
    reuse: z.enum(["by_digest", "always", "never"]),
    keep_days: count.nullable(),
    keep_outputs_days: count.nullable(),
    keep_reasoning_days: wholeFrom(0).nullable(),
    pin_until_exported: z.boolean(),
  }),
  memory: z.strictObject({ enabled: z.boolean() }),
  tools: z.strictObject({
    presets: z.record(z.string(), z.array(name).min(1)),
    limits: z.strictObject({
      steps: count,
      calls: count,
      tokens: count,
      time_s: z.number().positive(),
      batch_artifact_mb: count,
    }),
    drift: z.strictObject({
      notes_every: count.nullable(),
      same_query: wholeFrom(2).nullable(),
      same_place: wholeFrom(2).nullable(),
      sources: count.nullable(),
      failures: wholeFrom(2).nullable(),
      no_new_evidence: wholeFrom(2).nullable(),
    }),
    unattended: z.enum(["park", "deny", "fail"]),
    approval_hours: z.number().positive().max(8760),
    shell: z.strictObject({ ask: z.enum(["never", "listed", "always"]) }),
    web: webSchema,
    mcp: z.strictObject({
      servers: z.array(mcpServerSchema).max(20, { error: "at most 20 servers" }),
    }),
  }),
  mcp: mcpSchema,
  // Every command checks each of them, which takes milliseconds.
  schedules: z
    .array(
      z.strictObject({
        name,
        cron: name,
        timezone: name,
        command: z.array(z.string()).min(1),
        /** The default is 12h. */
        catch_up: name.optional(),
        /** The default is true. */
        enabled: z.boolean().optional(),
      }),
    )
    .max(100, { error: "at most 100 schedules" }),
  on_batch_end: z.strictObject({
    command: z.array(z.string()).min(1).nullable(),
    webhook: name.nullable(),
    secret: z.string().nullable(),
    allowed_networks: z.array(network),
    timeout_s: z.number().positive().max(600),
    origins: z.array(z.enum(["file", "schedule", "ad_hoc"])).min(1),
  }),
  windows: z.array(window),
  budgets: z.strictObject({ ...budgetKeys, night: z.strictObject(budgetKeys) }),
  dashboard: dashboardSchema,
  serve: serveSchema,
  metrics: z.strictObject({
    listen: format(
      /^(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9.-]+):\d{1,5}$/,
      'an address and a port like "127.0.0.1:9464"',
    ).nullable(),
  }),
  log: z.strictObject({ level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]) }),
});

/**
 * The values after files, environment and flags, as written. model.base_url and embed.base_url may be invalid: base-url.ts
 * returns the checked URLs.
 */
export type ConfigValues = z.infer<typeof configSchema>;

/** The one configuration of a process: its values and what is derived from them. Frozen; paths are absolute where it says so. */
export type Config = Readonly<ConfigValues> & {
  /** The file that was read, absolute. */
  readonly file: string;
  /** How the file was selected: by flag or environment, by search, made for a folder, or shipped with the program. */
  readonly chosen: "named" | "found" | "folder" | "shipped";
  readonly roots: {
    /** Folder of the configuration file, absolute. */
    readonly configRoot: string;
    /** Absolute; the security root is the same folder. */
    readonly workroot: string;
    /** Absolute folder of the embedded database, its logs and its dumps. */
    readonly databaseDirectory: string;
  };
  /** Where each value came from, by dotted key: a file, `environment NAME` or `flag --name`. */
  readonly origins: ReadonlyMap<string, string>;
};
