import type { Invocation } from "../../shared/commands/command.ts";
import { BATCH_FORMATS } from "../../shared/db/jobs/batch-format.ts";
import type { BatchFormat } from "../../shared/db/jobs/batch-format.ts";
import { textOf } from "../commands/read-options.ts";
import type { NamesOptions } from "./openai/model-names.ts";

/** `--format` of `enqueue`; null where the first line is to tell it. */
export function formatOf({ options }: Invocation): BatchFormat | null {
  const asked = textOf(options, "format");
  return BATCH_FORMATS.find((format) => format === asked) ?? null;
}

/** `--model` and `--model-names` of `enqueue`. */
export const namesOptionsOf = ({ options }: Invocation): NamesOptions => ({
  override: textOf(options, "model"),
  names: textOf(options, "modelNames") === "any" ? "any" : "known",
});
