import { readFile } from "node:fs/promises";
import { z } from "zod";
import { parseJson } from "../../shared/json-value.ts";
import { Failure } from "../../shared/failure.ts";
import { cleanForDatabase } from "../../shared/styled-text.ts";

const querySchema = z.strictObject({
  id: z.union([z.string().min(1), z.number()]),
  text: z
    .string()
    .transform(cleanForDatabase)
    .refine((text) => text.trim() !== ""),
});
export type NamedQuery = z.infer<typeof querySchema>;

/**
 * Reads JSONL of `{"id","text"}`.
 * @throws Failure INPUT_INVALID naming the first bad line
 */
export async function readQueries(file: string): Promise<readonly NamedQuery[]> {
  const content = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Failure(
      "INPUT_INVALID",
      `${file} can't be read. Give a JSONL file of {"id","text"}.`,
      {
        cause,
      },
    );
  });
  return content
    .split("\n")
    .flatMap((line, index) =>
      line.trim() === "" ? [] : [parseQuery(line, `${file}:${index + 1}`)],
    );
}

function parseQuery(line: string, place: string): NamedQuery {
  const parsed = querySchema.safeParse(parseJson(line));
  if (parsed.success) return parsed.data;
  throw new Failure(
    "INPUT_INVALID",
    `${place} is not {"id": string or number, "text": string that is not blank}.`,
  );
}
