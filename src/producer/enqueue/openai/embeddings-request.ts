import { parseJobInput } from "../../../shared/job.ts";
import type { JobInput } from "../../../shared/job.ts";
import { findUnsupportedField } from "./body-fields.ts";

type Body = Readonly<Record<string, unknown>>;

const TAKEN = ["model", "input", "dimensions", "encoding_format"];

/** The body of an embeddings request as the input of an embed job, or what is wrong with it. */
export function parseEmbeddingsRequest(body: Body): JobInput | string {
  const unsupported = findUnsupportedField(body, "embeddings", TAKEN);
  if (unsupported !== undefined) return unsupported;
  const { input, dimensions, encoding_format: encoding } = body;
  if (holdsTokens(input)) return "body.input holds numbers of tokens; send the text itself";
  const parsed = parseJobInput({
    kind: "embed",
    text: input,
    ...(dimensions === undefined || dimensions === null ? {} : { dimensions }),
    ...(encoding === undefined || encoding === null ? {} : { encoding_format: encoding }),
  });
  return parsed.ok ? parsed.input : `body.${parsed.reason.replace(/^text/, "input")}`;
}

const holdsTokens = (input: unknown): boolean =>
  Array.isArray(input) &&
  input.some((item) => typeof item === "number" || (Array.isArray(item) && item.length > 0));
