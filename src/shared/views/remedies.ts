import { CODES, isErrorCode } from "../failure.ts";
import type { ErrorCode } from "../failure.ts";

/** The remedy for each code, beside a second run of the job or the command. */
const REMEDIES: Readonly<Record<ErrorCode, string>> = {
  PATH_DENIED: "Name a file below security.allowed_roots, or add its folder there.",
  FILE_NOT_FOUND: "Correct the path; nightdesk query finds files by their words.",
  AMBIGUOUS_PATH: "Give the whole path from the work root.",
  PATH_IS_DIRECTORY: "Name a file, or a glob such as 'notes/**/*.md'.",
  NO_TEXT_LAYER:
    "Do what its message says: have its pictures read (index.ocr), or print or export the file to a new PDF.",
  PAGES_UNREAD: "Run nightdesk index --ocr, and ask again when its jobs have ended.",
  FILE_ENCRYPTED: "Save the file without a password.",
  FILE_FORMAT_INVALID: "Save the file anew with the program that made it, or correct its ending.",
  FILE_READ_ERROR: "Save the file as UTF-8 text, and check who may read it.",
  FILE_EMPTY:
    "Nothing to do, unless the file should hold text; a scan is read by nightdesk index --ocr.",
  FILE_TOO_LARGE: "Split the file, or raise the limit that its message names.",
  CONTENT_NOT_KEPT: "Set documents.keep to bytes, and run nightdesk index where the files are.",
  STORE_FULL:
    "Raise documents.quota, or run nightdesk forget or nightdesk prune; then index again.",
  INVALID_ARGS:
    "Name eight files at most in a question; else try a stronger model, this one's tool calls can't be read.",
  EVIDENCE_NOT_ACQUIRED: "Index a document with the answer, or name the file in the question.",
  EVIDENCE_INVALID: "Run it again: the file changed while it was read.",
  EVIDENCE_TRUNCATED: "Raise ask.max_chars_full_read, or model.num_ctx.",
  UNEXPECTED_TOOL_CALL_SECOND_PASS: "Try a stronger model for the answer: model.big.",
  SECOND_PASS_FORMAT_VIOLATION: "Try a stronger model for the answer: model.big.",
  CITATION_INVALID: "Try a stronger model for the answer, or ask more narrowly.",
  ANSWER_UNSUPPORTED:
    "The documents do not support the answer. Add one that does, or ask another question.",
  CONTEXT_OVERFLOW: "Raise model.num_ctx, or lower ask.top_n.",
  MODEL_UNSUPPORTED: "Name a model that can do this kind of job in model.name.",
  TOOL_UNAVAILABLE:
    "Run it where that tool is enabled: nightdesk doctor says what a machine lacks.",
  TOOL_DENIED: "Give it a preset with those tools, or word the task so that it needs none of them.",
  APPROVAL_DENIED:
    "Nothing to do, unless it should have been allowed: run it again and approve it.",
  APPROVAL_EXPIRED: "Run it again, and answer with nightdesk approvals review.",
  WEB_DENIED: "Look at tools.web: enabled, ports, only_hosts, deny_hosts and allow_hosts.",
  WEB_UNAVAILABLE: "Look at nightdesk doctor, and at tools.web.search; then run it again.",
  WEB_UNREADABLE: "Raise tools.web.max_bytes or ask.max_chars_full_read, or name another page.",
  STAGNATED: "Index a document with the answer, ask more narrowly, or try a stronger model.",
  REVIEW_REJECTED: "Nothing to do: the message gives the reviewer's reason.",
  UNRESOLVED:
    "Index the documents that the view constraints names, then: nightdesk batch rerun BATCH --unresolved.",
  MODEL_NOT_FOUND: "Pull the model on its host, or correct the setting that names it.",
  MODEL_OUTPUT_INVALID: "Look at the run: nightdesk runs show. A larger max_tokens may do.",
  RESULT_UNSTORABLE: "Lower model.max_tokens, or split the job into smaller ones.",
  EMBED_MODEL_MISSING: "Fetch the embedder's files: nightdesk models fetch.",
  VERIFY_MODEL_INVALID:
    "Fetch the files of verify.entailment.model_id: nightdesk models fetch; nightdesk doctor says what is wrong.",
  OCR_MISSING: "Install what reads pictures: nightdesk models setup ocr.",
  RERANK_MODEL_INVALID:
    "Fetch the files of retrieve.rerank.model_id: nightdesk models fetch; nightdesk doctor says what is wrong.",
  EMBED_DRIFT:
    "Give all workers the same embed.* settings and model, start them again, and run: nightdesk embed.",
  MEMORY_ERROR: "Look at nightdesk doctor.",
  MODEL_TIMEOUT: "Raise model.timeout_s, or give the host less to do at once.",
  SOURCE_DENIED:
    "Correct the address, user or secret of the source (index.sources, remote), and then run nightdesk sync.",
  SOURCE_INVALID: "Correct the address of the source (index.sources, remote), or mend its server.",
  SOURCE_UNAVAILABLE: "Nothing to do once it is back: the job goes on by itself.",
  HOOK_FAILED: "Look at the program or webhook of on_batch_end.",
  HOOK_UNAVAILABLE: "Start the webhook of on_batch_end, or correct its URL.",
  TOOL_ERROR: "Look at the run: nightdesk runs show.",
  INTERNAL_ERROR:
    "Look at the run: nightdesk runs show. It is a fault of Nightdesk; please report it.",
  WORKER_LOST: "Look at the machine's memory: the worker died with this job in hand.",
  MODEL_UNREACHABLE: "Start the model host; the jobs go on by themselves.",
  MODEL_OVERLOADED: "Nothing to do: the jobs go on by themselves when the host has room.",
  DATABASE_UNREACHABLE: "Check the database; the jobs go on by themselves.",
  QUEUE_UNREACHABLE: "Check the queue; the jobs go on by themselves.",
  CANCELLED: "Nothing to do: somebody cancelled it.",
  DUPLICATE:
    "Read the result of the job that its message names; to have it worked as well: nightdesk batch rerun BATCH --where error_code=DUPLICATE.",
  DEADLINE_EXCEEDED: "Give the batch more time, or begin earlier.",
  BUDGET_EXCEEDED: "Raise the budget; the batch goes on by itself.",
  COMMAND_FAILED: "Run the command by hand, and look at what it says.",
  DISK_FULL: "Free some space on the disk that the message names; the jobs go on by themselves.",
  DATABASE_READ_ONLY:
    "Let the database take writes again, or name the primary; the jobs go on by themselves.",
  APPROVAL_PENDING: "Answer it: nightdesk approvals review.",
  ANSWER_REVIEW_PENDING: "Decide it: nightdesk reviews list.",
  REVIEW_PENDING: "Report the outcome of the step: nightdesk approvals list --uncertain.",
  EXAM_PENDING:
    "Nothing to do: the jobs go on when the exam has ended, or after verify.judge.exam_wait_s.",
  COMMAND_DELAYED: "Nothing to do: it is tried again by itself.",
  CONFIG_ERROR: "Correct what its message names, by file and line; nightdesk config show.",
  SCHEMA_OUTDATED: "Bring the database to this version: nightdesk migrate.",
  INPUT_INVALID: "Correct what its message names.",
  INVALID_QUERY: 'Look for words, a "phrase", a beginning*, or -without.',
  NOT_FOUND: "Look at what there is: nightdesk batch list, nightdesk runs list.",
  AMBIGUOUS_ID: "Give more of the id.",
  SQL_ERROR: "Correct the statement; docs/reference/views.md names the columns of each view.",
  REQUEST_TIMEOUT: "Send the request again; nightdesk doctor looks at what may be slow.",
  USAGE_ERROR: "Look at the help of the command: nightdesk COMMAND --help.",
};

/** Remedies for the model `extractive`, for which no stronger model exists. */
const OF_QUOTING: Partial<Readonly<Record<ErrorCode, string>>> = {
  INVALID_ARGS: "Name eight files at most in a question.",
  UNEXPECTED_TOOL_CALL_SECOND_PASS: "Ask more narrowly, or name the file in the question.",
  SECOND_PASS_FORMAT_VIOLATION: "Ask more narrowly, or name the file in the question.",
  CITATION_INVALID: "Ask more narrowly, or name the file in the question.",
  STAGNATED: "Index a document with the answer, or ask more narrowly.",
};

const IN_A_RUN = "Look at the run: nightdesk runs show.";

/** The meaning and the remedy of a code. @param model that answered; null if none did or it is unknown */
export function explainCode(
  code: string,
  model: string | null,
): { readonly meaning: string; readonly remedy: string } {
  if (!isErrorCode(code)) return { meaning: "", remedy: IN_A_RUN };
  const quoting = model === "extractive" ? OF_QUOTING[code] : undefined;
  return { meaning: CODES[code].meaning, remedy: quoting ?? REMEDIES[code] };
}
