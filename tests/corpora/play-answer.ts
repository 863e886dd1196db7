import { gradeOf } from "../../src/shared/job/claims.ts";
import { startTrace } from "../../src/worker/run-trace.ts";
import type { Offload } from "../../src/worker/offload/offload.ts";
import type { Model, ModelRequest } from "../../src/worker/models/model.ts";
import { answerQuestion } from "../../src/worker/jobs/ask.ts";
import type {
  Passage,
  PipelineDependencies,
  PipelineSettings,
} from "../../src/worker/evidence/types.ts";
import { UNLIMITED } from "../../src/worker/models/limiter.ts";
import { knownFilesOf } from "../../src/worker/question/known-files.ts";
import { FACTS, passageOf, sha256Of } from "../support/pipeline-world.ts";
import type { CorpusAnswer } from "./read-corpora.ts";

export type Played = {
  readonly accepted: boolean;
  /** Accepted, with a statement that nobody has confirmed. */
  readonly isMarked: boolean;
  /** Code of the refusal, then those of the violations that the model was told of. */
  readonly codes: readonly string[];
  /** Accepted where it is good, refused where it is bad, and declined where it declines. */
  readonly isRight: boolean;
  /** False where the run ended before the model was asked for an answer, so that the checks saw nothing. */
  readonly wasChecked: boolean;
};

/**
 * Runs one item through the whole pipeline: the model finds in the first pass that the passages suffice and gives the
 * item's reply whenever it is asked for an answer.
 */
export async function playAnswer(
  item: CorpusAnswer,
  settings: PipelineSettings,
  offload: Offload,
): Promise<Played> {
  const model = replyingModel(settings.model.name ?? "scripted", item.reply);
  const trace = startTrace();
  const outcome = await answerQuestion(
    { jobId: item.id, input: { kind: "ask", question: item.question } },
    dependenciesOf(item, model, { settings, offload }),
    trace,
    new AbortController().signal,
  );
  const { claims, replies } = trace.record();
  const violations = replies.flatMap(({ prompt }) => prompt.violations);
  const codes = outcome.kind === "refused" ? [outcome.code, ...violations] : violations;
  const answer = outcome.kind === "succeeded" ? (outcome.answer ?? "") : null;
  return {
    accepted: answer !== null,
    isMarked: answer !== null && gradeOf(claims) === "unconfirmed",
    codes: [...new Set(codes)],
    isRight: isRight(item, answer, codes),
    wasChecked: model.answers.length > 0,
  };
}

/** @param answer the text that is stored, or null after a refusal */
function isRight(item: CorpusAnswer, answer: string | null, codes: readonly string[]): boolean {
  if (item.kind === "decline") return codes.join() === "EVIDENCE_NOT_ACQUIRED";
  if (item.verdict === "good") return answer !== null;
  const mark = "mark" in item ? item.mark : undefined;
  return answer === null || (mark !== undefined && !answer.includes(mark));
}

type ReplyingModel = Model & { readonly answers: ModelRequest[] };

function replyingModel(name: string, reply: string): ReplyingModel {
  const answers: ModelRequest[] = [];
  return {
    name,
    facts: FACTS,
    answers,
    promptChars: () => 100_000,
    async complete(request) {
      const isFirstPass = request.task.purpose === "select_tool";
      if (!isFirstPass) answers.push(request);
      return {
        kind: "reply",
        text: isFirstPass ? "ENOUGH" : fillIn(reply, request),
        toolCalls: [],
        promptTokens: 10,
        completionTokens: 5,
        loadMs: 0,
        doneReason: "stop",
      };
    },
  };
}

/** What a model would copy out of its prompt. */
function fillIn(reply: string, { messages }: ModelRequest): string {
  const prompt = messages.map(({ content }) => content).join("\n");
  const boundary = /<<<EVIDENCE ([0-9a-f]{32}) \[/.exec(prompt)?.[1];
  const footer = /^Scope: .*$/m.exec(messages.at(-1)?.content.split("\n").at(-1) ?? "")?.[0];
  if (boundary === undefined) throw new Error("the prompt shows no evidence");
  if (footer === undefined) throw new Error("the prompt ends without the footer");
  return reply.replaceAll("{{boundary}}", boundary).replaceAll("{{footer}}", footer);
}

const dependenciesOf = (
  { pieces }: CorpusAnswer,
  model: Model,
  { settings, offload }: Pick<PipelineDependencies, "settings" | "offload">,
): PipelineDependencies => ({
  settings,
  models: { get: async () => model },
  search: async () => passagesOf(pieces),
  holdsAny: async () => true,
  versions: async () => new Map(),
  readTextFile: async ({ path }) => {
    throw new Error(`the model asks for no file, but ${path} is read`);
  },
  knownFiles: async () => knownFilesOf([]),
  locate: async (path) => {
    throw new Error(`the question names no file, but ${path} is looked for`);
  },
  offload,
  calls: { recall: async () => undefined, commit: async () => undefined, limiter: UNLIMITED },
  notes: async () => ({ shown: [], leftOut: 0 }),
  fenceKey: Buffer.alloc(32, 7),
  previewChars: 200,
});

/** The pieces as the chunks of their files: a section each, in the order of the set. */
function passagesOf(pieces: CorpusAnswer["pieces"]): Passage[] {
  const documents = new Map<string, string>();
  const places = pieces.map(({ path, heading, text }) => {
    const before = `${documents.get(path) ?? ""}## ${heading}\n\n`;
    documents.set(path, `${before}${text}\n\n`);
    return { before, text };
  });
  return pieces.map(({ path, heading, text }, index) => {
    const document = documents.get(path) ?? "";
    const before = places[index]?.before ?? "";
    const lineStart = before.split("\n").length;
    return {
      ...passageOf(path, text, `H2: ${heading}`),
      sha256: sha256Of(document),
      docChars: [...document].length,
      truncated: document.trim() !== text,
      startChar: [...before].length,
      endChar: [...before].length + [...text].length,
      lineStart,
      lineEnd: lineStart + text.split("\n").length - 1,
      score: 1 - index / 10,
    };
  });
}
