import { hashJson } from "../schema/json-value.ts";
import type { BatchFormat } from "../store/jobs/batches.ts";
import type { NewJob } from "../store/jobs/insert-jobs.ts";
import { findUnstorable } from "../text/find-unstorable.ts";
import { parseJobInput } from "../job/job.ts";
import type { JobInput } from "../job/job.ts";
import type { ModelNames } from "./model-names.ts";
import { isRequest, parseRequest } from "./openai-request.ts";
import type { Line } from "./read-lines.ts";

/** An unknown model name, and the first line that has it. */
export type UnknownModel = { readonly name: string; readonly line: number };

/** Parses the lines of one file. The first line that is an object decides the format of all, unless the caller gives one. */
export type LineParser = {
  parse(line: Line): ParsedLine;
  /** The format that the lines so far have; `native` before the first object. */
  format(): BatchFormat;
  /** Unknown model names of the file, in the order of their lines; the first fifty. */
  unknownModels(): readonly UnknownModel[];
};

const MOST_NAMES = 50;

export function createLineParser(context: LineContext): LineParser {
  let { format } = context;
  const unknown = new Map<string, UnknownModel>();
  return {
    parse(line) {
      const { parsed, format: lineFormat } = parseLine(line, { ...context, format });
      format = lineFormat;
      if (!parsed.ok && parsed.unknownModel !== undefined && unknown.size < MOST_NAMES) {
        const { unknownModel: name, number } = parsed;
        if (!unknown.has(name)) unknown.set(name, { name, line: number });
      }
      return parsed;
    },
    format: () => format ?? "native",
    unknownModels: () => [...unknown.values()],
  };
}

/** A parser for lines that Nightdesk itself writes: all native. @param affinityOf the model that will answer, or "" */
export const nativeLines = (affinityOf: LineContext["affinityOf"]): LineParser =>
  createLineParser({ format: "native", models: NO_NAMES, affinityOf });

const NO_NAMES: LineContext["models"] = {
  ofChat: () => undefined,
  isEmbedder: () => false,
  isOverridden: false,
  known: [],
};

type ParsedLine =
  | { readonly ok: true; readonly number: number; readonly job: NewJob }
  | {
      readonly ok: false;
      readonly number: number;
      readonly reason: string;
      readonly unknownModel?: string;
    };

type LineContext = {
  /** The format of the file; null until a line decides it. */
  readonly format: BatchFormat | null;
  readonly models: ModelNames;
  /** The model that will answer, or "". */
  readonly affinityOf: (input: JobInput) => string;
  /** The input to queue, or why the job is refused: the configuration can't do it, or its owner may not. */
  readonly admit?: (input: JobInput) => JobInput | string;
  /** The url that each line of OpenAI's Batch must have; without it, any known url. */
  readonly url?: string;
};

const MOST_ID_CHARS = 512;
const MOST_PRIORITY = 100;
type Fields = Readonly<Record<string, unknown>>;
type ParsedJob = { readonly customId: string; readonly priority: number; readonly input: JobInput };
type RefusedLine = { readonly reason: string; readonly unknownModel?: string };

/**
 * Converts a line of the JSONL to a job, or gives the reason why it can't. The reason never holds the line's text, except the
 * name of a model.
 * @returns the parsed line, and the format of the file as this line leaves it
 */
function parseLine(
  line: Line,
  { format, models, affinityOf, admit = (input) => input, url }: LineContext,
): { readonly parsed: ParsedLine; readonly format: BatchFormat | null } {
  const { number } = line;
  const refused = (why: RefusedLine): ParsedLine => ({ ok: false, number, ...why });
  if ("problem" in line) return { format, parsed: refused({ reason: line.problem }) };
  const object = parseObject(line.text);
  if (typeof object === "string") return { format, parsed: refused({ reason: object }) };
  const lineFormat = format ?? (isRequest(object) ? "openai" : "native");
  const read =
    lineFormat === "openai"
      ? parseOpenAiRequest(object, models, url)
      : parseNative(object, { number, models });
  if ("reason" in read) return { format: lineFormat, parsed: refused(read) };
  const input = admit(read.input);
  if (typeof input === "string") return { format: lineFormat, parsed: refused({ reason: input }) };
  const job: NewJob = {
    ...read,
    input,
    inputSha256: hashJson(input),
    affinity: affinityOf(input),
  };
  return { format: lineFormat, parsed: { ok: true, number, job } };
}

function parseOpenAiRequest(
  object: Fields,
  models: ModelNames,
  only: string | undefined,
): ParsedJob | RefusedLine {
  const { url } = object;
  if (only !== undefined && url !== only) {
    return { reason: `url must be ${only}, the endpoint of the batch` };
  }
  const request = parseRequest(object, models);
  if (!request.ok) return request;
  const { customId, input } = request;
  return isCustomId(customId) ? { customId, priority: 0, input } : { reason: ID_EXPECTED };
}

function parseNative(
  object: Fields,
  { number, models }: { readonly number: number; readonly models: ModelNames },
): ParsedJob | RefusedLine {
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

/** Why a row can't store this input, in the words of `findUnstorable`; undefined when it can. */
export const findUnstorableInput = (value: unknown): string | undefined =>
  findUnstorable(value, { mostLevels: 64, numbers: "finite" });

/** The object of a line, or why it is none, to follow the line's number. */
export function parseObject(text: string): Fields | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The engine's message may quote the line, which a reason must not hold: then it has no position of its own.
    const place = /^[^"]* at position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    return `is not valid JSON${place === undefined ? "" : ` (at character ${Number(place) + 1})`}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return "is not a JSON object";
  return findUnstorableInput(value) ?? (value as Fields);
}
