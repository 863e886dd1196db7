import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { posix } from "node:path";
import { z } from "zod";
import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import { fingerprintModel, modelFolderOf, noPackage, requireFiles } from "./model-files.ts";
import type { ModelRole, TextPair } from "./model-files.ts";
import { openModelProcess } from "./model-process.ts";
import type { ModelProcess, Rows } from "./model-process.ts";

/** The model of verify.entailment; where models lie and what their processes may hold is said once, under embed. */
export type EntailmentSettings = Omit<ConfigValues["verify"]["entailment"], "provider"> &
  Pick<ConfigValues["embed"], "cache_dir" | "device" | "recycle_texts" | "recycle_mb">;

type EntailmentPlace = {
  /** Absolute; paths of the configuration are relative to it. */
  readonly workroot: string;
  /** Flags of Node for the process that holds the model. */
  readonly execArgv?: readonly string[];
};

/** How probable it is that a premise entails a hypothesis, and that it contradicts it; rounded to four places. */
export type EntailmentScores = { readonly entailment: number; readonly contradiction: number };

export type EntailmentModel = {
  /** `model_id` and the first digits of the SHA-256 of its files. */
  readonly name: string;
  /**
   * Scores of each pair, in order; null for one that is longer than the model reads.
   * @throws Failure VERIFY_MODEL_INVALID, MODEL_TIMEOUT, TOOL_ERROR; the signal's reason
   */
  compare(pairs: readonly TextPair[], signal: AbortSignal): Promise<Scores[]>;
  /** Ends the process; the next call starts another. */
  close(): void;
};

type Scores = EntailmentScores | null;

const ENTAILMENT: ModelRole = {
  noun: "entailment model",
  keys: "verify.entailment",
  missing: "VERIFY_MODEL_INVALID",
  smaller: "name a smaller one in verify.entailment.model_id",
  without: "set verify.entailment.provider to off",
};

/** In tokens: what the models of this kind were trained with. One whose tokenizer says less is given less. */
const MAX_LENGTH = 512;
/** Pairs of one call: with twelve heads, attention to so many of that length takes 100 MB a layer. */
const PAIRS_OF_A_BATCH = 8;
const BYTES_OF_A_MEGABYTE = 1_000_000;

/**
 * A cross-encoder that was trained to tell entailment, in a process of its own. Nothing is ever downloaded. The newest
 * 20,000 pairs are remembered.
 * @throws Failure VERIFY_MODEL_INVALID when the package or the model's files are not there, or it gives other labels;
 *   MODEL_TIMEOUT, TOOL_ERROR
 */
export async function openEntailmentModel(
  settings: EntailmentSettings,
  { workroot, execArgv = process.execArgv }: EntailmentPlace,
): Promise<EntailmentModel> {
  const labels = checkEntailmentModel(settings, workroot);
  const { model_id, dtype, device } = settings;
  const folder = modelFolderOf(settings, workroot);
  const model = openModelProcess({
    role: ENTAILMENT,
    model: model_id,
    load: { kind: "load", task: "compare", folder, dtype, device, maxLength: MAX_LENGTH },
    timeoutMs: settings.timeout_s * 1_000,
    recycle: {
      inputs: settings.recycle_texts,
      bytes: settings.recycle_mb * BYTES_OF_A_MEGABYTE,
    },
    execArgv,
  });
  await assertThreeScores(model, settings, folder);
  const digest = await fingerprintModel(folder, dtype);
  return {
    name: `${model_id} ${digest.slice(0, 12)}`,
    compare: remembering((pairs, signal) => compareInBatches(model, labels, pairs, signal)),
    close: model.close,
  };
}

/**
 * Looks at a model without loading it.
 * @returns the places of the labels among the scores that it gives
 * @throws Failure VERIFY_MODEL_INVALID
 */
export function checkEntailmentModel(
  settings: Pick<EntailmentSettings, "model_id" | "local_model_path" | "cache_dir" | "dtype">,
  workroot: string,
): LabelPlaces {
  const folder = modelFolderOf(settings, workroot);
  requireFiles(ENTAILMENT, settings.model_id, folder, settings.dtype);
  try {
    createRequire(import.meta.url).resolve("@huggingface/transformers");
  } catch {
    throw noPackage(ENTAILMENT);
  }
  const { places, found } = readLabels(folder);
  if (places !== undefined) return places;
  throw invalid(settings.model_id, folder, found);
}

type LabelPlaces = { readonly entailment: number; readonly contradiction: number };

const labelsSchema = z.object({ id2label: z.record(z.string(), z.string()) });
const LABELS = ["contradiction", "entailment", "neutral"];

