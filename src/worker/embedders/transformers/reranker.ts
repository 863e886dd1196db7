import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import {
  checkPinned,
  labelsOf,
  notOfItsKind,
  openCrossEncoder,
  requireModel,
  labelsClause,
} from "./cross-encoder.ts";
import type { CrossEncoderPlace, LocalModelSettings } from "./cross-encoder.ts";
import type { ModelRole } from "./model-files.ts";

/** The model of retrieve.rerank. */
export type RerankerSettings = Omit<ConfigValues["retrieve"]["rerank"], "provider"> &
  LocalModelSettings;

export type Reranker = {
  /** `model_id` and the first digits of the SHA-256 of its files. */
  readonly name: string;
  /** SHA-256 of its files, 64 hex digits. */
  readonly digest: string;
  /**
   * How well each text answers a question, in order: the model's own score, without bounds, rounded to four places. A text that
   * does not fit beside the question loses its end, and so does a question that takes more than half of the room.
   * @throws Failure RERANK_MODEL_INVALID, MODEL_TIMEOUT, TOOL_ERROR, MODEL_OUTPUT_INVALID; the signal's reason
   */
  score(question: string, texts: readonly string[], signal: AbortSignal): Promise<number[]>;
  /** Ends the process; the next call starts another. */
  readonly close: () => void;
};

const RERANKER: ModelRole = {
  noun: "reranker",
  keys: "retrieve.rerank",
  missing: "RERANK_MODEL_INVALID",
  smaller: "name a smaller one in retrieve.rerank.model_id",
  without: "set retrieve.rerank.provider to off",
};

/**
 * Opens a cross-encoder that was trained to score with one number how well a passage answers a question.
 * @throws Failure RERANK_MODEL_INVALID if the package or the model's files are missing, or it gives more than one number;
 *   MODEL_TIMEOUT, TOOL_ERROR
 */
export async function openReranker(
  settings: RerankerSettings,
  place: CrossEncoderPlace,
): Promise<Reranker> {
  lookAtModel(settings, place.workroot);
  const kind = { role: RERANKER, tooLong: "cut", columns: 1, toScore } as const;
  const { name, digest, compare, close } = await openCrossEncoder(settings, kind, place);
  return {
    name,
    digest,
    close,
    async score(question, texts, signal) {
      const pairs = texts.map((text) => [question, text] as const);
      return (await compare(pairs, signal)).map((score) => score ?? noNumber(name));
    },
  };
}

/** Checks a model without loading it. @throws Failure RERANK_MODEL_INVALID */
export async function checkReranker(settings: RerankerSettings, workroot: string): Promise<void> {
  await checkPinned(RERANKER, settings, lookAtModel(settings, workroot));
}

/** @returns its folder */
function lookAtModel(settings: RerankerSettings, workroot: string): string {
  const folder = requireModel(RERANKER, settings, workroot);
  const labels = labelsOf(folder);
  if (isForReranking(labels)) return folder;
  const why = `its config.json ${labelsClause(labels)}; expected a single one`;
  throw notOfItsKind(RERANKER, settings.model_id, folder, why);
}

/** Whether the labels are those of a model with one number per pair. */
export const isForReranking = (labels: readonly string[]): boolean => labels.length === 1;

/** Rounds, because padding in a batch changes the score slightly without meaning a difference between passages. */
const toScore = ([logit = NaN]: Float32Array): number => Math.round(logit * 1e4) / 1e4;

function noNumber(name: string): never {
  throw new Failure(
    "MODEL_OUTPUT_INVALID",
    `The reranker ${name} gave no number for a passage. Name another in ${RERANKER.keys}.model_id, or ${RERANKER.without}.`,
  );
}
