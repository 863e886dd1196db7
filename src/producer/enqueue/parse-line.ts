import type { NewJob } from "../../shared/db/jobs/insert-jobs.ts";
import type { BatchFormat } from "../../shared/db/jobs/batch-format.ts";
import { parseJobInput } from "../../shared/job.ts";
import type { JobInput } from "../../shared/job.ts";
import { findUnstorable } from "./find-unstorable.ts";
import { hashInput } from "./hash-input.ts";
import type { ModelNames } from "./openai/model-names.ts";
import { isRequest, parseRequest } from "./openai/parse-request.ts";
import type { Line } from "./read-lines.ts";

export type ParsedLine =
  | { readonly ok: true; readonly number: number; readonly job: NewJob }
  | {
      readonly ok: false;
      readonly number: number;
      readonly reason: string;
      readonly unknownModel?: string;
    };

export type LineContext = {
  /** What the lines of the file are; null while no line has told it. */
  readonly format: BatchFormat | null;
  readonly models: ModelNames;
  /** The model that will answer, or "". */
  readonly affinityOf: (input: JobInput) => string;
};

const MOST_ID_CHARS = 512;
const MOST_PRIORITY = 100;
type Fields = Readonly<Record<string, unknown>>;
type Read = { readonly customId: string; readonly priority: number; readonly input: JobInput };
type Refused = { readonly reason: string; readonly unknownModel?: string };

/**
 * A line of the JSONL as a job, or why it is none. The reason never holds the line's text, but for the name of a model.
 * @returns the line, and the format of a line that is an object
 */
export function parseLine(
  line: Line,
  { format, models, affinityOf }: LineContext,
): { readonly parsed: ParsedLine; readonly format: BatchFormat | null } {
  const { number } = line;
  const refused = (why: Refused): ParsedLine => ({ ok: false, number, ...why });
  if ("problem" in line) return { format, parsed: refused({ reason: line.problem }) };
  const object = readObject(line.text);
  if (typeof object === "string") return { format, parsed: refused({ reason: object }) };
  const told = format ?? (isRequest(object) ? "openai" : "native");
  const read =
    told === "openai" ? readRequest(object, models) : readNative(object, { number, models });
  if ("reason" in read) return { format: told, parsed: refused(read) };
  const job: NewJob = {
    ...read,
    inputSha256: hashInput(read.input),
    affinity: affinityOf(read.input),
  };
  return { format: told, parsed: { ok: true, number, job } };
}

function readRequest(object: Fields, models: ModelNames): Read | Refused {
  const request = parseRequest(object, models);
  if (!request.ok) return request;
  const { customId, input } = request;
  return isCustomId(customId) ? { customId, priority: 0, input } : { reason: ID_EXPECTED };
}

function readNative(
  object: Fields,
  { number, models }: { readonly number: number; readonly models: ModelNames },
): Read | Refused {
  if (models.isOverridden) return { reason: MODEL_EXPECTED };
  const { custom_id: customId = `line-${number}`, priority = 0, ...rest } = object;
  if (!isCustomId(customId)) return { reason: ID_EXPECTED };
  if (!isPriority(priority)) return { reason: PRIORITY_EXPECTED };
  const parsed = parseJobInput(rest);
  if (parsed.ok) return { customId, priority, input: parsed.input };
  if (!isRequest(object)) return { reason: parsed.reason };
  return {
    reason: `${parsed.reason}. It looks like a line of OpenAI's Batch: --format openai reads those`,
  };
}

const MODEL_EXPECTED =
  "--model is for files of OpenAI's Batch: leave it out; a line of Nightdesk's own names its model in options.model, and a chat in model";

const ID_EXPECTED = `custom_id must be a text of 1 to ${MOST_ID_CHARS} characters`;
const isCustomId = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MOST_ID_CHARS;

const PRIORITY_EXPECTED = `priority must be a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}`;
const isPriority = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(Number(value)) <= MOST_PRIORITY;

function readObject(text: string): Fields | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The engine's message quotes the line; only the place is taken from it.
    const place = /at position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    return `is not valid JSON${place === undefined ? "" : ` (at character ${Number(place) + 1})`}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return "is not a JSON object";
  return findUnstorable(value) ?? (value as Fields);
}
