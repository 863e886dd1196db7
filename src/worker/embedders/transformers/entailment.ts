import type { ConfigValues } from "../../../shared/config/schema.ts";
import {
  checkPinned,
  labelsOf,
  notOfItsKind,
  openCrossEncoder,
  requireModel,
  labelsClause,
} from "./cross-encoder.ts";
import type { CrossEncoder, CrossEncoderPlace, LocalModelSettings } from "./cross-encoder.ts";
import type { ModelRole } from "./model-files.ts";

/** The model of verify.entailment, with the settings that all local models share. */
export type EntailmentSettings = Omit<ConfigValues["verify"]["entailment"], "provider"> &
  LocalModelSettings;

/** The probabilities that a premise entails a hypothesis, and that it contradicts it; rounded to four places. */
export type EntailmentScores = { readonly entailment: number; readonly contradiction: number };

/** Scores pairs of premise and hypothesis; null for a pair that exceeds the model's window. */
export type EntailmentModel = CrossEncoder<EntailmentScores>;

const ENTAILMENT: ModelRole = {
  noun: "entailment model",
  keys: "verify.entailment",
  missing: "VERIFY_MODEL_INVALID",
  smaller: "name a smaller one in verify.entailment.model_id",
  without: "set verify.entailment.provider to off",
};

/**
 * Opens a cross-encoder that was trained for entailment.
 * @throws Failure VERIFY_MODEL_INVALID if the package or the model's files are missing, or the model has other labels;
 *   MODEL_TIMEOUT, TOOL_ERROR
 */
export async function openEntailmentModel(
  settings: EntailmentSettings,
  place: CrossEncoderPlace,
): Promise<EntailmentModel> {
  const { places } = lookAtModel(settings, place.workroot);
  const kind = {
    role: ENTAILMENT,
    // A cut pair would lose the end of its hypothesis, and half a hypothesis says something else.
    tooLong: "leave",
    columns: LABELS.length,
    toScore: (logits: Float32Array) => toScores(logits, places),
  } as const;
  return openCrossEncoder(settings, kind, place);
}

/** Checks a model without loading it. @throws Failure VERIFY_MODEL_INVALID */
export async function checkEntailmentModel(
  settings: EntailmentSettings,
  workroot: string,
): Promise<void> {
  await checkPinned(ENTAILMENT, settings, lookAtModel(settings, workroot).folder);
}

/** The folder, and the indexes of the labels among the output values. */
function lookAtModel(
  settings: EntailmentSettings,
  workroot: string,
): { readonly folder: string; readonly places: LabelPlaces } {
  const folder = requireModel(ENTAILMENT, settings, workroot);
  const found = labelsOf(folder);
  const places = placesAmong(found);
  if (places !== undefined) return { folder, places };
  const why = `its config.json ${labelsClause(found)}; expected ${LABELS.join(", ")}`;
  throw notOfItsKind(ENTAILMENT, settings.model_id, folder, why);
}

type LabelPlaces = { readonly entailment: number; readonly contradiction: number };

const LABELS = ["contradiction", "entailment", "neutral"];

/** The indexes of the labels; undefined if the model is not for entailment. */
export const placesAmong = (labels: readonly string[]): LabelPlaces | undefined =>
  labels.toSorted().join() === LABELS.join()
    ? { entailment: labels.indexOf("entailment"), contradiction: labels.indexOf("contradiction") }
    : undefined;

function toScores(
  logits: Float32Array,
  { entailment, contradiction }: LabelPlaces,
): EntailmentScores {
  const most = Math.max(...logits);
  const powers = Array.from(logits, (logit) => Math.exp(logit - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const shareOf = (place: number): number => Math.round(((powers[place] ?? 0) / total) * 1e4) / 1e4;
  return { entailment: shareOf(entailment), contradiction: shareOf(contradiction) };
}
