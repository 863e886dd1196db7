import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { z } from "zod";
import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import { parseJson } from "../../../shared/schema/json-value.ts";
import { toRows } from "../embedder.ts";
import { fingerprintModel, modelFolderOf, requireFiles, requirePackage } from "./model-files.ts";
import type { LoadRequest, ModelRole, TextPair } from "./model-files.ts";
import { openModelProcess } from "./model-process.ts";
import type { ModelProcess } from "./model-process.ts";

/** The location of models and the limits of their processes, which are set once, under embed. */
export type LocalModelSettings = Pick<
  ConfigValues["embed"],
  "cache_dir" | "device" | "recycle_texts" | "recycle_mb"
>;

/** Settings of a model that reads two texts at once. */
type CrossEncoderSettings = LocalModelSettings &
  Omit<ConfigValues["verify"]["entailment"], "provider">;

export type CrossEncoderPlace = {
  /** Absolute; paths of the configuration are relative to it. */
  readonly workroot: string;
  /** Flags of Node for the process that holds the model. */
  readonly execArgv?: readonly string[];
};

/** The purpose of a kind of cross-encoder, and the meaning of its numbers. */
type CrossEncoderKind<Score> = {
  readonly role: ModelRole;
  /** What to do with a pair that exceeds the model's window. */
  readonly tooLong: Extract<LoadRequest, { task: "compare" }>["tooLong"];
  /** The number of values per pair, one per label. */
  readonly columns: number;
  /** Converts the values of one pair, which are all finite. */
  readonly toScore: (logits: Float32Array) => Score;
};

export type CrossEncoder<Score> = {
  /** `model_id` and the first digits of the SHA-256 of its files. */
  readonly name: string;
  /** SHA-256 of its files, 64 hex digits. */
  readonly digest: string;
  /**
   * The score of each pair, in order; null for a pair that the model did not read or for which it gave invalid numbers.
   * @throws Failure MODEL_TIMEOUT, TOOL_ERROR, the code of the role; the signal's reason
   */
  readonly compare: (pairs: readonly TextPair[], signal: AbortSignal) => Promise<(Score | null)[]>;
  /** Ends the process; the next call starts another. */
  readonly close: () => void;
};

/** In tokens: the length of the training texts. A tokenizer with a smaller limit keeps its limit. */
const MAX_LENGTH = 512;
/** Pairs per call: with twelve heads, attention over 8 pairs of that length takes 100 MB per layer. */
const PAIRS_OF_A_BATCH = 8;

/** The number of model calls for so many pairs; each call has its own time limit. */
export const callsForPairs = (pairs: number): number => Math.ceil(pairs / PAIRS_OF_A_BATCH);

/**
 * A cross-encoder in a process of its own, tested with one pair. Nothing is ever downloaded. The newest 20,000 pairs are
 * remembered.
 * @throws Failure with the code of the role if the package or the model's files are missing, if the files do not match the
 *   configured digest, or if the model gives other numbers; MODEL_TIMEOUT, TOOL_ERROR
 */
export async function openCrossEncoder<Score>(
  settings: CrossEncoderSettings,
  { role, tooLong, columns, toScore }: CrossEncoderKind<Score>,
  { workroot, execArgv = process.execArgv }: CrossEncoderPlace,
): Promise<CrossEncoder<Score>> {
  const folder = requireModel(role, settings, workroot);
  const digest = await digestOf(role, settings, folder);
  const { model_id, dtype, device } = settings;
  const model = openModelProcess({
    role,
    model: model_id,
    load: { kind: "load", task: "compare", folder, dtype, device, maxLength: MAX_LENGTH, tooLong },
    timeoutMs: settings.timeout_s * 1_000,
    recycle: { inputs: settings.recycle_texts, megabytes: settings.recycle_mb },
    execArgv,
  });
  if (!(await givesValues(model, columns))) {
    model.close();
    const numbers = columns === 1 ? "1 number" : `${columns} numbers`;
    throw notOfItsKind(
      role,
      settings.model_id,
      folder,
      `it does not give ${numbers} for two texts`,
    );
  }
  return {
    name: `${model_id} ${digest.slice(0, 12)}`,
    digest,
    compare: withMemory((pairs, signal) => compareInBatches(model, toScore, pairs, signal)),
    close: model.close,
  };
}

