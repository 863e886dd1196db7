import type { NewJob } from "../../shared/db/jobs/insert-jobs.ts";
import { parseJobInput } from "../../shared/job.ts";
import type { JobInput } from "../../shared/job.ts";
import { findUnstorable } from "./find-unstorable.ts";
import { hashInput } from "./hash-input.ts";
import type { Line } from "./read-lines.ts";

export type ParsedLine =
  | { readonly ok: true; readonly number: number; readonly job: NewJob }
  | { readonly ok: false; readonly number: number; readonly reason: string };

const MOST_ID_CHARS = 512;
const MOST_PRIORITY = 100;

/** A line of the JSONL as a job, or why it is none. The reason never holds the line's text. @param affinityOf the model that will answer, or "" */
export function parseLine(line: Line, affinityOf: (input: JobInput) => string): ParsedLine {
  const { number } = line;
  const refused = (reason: string): ParsedLine => ({ ok: false, number, reason });
  if ("problem" in line) return refused(line.problem);
  const read = readObject(line.text);
  if (typeof read === "string") return refused(read);
  const { custom_id: customId = `line-${number}`, priority = 0, ...rest } = read;
  if (typeof customId !== "string" || customId === "" || customId.length > MOST_ID_CHARS) {
    return refused(`custom_id must be a text of 1 to ${MOST_ID_CHARS} characters`);
  }
  if (!isPriority(priority)) {
    return refused(`priority must be a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}`);
  }
  const parsed = parseJobInput(rest);
  if (!parsed.ok) return refused(parsed.reason);
  const { input } = parsed;
  const job = { customId, input, inputSha256: hashInput(input), priority };
  return { ok: true, number, job: { ...job, affinity: affinityOf(input) } };
}

const isPriority = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(Number(value)) <= MOST_PRIORITY;

function readObject(text: string): Record<string, unknown> | string {
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
  return findUnstorable(value) ?? (value as Record<string, unknown>);
}