/** The labels of a model in its folder, and their places where it is one for entailment. */
export function readLabels(folder: string): {
  readonly places: LabelPlaces | undefined;
  readonly found: readonly string[];
} {
  const config = labelsSchema.safeParse(
    jsonOf(readFileSync(posix.join(folder, "config.json"), "utf8")),
  );
  const named = Object.entries(config.data?.id2label ?? {}).map(
    ([id, label]) => [Number(id), label.trim().toLowerCase()] as const,
  );
  const ids = named.map(([id]) => id).sort((one, other) => one - other);
  const found = named.map(([, label]) => label);
  const isOurs = ids.join() === "0,1,2" && found.toSorted().join() === LABELS.join();
  const placeOf = (wanted: string): number => named.find(([, label]) => label === wanted)?.[0] ?? 0;
  const places = { entailment: placeOf("entailment"), contradiction: placeOf("contradiction") };
  return { places: isOurs ? places : undefined, found };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It has no labels then, and is refused for that.
    return null;
  }
}

function invalid(model: string, folder: string, found: readonly string[]): Failure {
  const has =
    found.length === 0 ? "names no labels" : `has the labels ${found.slice(0, 8).join(", ")}`;
  return new Failure(
    "VERIFY_MODEL_INVALID",
    `"${model}" in ${folder} is no entailment model: its config.json ${has.slice(0, 200)}; expected ${LABELS.join(", ")}. ` +
      `Name another in verify.entailment.model_id, or ${ENTAILMENT.without}.`,
  );
}

/** One pair as a trial: a model may give other than its labels say. */
async function assertThreeScores(
  model: ModelProcess,
  { model_id }: EntailmentSettings,
  folder: string,
): Promise<void> {
  const request = { kind: "compare", pairs: [["A trial.", "A trial."]] } as const;
  const { values } = await model.ask(request, new AbortController().signal);
  if (values.length === LABELS.length && values.every(Number.isFinite)) return;
  model.close();
  throw new Failure(
    "VERIFY_MODEL_INVALID",
    `"${model_id}" in ${folder} is no entailment model: it does not give ${LABELS.length} numbers for two texts. ` +
      `Name another in verify.entailment.model_id, or ${ENTAILMENT.without}.`,
  );
}

async function compareInBatches(
  model: ModelProcess,
  labels: LabelPlaces,
  pairs: readonly TextPair[],
  signal: AbortSignal,
): Promise<Scores[]> {
  const scores: Scores[] = [];
  for (let at = 0; at < pairs.length; at += PAIRS_OF_A_BATCH) {
    const batch = pairs.slice(at, at + PAIRS_OF_A_BATCH);
    const rows = await model.ask({ kind: "compare", pairs: batch }, signal);
    scores.push(...toScores(rows, labels));
  }
  return scores;
}

function toScores({ values, rows }: Rows, { entailment, contradiction }: LabelPlaces): Scores[] {
  const columns = values.length / rows;
  return Array.from({ length: rows }, (_, row): Scores => {
    const logits = values.subarray(row * columns, (row + 1) * columns);
    if (!logits.every(Number.isFinite)) return null;
    const most = Math.max(...logits);
    const powers = Array.from(logits, (logit) => Math.exp(logit - most));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const shareOf = (place: number): number =>
      Math.round(((powers[place] ?? 0) / total) * 1e4) / 1e4;
    return { entailment: shareOf(entailment), contradiction: shareOf(contradiction) };
  });
}

const MOST_REMEMBERED = 20_000;

type Compare = EntailmentModel["compare"];

/** Answers of later drafts, and of jobs that are tried again, repeat most of their statements. */
function remembering(compare: Compare): Compare {
  const known = new Map<string, Scores>();
  return async (pairs, signal) => {
    const keys = pairs.map((pair) => hash("sha256", JSON.stringify(pair), "base64"));
    const byKey = new Map(pairs.map((pair, at) => [keys[at] ?? "", pair]));
    const fresh = [...byKey].filter(([key]) => !known.has(key));
    const compared = await compare(
      fresh.map(([, pair]) => pair),
      signal,
    );
    const scores = new Map(fresh.map(([key], at) => [key, compared[at] ?? null]));
    const found = keys.map((key) => known.get(key) ?? scores.get(key) ?? null);
    keys.forEach((key, at) => {
      // What was just used is the newest.
      known.delete(key);
      known.set(key, found[at] ?? null);
    });
    for (const key of known.keys()) {
      if (known.size <= MOST_REMEMBERED) break;
      known.delete(key);
    }
    return found;
  };
}