type ModelPlace = Pick<
  CrossEncoderSettings,
  "model_id" | "digest" | "local_model_path" | "cache_dir" | "dtype"
>;

/**
 * Checks a model without loading it.
 * @returns its folder, absolute
 * @throws Failure with the code of the role if the package or a file is missing
 */
export function requireModel(role: ModelRole, settings: ModelPlace, workroot: string): string {
  const folder = modelFolderOf(settings, workroot);
  requireFiles(role, settings.model_id, folder, settings.dtype);
  requirePackage(role);
  return folder;
}

/** Verifies the files of a model if a digest pins them. @throws Failure with the code of the role if they differ */
export async function checkPinned(
  role: ModelRole,
  settings: ModelPlace,
  folder: string,
): Promise<void> {
  if (settings.digest !== null) await digestOf(role, settings, folder);
}

/** SHA-256 of the files of a model. @throws as checkPinned */
async function digestOf(
  { missing, keys }: ModelRole,
  { model_id, digest: pinned, dtype }: ModelPlace,
  folder: string,
): Promise<string> {
  const digest = await fingerprintModel(folder, dtype);
  if (pinned === null || digest === pinned) return digest;
  throw new Failure(
    missing,
    `${keys}.digest asks for "${model_id}" with the digest ${pinned}, and the files in ${folder} have ${digest}. ` +
      `Put the files of that build there, or change ${keys}.digest.`,
  );
}

const labelsSchema = z.object({ id2label: z.record(z.string(), z.string()) });

/**
 * The labels of a model in its folder, in lower case and in the order of its output values; empty if its config.json does not
 * name all of them.
 */
export function labelsOf(folder: string): readonly string[] {
  const config = parseJson(readFileSync(posix.join(folder, "config.json"), "utf8"));
  const named = labelsSchema.safeParse(config).data?.id2label ?? {};
  const labels = Object.keys(named).map((_, id) => named[id]?.trim().toLowerCase());
  return labels.every((label) => label !== undefined) ? labels : [];
}

/** A clause about the labels, for a message. */
export const labelsClause = (labels: readonly string[]): string =>
  (labels.length === 0
    ? "names no labels"
    : `has the labels ${labels.slice(0, 8).join(", ")}`
  ).slice(0, 200);

/** The failure of files that belong to another kind of model. */
export const notOfItsKind = (
  { noun, keys, missing, without }: ModelRole,
  model: string,
  folder: string,
  why: string,
): Failure =>
  new Failure(
    missing,
    `"${model}" in ${folder} is no ${noun}: ${why}. Name another in ${keys}.model_id, or ${without}.`,
  );

/** Compares one pair as a test: the output of a model may not match its labels. */
async function givesValues(model: ModelProcess, columns: number): Promise<boolean> {
  const request = { kind: "compare", pairs: [["A trial.", "A trial."]] } as const;
  const { values } = await model.ask(request, new AbortController().signal);
  return values.length === columns && values.every(Number.isFinite);
}

async function compareInBatches<Score>(
  model: ModelProcess,
  toScore: (logits: Float32Array) => Score,
  pairs: readonly TextPair[],
  signal: AbortSignal,
): Promise<(Score | null)[]> {
  const scores: (Score | null)[] = [];
  for (let at = 0; at < pairs.length; at += PAIRS_OF_A_BATCH) {
    const batch = pairs.slice(at, at + PAIRS_OF_A_BATCH);
    const { values, rows } = await model.ask({ kind: "compare", pairs: batch }, signal);
    const logits = toRows(values, rows);
    scores.push(...logits.map((row) => (row.every(Number.isFinite) ? toScore(row) : null)));
  }
  return scores;
}

const MOST_REMEMBERED = 20_000;

/** Remembers scores, because later drafts, retries and searches in parts of the index repeat most of their pairs. */
function withMemory<Score>(
  compare: CrossEncoder<Score>["compare"],
): CrossEncoder<Score>["compare"] {
  const known = new Map<string, Score | null>();
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
      // Moves the entry to the end: entries that were used last are dropped last.
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
