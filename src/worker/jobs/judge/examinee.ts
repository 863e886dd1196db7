import { hash } from "node:crypto";
import type { Refusal } from "../../../shared/failure.ts";
import type { JudgeForm } from "../../../shared/job/verify-modes.ts";
import { callForText } from "../../answer/call-model.ts";
import type { CallParts } from "../../answer/call-model.ts";
import { renderPrompt } from "../../answer/prompt.ts";
import type { PromptTemplate } from "../../answer/prompt.ts";
import type { AskedStatement, Auditor, CompareClaims } from "../../evidence/types.ts";
import { neutraliseText } from "../../text/neutralise-text.ts";
import { openReply } from "../../text/open-reply.ts";
import { STRICTEST } from "../../verify/judge/exam-sequence.ts";
import { UNCLEAR } from "../../verify/judge/verdicts.ts";
import type { Verdict } from "../../verify/judge/verdicts.ts";
import { askJudge, JUDGE_PROMPT, sourcedLine, statementLine } from "./judge-call.ts";

/** A model that can judge statements, in one of the forms. */
export type Examinee = {
  readonly name: string;
  readonly form: JudgeForm;
  /** The digest of its weights, or a hash in its place if the host reports none; 64 hex digits. */
  readonly identity: string;
  /** Whether the weights are known: if not, the result of an exam is valid for a week. */
  readonly isKnown: boolean;
  /** The version of its prompt: another version needs another exam. */
  readonly prompt: string;
  ask(
    statements: readonly AskedStatement[],
    parts: CallParts,
  ): Promise<readonly Verdict[] | Refusal>;
  /** For a model that returns scores: the same model with the score from which on it says yes. */
  readonly from?: (score: number) => Examinee;
};

/** A model that is asked in words; null for a model that reads no prompts. */
export function examineeOf(
  auditor: Auditor,
  { form, supportedMeans, fenceKey }: ListSettings,
): Examinee | null {
  const { model } = auditor;
  const { facts, host = "" } = model;
  if (!facts.readsPrompts) return null;
  const build = [facts.provider, host, model.name, facts.serverVersion];
  const shared = {
    name: model.name,
    form,
    identity: facts.digest ?? hash("sha256", JSON.stringify(build)),
    isKnown: facts.digest !== null,
  };
  if (form === "list") {
    return {
      ...shared,
      prompt: JUDGE_PROMPT.version,
      ask: (statements, parts) => askJudge({ ...auditor, statements, fenceKey }, parts),
    };
  }
  return {
    ...shared,
    prompt: `${YES_NO_PROMPT.version} ${supportedMeans}`,
    ask: (statements, parts) =>
      askOneByOne(statements, (statement) => askYesNo(auditor, statement, supportedMeans, parts)),
  };
}

type ListSettings = {
  readonly form: Exclude<JudgeForm, "nli">;
  /** The word by which the model of form yes_no says that the lines support a statement. */
  readonly supportedMeans: "yes" | "no";
  readonly fenceKey: Buffer;
};

/** A local cross-encoder for natural language inference. Its exam finds the score from which on it says yes. */
export const comparingExaminee = (
  model: { readonly name: string; readonly identity: string },
  compare: CompareClaims,
  yesFrom = STRICTEST,
): Examinee => ({
  ...model,
  form: "nli",
  isKnown: true,
  prompt: "nli/2",
  from: (score) => comparingExaminee(model, compare, score),
  async ask(statements, { signal }) {
    const pairs = statements.map(({ text, lines }) => ({
      heading: lines[0]?.source ?? "",
      carrier: lines.map(({ text: line }) => line).join(" "),
      claim: text,
    }));
    const { scores } = await compare(pairs, signal);
    return scores.map((score): Verdict => {
      if (score === null) return UNCLEAR;
      if (score.contradiction >= CONTRADICTED_FROM) return { ...UNCLEAR, says: "no" };
      const says = score.entailment >= yesFrom ? "yes" : "unclear";
      return { ...UNCLEAR, says, score: score.entailment };
    });
  },
});

/** From this score on contradiction is more likely than the other two classes together. */
const CONTRADICTED_FROM = 0.5;

/** The prompt of checkers that are trained for exactly this question: a document, a claim, and one word as the answer. */
const YES_NO_PROMPT: PromptTemplate<"document" | "claim"> = {
  version: "yes-no/1",
  slots: ["document", "claim"],
  system: "Does the document support the claim? Answer with Yes or No, and nothing else.",
  user: "Document: {{document}}\nClaim: {{claim}}",
};

const YES_NO_TOKENS = 16;

async function askYesNo(
  { model, choice }: Auditor,
  { text, lines }: AskedStatement,
  supportedMeans: "yes" | "no",
  parts: CallParts,
): Promise<Verdict | Refusal> {
  const document = lines.map(sourcedLine).join("\n");
  const prompt = renderPrompt(YES_NO_PROMPT, {
    values: { document: neutraliseText(document), claim: neutraliseText(statementLine(text)) },
    boundary: "",
    evidence: { text: "", shown: [] },
  });
  const reply = await callForText(
    {
      ...{ pass: "grade", model, prompt, task: { purpose: "chat" } },
      choice: { ...choice, maxTokens: YES_NO_TOKENS },
      overrides: { temperature: 0 },
    },
    parts,
  );
  if (reply.kind === "refused") return reply;
  const word = /(?<![\p{L}])(?<said>yes|no)(?![\p{L}])/iu.exec(openReply(reply.text).text)
    ?.groups?.["said"];
  if (word === undefined) return UNCLEAR;
  return { ...UNCLEAR, says: word.toLowerCase() === supportedMeans ? "yes" : "no" };
}

async function askOneByOne(
  statements: readonly AskedStatement[],
  ask: (statement: AskedStatement) => Promise<Verdict | Refusal>,
): Promise<readonly Verdict[] | Refusal> {
  const verdicts: Verdict[] = [];
  for (const statement of statements) {
    const verdict = await ask(statement);
    if ("kind" in verdict) return verdict;
    verdicts.push(verdict);
  }
  return verdicts;
}
