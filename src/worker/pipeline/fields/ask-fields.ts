import type { Refusal } from "../../../shared/failure.ts";
import type { ExtractRun } from "../extract-text.ts";
import { fenceBoundary, fenceLong, quoteName } from "../fence-evidence.ts";
import { spansOf } from "../parts/part-node.ts";
import type { PartEvidence } from "../parts/part-node.ts";
import { EXTRACT_PROMPT, PART_OF_FILE, WHOLE_FILE } from "../prompts/extract-prompt.ts";
import { renderPrompt } from "../prompts/prompt.ts";
import { askTwice } from "./ask-twice.ts";
import type { Kept, TwoTries } from "./ask-twice.ts";
import { constraintOf } from "./constraint-of.ts";
import type { Fields } from "./fields.ts";
import { judgeFields } from "./judge-fields.ts";

/** The fields of a whole file (`second`) or of a part of it, from the words that the model is shown. */
export async function askFields(
  run: ExtractRun,
  { shown, sources }: PartEvidence,
  pass: "second" | "part",
): Promise<Kept<Fields> | Refusal> {
  const { reading, extraction, model, choice, quotes, notes, fenceKey } = run;
  const { preset, labels } = extraction;
  const schema = pass === "part" ? extraction.partSchema : extraction.schema;
  const check = pass === "part" ? run.checkPart : run.check;
  const { aside, signal } = run.parts;
  const hashes = [reading.sha256, ...spansOf(shown)];
  const boundary = fenceBoundary(EXTRACT_PROMPT.version, hashes, fenceKey);
  const values = {
    path: quoteName(reading.path),
    subject: pass === "part" ? PART_OF_FILE : WHOLE_FILE,
    task: extraction.task,
    schema: JSON.stringify(schema),
    notes,
  };
  const evidence = { text: await fenceLong(shown, boundary, { aside, signal }), shown };
  const plan: TwoTries<Fields> = {
    pass,
    model,
    choice,
    boundary,
    task: { purpose: "extract", preset, labels, evidence: shown },
    // A host that can hold a reply to a schema does: what it then gives is checked all the same.
    overrides: model.facts.toolProtocol === "text" ? {} : { format: constraintOf(schema) },
    prompt: (correction) =>
      renderPrompt(EXTRACT_PROMPT, { values, boundary, evidence, correction }),
    judge: (reply) => judgeFields(reply, { check, evidence: sources, quotes, aside, signal }),
  };
  return askTwice(plan, run.parts);
}
