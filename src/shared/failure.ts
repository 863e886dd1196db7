/** What becomes of a job that ends with a code of the outcome. */
export const OUTCOMES = {
  refused: "a result, stored, never retried",
  failed: "final",
  retried:
    "up to 3 attempts, 5 s apart and then doubling, then failed; WORKER_LOST fails the second time",
  parked: "tried again after 10 s, then doubling up to 300 s, without using up an attempt",
  cancelled: "a state of its own, final",
  expired: "a state of its own, final",
  held: "the batch waits",
  command:
    "ends a command; of the codes of commands a job has NOT_FOUND alone, and has failed with it",
} as const;

/**
 * Every code that a user, a row or an exit status can carry, in one table. scripts/write-reference.js writes
 * docs/reference/errors.md from it, and `nightdesk explain` reads it.
 */
export const CODES = {
  PATH_DENIED: { outcome: "refused", meaning: "The path lies outside what may be read." },
  FILE_NOT_FOUND: { outcome: "refused", meaning: "No file of that name below the allowed roots." },
  AMBIGUOUS_PATH: { outcome: "refused", meaning: "The name or path fits several files." },
  PATH_IS_DIRECTORY: { outcome: "refused", meaning: "The path names a directory." },
  FILE_READ_ERROR: { outcome: "refused", meaning: "The file can't be read as text." },
  NO_TEXT_LAYER: {
    outcome: "refused",
    meaning: "The file shows words, but holds no letters that can be read.",
  },
  PAGES_UNREAD: {
    outcome: "refused",
    meaning: "Pages of the file are pictures whose words were not read yet.",
  },
  FILE_ENCRYPTED: { outcome: "refused", meaning: "The file can't be read without its password." },
  FILE_FORMAT_INVALID: {
    outcome: "refused",
    meaning: "The file is broken, or not of the format that its ending names.",
  },
  FILE_EMPTY: { outcome: "refused", meaning: "The file holds no text to work on." },
  FILE_TOO_LARGE: {
    outcome: "refused",
    meaning: "The file, or what reading it takes, is over a limit.",
  },
  CONTENT_NOT_KEPT: {
    outcome: "refused",
    meaning: "The worker reads documents from the database, which does not hold this one's bytes.",
  },
  STORE_FULL: {
    outcome: "refused",
    meaning: "The bytes of a document are not kept: they would go over documents.quota.",
  },
  INVALID_ARGS: {
    outcome: "refused",
    meaning: "The tool call is not valid, or too many files are named.",
  },
  EVIDENCE_NOT_ACQUIRED: {
    outcome: "refused",
    meaning:
      "Nothing was read that the answer could rest on, or what was read does not give it: the message says which.",
  },
  EVIDENCE_INVALID: { outcome: "refused", meaning: "The evidence contradicts itself." },
  EVIDENCE_TRUNCATED: { outcome: "refused", meaning: "The whole file is needed and was cut." },
  UNEXPECTED_TOOL_CALL_SECOND_PASS: {
    outcome: "refused",
    meaning: "The model called a tool where only an answer was allowed.",
  },
  SECOND_PASS_FORMAT_VIOLATION: {
    outcome: "refused",
    meaning: "The answer broke the format twice.",
  },
  CITATION_INVALID: {
    outcome: "refused",
    meaning: "The answer cites nothing, or what was not read.",
  },
  ANSWER_UNSUPPORTED: { outcome: "refused", meaning: "The evidence does not support the answer." },
  CONTEXT_OVERFLOW: { outcome: "refused", meaning: "The prompt does not fit the model's window." },
  MODEL_UNSUPPORTED: { outcome: "refused", meaning: "The model can't do this kind of job." },
  TOOL_UNAVAILABLE: {
    outcome: "refused",
    meaning: "The worker's machine can't carry out a tool that the job needs.",
  },
  TOOL_DENIED: { outcome: "refused", meaning: "The model went on asking for what it may not use." },
  APPROVAL_DENIED: { outcome: "refused", meaning: "Somebody denied what the job needs." },
  APPROVAL_EXPIRED: { outcome: "refused", meaning: "Nobody answered a request in time." },
  WEB_DENIED: {
    outcome: "refused",
    meaning: "The web is off, or the page may not be fetched.",
  },
  WEB_UNAVAILABLE: {
    outcome: "refused",
    meaning: "The page, or the search, can't be had now.",
  },
  WEB_UNREADABLE: { outcome: "refused", meaning: "The page gives no text that can be used." },
  STAGNATED: {
    outcome: "refused",
    meaning: "The investigation went round in circles and found nothing.",
  },
  REVIEW_REJECTED: { outcome: "refused", meaning: "Somebody rejected the answer." },
  UNRESOLVED: {
    outcome: "refused",
    meaning: "The checks of the answer could not be settled: what is missing is on record.",
  },

  MODEL_NOT_FOUND: { outcome: "failed", meaning: "The model host does not have this model." },
  MODEL_OUTPUT_INVALID: { outcome: "failed", meaning: "The model host's reply can't be read." },
  RESULT_UNSTORABLE: { outcome: "failed", meaning: "The database can't take the result." },
  EMBED_MODEL_MISSING: { outcome: "failed", meaning: "The embedder's model files are not there." },
  VERIFY_MODEL_INVALID: {
    outcome: "failed",
    meaning: "The entailment model is not there, or is none.",
  },
  RERANK_MODEL_INVALID: { outcome: "failed", meaning: "The reranker is not there, or is none." },
  OCR_MISSING: { outcome: "failed", meaning: "What reads pictures of pages is not installed." },
  EMBED_DRIFT: { outcome: "failed", meaning: "Stored vectors come from another embedder." },
  MEMORY_ERROR: { outcome: "failed", meaning: "The durable memory can't be used." },
  SOURCE_DENIED: {
    outcome: "failed",
    meaning: "A place that is mirrored does not let Nightdesk in, or leads elsewhere.",
  },
  SOURCE_INVALID: {
    outcome: "failed",
    meaning: "What a place that is mirrored lists or sends can't be used.",
  },
  COMMAND_FAILED: { outcome: "failed", meaning: "The command of a schedule failed." },
  HOOK_FAILED: { outcome: "failed", meaning: "The program or webhook of on_batch_end failed." },

  MODEL_TIMEOUT: { outcome: "retried", meaning: "The model did not answer in time." },
  TOOL_ERROR: { outcome: "retried", meaning: "The tool broke while running." },
  HOOK_UNAVAILABLE: { outcome: "retried", meaning: "The webhook of on_batch_end did not answer." },
  INTERNAL_ERROR: { outcome: "retried", meaning: "A fault of Nightdesk itself." },
  WORKER_LOST: { outcome: "retried", meaning: "The worker that ran the job died." },

  MODEL_UNREACHABLE: { outcome: "parked", meaning: "The model host does not answer." },
  MODEL_OVERLOADED: { outcome: "parked", meaning: "The model host is busy." },
  SOURCE_UNAVAILABLE: {
    outcome: "parked",
    meaning: "A place that is mirrored can't be reached now, or another job mirrors it.",
  },
  DATABASE_UNREACHABLE: { outcome: "parked", meaning: "The database does not answer." },
  QUEUE_UNREACHABLE: { outcome: "parked", meaning: "The queue does not answer." },
  DISK_FULL: { outcome: "parked", meaning: "A disk is full: nothing can be stored." },
  DATABASE_READ_ONLY: { outcome: "parked", meaning: "The database takes no writes." },
  APPROVAL_PENDING: { outcome: "parked", meaning: "Somebody is asked whether a tool may be used." },
  ANSWER_REVIEW_PENDING: {
    outcome: "parked",
    meaning: "Somebody is asked to accept, correct or reject an answer.",
  },
  REVIEW_PENDING: { outcome: "parked", meaning: "Somebody has to say what became of a step." },
  EXAM_PENDING: { outcome: "parked", meaning: "The judge of its statements sits its exam." },
  COMMAND_DELAYED: { outcome: "parked", meaning: "The command of a schedule has to wait." },

  CANCELLED: { outcome: "cancelled", meaning: "Somebody cancelled the job." },
  DUPLICATE: {
    outcome: "cancelled",
    meaning: "The file is a copy of another one of its batch, which is worked in its place.",
  },
  DEADLINE_EXCEEDED: { outcome: "expired", meaning: "The job's deadline passed first." },
  BUDGET_EXCEEDED: {
    outcome: "held",
    meaning: "The batch's budget has no room for its next call.",
  },

  CONFIG_ERROR: { outcome: "command", meaning: "The configuration is not valid." },
  SCHEMA_OUTDATED: { outcome: "command", meaning: "The database schema is not this version's." },
  INPUT_INVALID: { outcome: "command", meaning: "The input is not valid." },
  INVALID_QUERY: { outcome: "command", meaning: "The query is empty or not valid." },
  NOT_FOUND: { outcome: "command", meaning: "There is nothing of that name or id." },
  AMBIGUOUS_ID: { outcome: "command", meaning: "The beginning of an id fits several." },
  SQL_ERROR: { outcome: "command", meaning: "The database refused the statement." },
  REQUEST_TIMEOUT: { outcome: "command", meaning: "A request from outside took too long." },
  USAGE_ERROR: { outcome: "command", meaning: "The command line is not valid." },
} as const satisfies Record<string, { outcome: CodeOutcome; meaning: string }>;

