import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import type { ErrorCode } from "../../shared/failure.ts";
import { parseJson } from "../../shared/json-value.ts";

/** What a request ends with: a result, or a code with a sentence. */
export type Answer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error_code: ErrorCode; readonly error_message: string };

export type Limits = {
  readonly lineBytes: number;
  /** Requests at once; further lines are not read before one of them has ended. */
  readonly atOnce: number;
};

type Lines = {
  readonly input: AsyncIterable<Uint8Array>;
  /** Writes one answer; resolves when the next may be written. */
  readonly write: (line: string) => Promise<void>;
  readonly limits: Limits;
};

const requestSchema = z.strictObject({
  id: z.union([z.string().min(1).max(200), z.int()]),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

export type Request = z.infer<typeof requestSchema>;

/**
 * Answers requests, a line of JSON each, in the order in which they end, until the input ends and all are answered. What is
 * no request is answered as well, with the id null.
 * @param handle never throws
 */
export async function serveLines(
  { input, write, limits }: Lines,
  handle: (request: Request) => Promise<Answer>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const give = (id: Request["id"] | null, answer: Answer): Promise<void> =>
    write(JSON.stringify({ id, ...answer }));
  for await (const line of linesOf(input, limits.lineBytes)) {
    const request = line === undefined ? tooLong(limits) : parseRequest(line);
    if ("ok" in request) {
      await give(null, request);
      continue;
    }
    const run = handle(request)
      .then((answer) => give(request.id, answer))
      .finally(() => running.delete(run));
    running.add(run);
    if (running.size >= limits.atOnce) await Promise.race(running);
  }
  await Promise.all(running);
}

const LF = 0x0a;

/** Lines without blank ones; undefined for one that is too long, of which nothing is kept. */
async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<string | undefined> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const add = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes <= mostBytes) parts.push(part);
    else parts = [];
  };
  const end = (): string | undefined => {
    const line = bytes > mostBytes ? undefined : Buffer.concat(parts).toString("utf8");
    [parts, bytes] = [[], 0];
    return line;
  };
  for await (const chunk of input) {
    let start = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, start)) {
      add(chunk.subarray(start, at));
      const line = end();
      if (line?.trim() !== "") yield line;
      start = at + 1;
    }
    add(chunk.subarray(start));
  }
  if (bytes > 0) yield end();
}

const invalid = (message: string): Answer => ({
  ok: false,
  error_code: "INPUT_INVALID",
  error_message: message,
});

const tooLong = ({ lineBytes }: Limits): Answer =>
  invalid(`A request has more than ${lineBytes} bytes. Send a shorter one.`);

function parseRequest(line: string): Request | Answer {
  const read = requestSchema.safeParse(parseJson(line));
  return read.success
    ? read.data
    : invalid('A line is not {"id": string or whole number, "method": string, "params": object}.');
}

/**
 * What a piece of work gives, within a time. It is not stopped by the end of that time, only no longer waited for.
 * @throws Failure REQUEST_TIMEOUT
 */
export async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Failure("REQUEST_TIMEOUT", `It took more than ${ms / 1_000} s. Ask for less.`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
