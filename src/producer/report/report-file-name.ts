import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";

const MOST_CHARS = 100;

/** A file name that every system takes: letters, digits, dots and dashes of the batch's name; its id where it has none. */
export function reportFileName({ name, batchId }: BatchProgress): string {
  const plain = name
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9.]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, MOST_CHARS);
  return plain === "" ? batchId : plain;
}