export type CodeOutcome = keyof typeof OUTCOMES;

export type ErrorCode = keyof typeof CODES;
type CodesWith<O extends CodeOutcome> = {
  [C in ErrorCode]: (typeof CODES)[C]["outcome"] extends O ? C : never;
}[ErrorCode];
export type RefusalCode = CodesWith<"refused">;
export type FaultCode = Exclude<ErrorCode, RefusalCode>;

/**
 * A fault of the machinery, thrown. The message names the value, what was expected and what to do next; it
 * never holds document text, a prompt or a credential.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The smallest call of a kind, by which a host shows whether it can do that again. */
export type HostTrial = {
  readonly route: string;
  readonly body: Readonly<Record<string, unknown>>;
};

type HostTrouble = {
  readonly host: string;
  readonly brokeOff?: boolean;
  readonly trial?: HostTrial | undefined;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
};

/** A model host that is down or busy: jobs are parked for it, and wake up together when it is back. */
export class HostFailure extends Failure {
  /** Base URL, `scheme://host[:port][/path]`. */
  readonly host: string;
  /** Whether the host had taken the call when its connection broke. */
  readonly brokeOff: boolean;
  /** Of a call that the host took and failed with: it is not back before that works. */
  readonly trial: HostTrial | undefined;
  /** For how long it asked to be left alone (HTTP 429 with Retry-After); null where it did not. */
  readonly retryAfterMs: number | null;
  /** Set by who knows: another host may do the job. */
  isServedElsewhere = false;

  constructor(
    code: "MODEL_UNREACHABLE" | "MODEL_OVERLOADED",
    message: string,
    { host, brokeOff = false, trial, retryAfterMs = null, cause }: HostTrouble,
  ) {
    super(code, message, cause === undefined ? {} : { cause });
    this.host = host;
    this.brokeOff = brokeOff;
    this.trial = trial;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A domain refusal, as a value: a correct result that is stored and never retried. */
export type Refusal = {
  readonly kind: "refused";
  readonly code: RefusalCode;
  readonly message: string;
};

export const refuse = (code: RefusalCode, message: string): Refusal => ({
  kind: "refused",
  code,
  message,
});

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(CODES, code);

export const isRefusalCode = (code: string): code is RefusalCode =>
  Object.entries(CODES).some(([known, { outcome }]) => known === code && outcome === "refused");
