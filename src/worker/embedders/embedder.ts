import { hash } from "node:crypto";
import type { HostPlace } from "../../shared/config/hosts.ts";
import type { ConfigValues } from "../../shared/config/schema.ts";
import type { StoredSpace } from "../../shared/store/index/embeddings.ts";
import type { VectorPrecision } from "../../shared/store/index/vector-index.ts";
import type { AccessOf } from "../models/host-access.ts";
import type { HostChoice } from "../models/host-models.ts";
import { embeddableText } from "../text/searchable-text.ts";

/** Something that turns texts into vectors. Vectors of two embedders are compared only if their signatures agree. */
export type Embedder = {
  /** The model that vectors are stored under. */
  readonly id: string;
  readonly dims: number;
  /** 32 hex digits of everything that decides the numbers: model, files, preprocessing, normalisation, precision. */
  readonly signature: string;
  /** For vectors stored in half precision: the signature of the same vectors in full precision, which they are rounded from. */
  readonly roundedFrom?: string;
  /** The default weight of a vector rank relative to a lexical rank (1). */
  readonly defaultWeight: number;
  /** The prefixes of its texts; missing if there are none. The caller adds them. */
  readonly prefixes?: Prefixes;
  /** "spelling" if near vectors mean similar spelling; missing if they mean similar meaning. */
  readonly nearIn?: "spelling";
  /**
   * One vector per text, in order, of unit length; all zeros for a text without a word.
   * @param onCut called once for each text that exceeds the model's window: its vector represents the beginning that fits.
   *   Only hosts report this: `transformers` cuts at embed.max_length silently
   * @throws Failure MODEL_UNREACHABLE, MODEL_TIMEOUT, MODEL_NOT_FOUND, MODEL_OUTPUT_INVALID, TOOL_ERROR,
   *   EMBED_MODEL_MISSING, EMBED_DRIFT; the signal's reason
   */
  embed(texts: readonly string[], signal: AbortSignal, onCut?: () => void): Promise<Float32Array[]>;
  /** For an embedder on hosts: the same embedder, whose calls are chosen and made for a run. */
  readonly through?: (calls: HostCalls) => Embedder;
};

/** The prefixes that a model requires for questions and for passages. */
export type Prefixes = { readonly query: string; readonly passage: string };

/** A question with the prefix of the embedder. */
export const questionFor = ({ prefixes }: Pick<Embedder, "prefixes">, question: string): string =>
  `${prefixes?.query ?? ""}${question}`;

/** A chunk with the prefix of the embedder. */
export const passageFor = (
  { prefixes }: Pick<Embedder, "prefixes">,
  chunk: Parameters<typeof embeddableText>[0],
): string => `${prefixes?.passage ?? ""}${embeddableText(chunk)}`;

/** The precision in which its vectors are stored. */
export const precisionOf = ({ roundedFrom }: Pick<Embedder, "roundedFrom">): VectorPrecision =>
  roundedFrom === undefined ? "full" : "half";

/** The model and signature of its vectors, and the precision in which they are stored. */
export const spaceOf = (embedder: Embedder): StoredSpace => ({
  model: embedder.id,
  signature: embedder.signature,
  precision: precisionOf(embedder),
});

/** Makes a call to a host, given by its base URL; it may wait before, or throw a HostFailure instead. */
type HostCall = <T>(host: string, make: () => Promise<T>) => Promise<T>;

export type HostCalls = { readonly call: HostCall; readonly choice: HostChoice };

/** Scales a vector to unit length in place. Zeros, or a vector with an invalid number, become zeros. */
export function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  if (length === 0 || !Number.isFinite(length)) return vector.fill(0);
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}

/** Splits a matrix in one list of numbers into its rows. */
export function toRows(values: Float32Array, rows: number): Float32Array[] {
  const columns = values.length / rows;
  return Array.from({ length: rows }, (_, row) => values.slice(row * columns, (row + 1) * columns));
}

/** The facts that determine an embedder's numbers. */
type SignatureFacts = {
  /** Kind and version of the embedder's code. */
  readonly embedder: string;
  readonly model: string;
  /** Digest of the model's files, wherever they are; for the built-in model, of its constants. */
  readonly digest: string;
  readonly dims: number;
};

/** The signature of an embedder: 32 hex digits over the facts, the preprocessing and the normalization. */
export const signatureOf = (
  facts: SignatureFacts & Readonly<Record<string, string | number>>,
): string => digestOf({ ...facts, preprocessing: PREPROCESSING, normalization: "l2" }).slice(0, 32);

/** SHA-256 of named values, independent of their order. */
export const digestOf = (facts: Readonly<Record<string, string | number>>): string =>
  hash("sha256", JSON.stringify(Object.entries(facts).sort(byName)), "hex");

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

const part = { title: "Title", text: "Text\tof\r\na chunk. " };

/** A digest of how a chunk becomes the text to embed, so that a change of that code changes the signature. */
const PREPROCESSING = hash(
  "sha256",
  ["Title > Heading", "Heading", null]
    .map((headingPath) => embeddableText({ ...part, headingPath }))
    .join("\0"),
  "hex",
);

/** Limits the message to a host or a process, whatever embed.batch_size is. */
const CHARS_OF_A_BATCH = 512 * 1_024;

/** Splits a list into batches of at most `most` texts, in order; a very long text gets a batch of its own. */
export function splitBatches(texts: readonly string[], most: number): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let chars = 0;
  for (const text of texts) {
    if (batch.length >= most || chars + text.length > CHARS_OF_A_BATCH) {
      if (batch.length > 0) batches.push(batch);
      batch = [];
      chars = 0;
    }
    batch.push(text);
    chars += text.length;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** What embedders need: folders, hosts and settings. */
export type EmbedderPlace = {
  /** Absolute; paths of the configuration are relative to it. */
  readonly workroot: string;
  /** The hosts that serve the model, in the order of tries; empty if the embedder needs none. */
  readonly hosts: readonly HostPlace[];
  /** The access to each host. */
  readonly accessOf: AccessOf;
  /** Chooses between hosts by their state. */
  readonly choice: HostChoice;
  /** Whether remote hosts receive the keys and tokens in texts. */
  readonly secrets?: ConfigValues["index"]["secrets"];
  /** Flags of Node for the process that holds a transformers model; by default those of this process. */
  readonly execArgv?: readonly string[];
};
