/** What happens to a job that ends with a code of each outcome. */
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
const MEANINGS = {
  refused: {
    PATH_DENIED: "The path lies outside what may be read.",
    FILE_NOT_FOUND: "No file of that name below the allowed roots.",
    AMBIGUOUS_PATH: "The name or path fits several files.",
    PATH_IS_DIRECTORY: "The path names a directory.",
    FILE_READ_ERROR: "The file can't be read as text.",
    NO_TEXT_LAYER: "The file shows words, but holds no letters that can be read.",
    PAGES_UNREAD: "Pages of the file are pictures whose words were not read yet.",
    FILE_ENCRYPTED: "The file can't be read without its password.",
    FILE_FORMAT_INVALID: "The file is broken, or not of the format that its ending names.",
    FILE_EMPTY: "The file holds no text to work on.",
    FILE_TOO_LARGE: "The file, or what reading it takes, is over a limit.",
    CONTENT_NOT_KEPT:
      "The worker reads documents from the database, which does not hold this one's bytes.",
    STORE_FULL: "The bytes of a document are not kept: they would go over documents.quota.",
    INVALID_ARGS: "The tool call is not valid, or too many files are named.",
    EVIDENCE_NOT_ACQUIRED:
      "Nothing was read that the answer could rest on, or what was read does not give it: the message says which.",
    EVIDENCE_INVALID: "The evidence contradicts itself.",
    EVIDENCE_TRUNCATED: "The whole file is needed and was cut.",
    UNEXPECTED_TOOL_CALL_SECOND_PASS: "The model called a tool where only an answer was allowed.",
    SECOND_PASS_FORMAT_VIOLATION: "The answer broke the format twice.",
    CITATION_INVALID: "The answer cites nothing, or what was not read.",
    ANSWER_UNSUPPORTED: "The evidence does not support the answer.",
    CONTEXT_OVERFLOW: "The prompt does not fit the model's window.",
    MODEL_UNSUPPORTED: "The model can't do this kind of job.",
    TOOL_UNAVAILABLE: "The worker's machine can't carry out a tool that the job needs.",
    TOOL_DENIED: "The model went on asking for what it may not use.",
    APPROVAL_DENIED: "Somebody denied what the job needs.",
    APPROVAL_EXPIRED: "Nobody answered a request in time.",
    WEB_DENIED: "The web is off, or the page may not be fetched.",
    WEB_UNAVAILABLE: "The page, or the search, can't be had now.",
    WEB_UNREADABLE: "The page gives no text that can be used.",
    STAGNATED: "The investigation went round in circles and found nothing.",
    REVIEW_REJECTED: "Somebody rejected the answer.",
    UNRESOLVED: "The checks of the answer could not be settled: what is missing is on record.",
  },
  failed: {
    MODEL_NOT_FOUND: "The model host does not have this model.",
    MODEL_OUTPUT_INVALID: "The model host's reply can't be read.",
    RESULT_UNSTORABLE: "The database can't take the result.",
    EMBED_MODEL_MISSING: "The embedder's model files are not there.",
    VERIFY_MODEL_INVALID: "The entailment model is not there, or is none.",
    RERANK_MODEL_INVALID: "The reranker is not there, or is none.",
    OCR_MISSING: "What reads pictures of pages is not installed.",
    EMBED_DRIFT: "Stored vectors come from another embedder.",
    MEMORY_ERROR: "The durable memory can't be used.",
    SOURCE_DENIED: "A place that is mirrored does not let Nightdesk in, or leads elsewhere.",
    SOURCE_INVALID: "What a place that is mirrored lists or sends can't be used.",
    COMMAND_FAILED: "The command of a schedule failed.",
    HOOK_FAILED: "The program or webhook of on_batch_end failed.",
  },
  retried: {
    MODEL_TIMEOUT: "The model did not answer in time.",
    TOOL_ERROR: "The tool broke while running.",
    HOOK_UNAVAILABLE: "The webhook of on_batch_end did not answer.",
    INTERNAL_ERROR: "A fault of Nightdesk itself.",
    WORKER_LOST: "The worker that ran the job died.",
  },
  parked: {
    MODEL_UNREACHABLE: "The model host does not answer.",
    MODEL_OVERLOADED: "The model host is busy.",
    SOURCE_UNAVAILABLE:
      "A place that is mirrored can't be reached now, another job mirrors it, or the work root is gone.",
    DATABASE_UNREACHABLE: "The database does not answer.",
    QUEUE_UNREACHABLE: "The queue does not answer.",
    DISK_FULL: "A disk is full: nothing can be stored.",
    DATABASE_READ_ONLY: "The database takes no writes.",
    APPROVAL_PENDING: "Somebody is asked whether a tool may be used.",
    ANSWER_REVIEW_PENDING: "Somebody is asked to accept, correct or reject an answer.",
    REVIEW_PENDING: "Somebody has to say what became of a step.",
    EXAM_PENDING: "The judge of its statements sits its exam.",
    COMMAND_DELAYED: "The command of a schedule has to wait.",
  },
  cancelled: {
    CANCELLED: "Somebody cancelled the job.",
    DUPLICATE: "The file is a copy of another one of its batch, which is worked in its place.",
  },
  expired: {
    DEADLINE_EXCEEDED: "The job's deadline passed first.",
  },
  held: {
    BUDGET_EXCEEDED: "The batch's budget has no room for its next call.",
  },
  command: {
    CONFIG_ERROR: "The configuration is not valid.",
    SCHEMA_OUTDATED: "The database schema is not this version's.",
    INPUT_INVALID: "The input is not valid.",
    INVALID_QUERY: "The query is empty or not valid.",
    NOT_FOUND: "There is nothing of that name or id.",
    AMBIGUOUS_ID: "The beginning of an id fits several.",
    SQL_ERROR: "The database refused the statement.",
    REQUEST_TIMEOUT: "A request from outside took too long.",
    USAGE_ERROR: "The command line is not valid.",
  },
} as const satisfies Record<CodeOutcome, Readonly<Record<string, string>>>;

export type CodeOutcome = keyof typeof OUTCOMES;

export type RefusalCode = keyof (typeof MEANINGS)["refused"];
export type ErrorCode = {
  [O in CodeOutcome]: keyof (typeof MEANINGS)[O];
}[CodeOutcome];

/** The same by code. */
export const CODES = Object.fromEntries(
  Object.entries(MEANINGS).flatMap(([outcome, meanings]) =>
    Object.entries(meanings).map(([code, meaning]) => [code, { outcome, meaning }]),
  ),
) as Readonly<Record<ErrorCode, { readonly outcome: CodeOutcome; readonly meaning: string }>>;

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

/** The smallest call of a kind, which proves that a host can do it again. */
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

/** A model host is down or busy: jobs are parked for it, and all resume when it is back. */
export class HostFailure extends Failure {
  /** Base URL, `scheme://host[:port][/path]`. */
  readonly host: string;
  /** Whether the host had accepted the call when its connection broke. */
  readonly brokeOff: boolean;
  /** Set if the host accepted the call and failed: it counts as down until this trial works. */
  readonly trial: HostTrial | undefined;
  /** The delay that it requested (HTTP 429 with Retry-After); null without one. */
  readonly retryAfterMs: number | null;
  /** Whether another host can do the job; set by a caller that knows. */
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
  Object.hasOwn(MEANINGS.refused, code);
