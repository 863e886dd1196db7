import type { Refusal } from "../../../shared/failure.ts";
import type { ModelChoice } from "../../../shared/route-models.ts";
import { charsIn } from "../../model/model.ts";
import type { Model } from "../../model/model.ts";
import { answerRules } from "../answer-rules.ts";
import type { CallParts } from "../call-model.ts";
import { fenceBoundary, fenceLong } from "../fence-evidence.ts";
import { askTwice } from "../fields/ask-twice.ts";
import type { Kept, TwoTries } from "../fields/ask-twice.ts";
import type { PipelineSettings } from "../../evidence/types.ts";
import { DIGEST_PROMPT } from "../prompts/digest-prompt.ts";
import { renderPrompt } from "../prompts/prompt.ts";
import { blocksOf } from "./digest-item.ts";
import type { DigestItem } from "./digest-item.ts";
import { JUDGE_DIGEST } from "./judge-digest.ts";
import type { DigestLine } from "./judge-digest.ts";

export type DigestRun = {
  /** What the prompt calls it. Names of batches are not in it: they hold times. */
  readonly subject: string;
  readonly lines: number;
  readonly settings: PipelineSettings["ask"];
  readonly model: Model;
  readonly choice: ModelChoice;
  /** The operator's durable notes, as the prompt shows them. */
  readonly notes: string;
  readonly fenceKey: Buffer;
  readonly parts: CallParts;
};

/** The lines that a model makes of items that fit one prompt; what they cite are numbers of items. */
export async function askDigest(
  run: DigestRun,
  items: readonly DigestItem[],
  {
    pass,
    footer,
    lines,
  }: { readonly pass: "second" | "part"; readonly footer: string; readonly lines: number },
): Promise<Kept<readonly DigestLine[]> | Refusal> {
  const { model, choice, settings, subject, notes, fenceKey } = run;
  const shown = blocksOf(items);
  const hashes = shown.map(({ path, sha256 }) => `${sha256} ${path}`);
  const boundary = fenceBoundary(DIGEST_PROMPT.version, hashes, fenceKey);
  const about = { footer, question: "", evidence: shown, citations: "required" } as const;
  const rules = answerRules(settings, about);
  const values = { subject, lines: String(lines), notes };
  const evidence = { text: await fenceLong(shown, boundary, run.parts), shown };
  const { aside, signal } = run.parts;
  const chars = charsIn(shown);
  const plan: TwoTries<readonly DigestLine[]> = {
    pass,
    model,
    choice,
    boundary,
    task: { purpose: "digest", evidence: shown, lines },
    prompt: (correction) => renderPrompt(DIGEST_PROMPT, { values, boundary, evidence, correction }),
    judge: (reply) =>
      aside(
        JUDGE_DIGEST,
        { reply, rules, mostLines: lines },
        { chars: chars + reply.text.length, replyChars: reply.text.length, signal },
      ),
  };
  return askTwice(plan, run.parts);
}
