import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { findUnstorable } from "../shared/text/find-unstorable.ts";
import { issueText, ruleWords } from "../shared/config/issue-words.ts";
import { invalid, Refused } from "./failures.ts";

/** Enough for a conversation with a long text. */
const MOST_BYTES = 4_000_000;

/** Reads a body as JSON that rows can store. @throws Refused 400 or 413 */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const type = incoming.headers["content-type"] ?? "";
  if (!/^application\/json\b/i.test(type)) {
    throw invalid("content-type", "Send the body as content-type: application/json.");
  }
  const value = parseJsonBody(await readBody(incoming));
  const problem = findUnstorable(value, { mostLevels: 64, numbers: "finite" });
  if (problem !== undefined) throw invalid("body", `The body ${problem}.`);
  return value;
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of incoming.iterator({ destroyOnReturn: false })) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > MOST_BYTES) {
      const message = `A request without a file has at most ${MOST_BYTES / 1_000_000} MB.`;
      throw new Refused({ status: 413, code: "request_too_large", message });
    }
  }
  return Buffer.concat(pieces).toString("utf8");
}

function parseJsonBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("body", "The body is not valid JSON.");
  }
}

/** Validates a body. @throws Refused 400 with the invalid key */
export function parseRequest<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body, { error: ruleWords });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue?.path.map(String).join(".") ?? "";
  throw invalid(
    key === "" ? "body" : key,
    issue === undefined ? "The body is not valid." : issueText(issue),
  );
}
