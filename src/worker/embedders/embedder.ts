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
  /** Of one whose vectors are stored in half precision: the signature of the same in full, of which they are roundings. */
  readonly roundedFrom?: string;
  /** What a vector rank counts beside a lexical rank (1) when nothing is configured. */
  readonly defaultWeight: number;
  /** What its texts begin with; missing where that is nothing. Who embeds adds them. */
  readonly prefixes?: Prefixes;
  /** What its vectors are near in; nothing for meaning. */
  readonly nearIn?: "spelling";
  /**
   * One vector a text, in order, of unit length; all zeros for a text without a word.
   * @param onCut called once a text that the model's window does not hold: its vector stands for the beginning that
   *   fits. Hosts only: `transformers` cuts at embed.max_length, and does not say so
   * @throws Failure MODEL_UNREACHABLE, MODEL_TIMEOUT, MODEL_NOT_FOUND, MODEL_OUTPUT_INVALID, TOOL_ERROR,
   *   EMBED_MODEL_MISSING, EMBED_DRIFT; the signal's reason
   */
  embed(texts: readonly string[], signal: AbortSignal, onCut?: () => void): Promise<Float32Array[]>;
  /** Of one that hosts serve: the same, with its calls chosen and made as those of a run. */
  readonly through?: (calls: HostCalls) => Embedder;
};

/** What a model wants before the questions and before the passages that it compares. */
export type Prefixes = { readonly query: string; readonly passage: string };

/** A question as the embedder takes it. */
export const questionFor = ({ prefixes }: Pick<Embedder, "prefixes">, question: string): string =>
  `${prefixes?.query ?? ""}${question}`;

/** A chunk as the embedder takes it. */
export const passageFor = (
  { prefixes }: Pick<Embedder, "prefixes">,
  chunk: Parameters<typeof embeddableText>[0],
): string => `${prefixes?.passage ?? ""}${embeddableText(chunk)}`;

/** How its vectors are stored. */
export const precisionOf = ({ roundedFrom }: Pick<Embedder, "roundedFrom">): VectorPrecision =>
  roundedFrom === undefined ? "full" : "half";

/** Whose its vectors are, and how they are stored. */
export const spaceOf = (embedder: Embedder): StoredSpace => ({
  model: embedder.id,
  signature: embedder.signature,
  precision: precisionOf(embedder),
});

/** Makes a call of a host, given by its base URL; it may wait before, or throw a HostFailure in its place. */
type HostCall = <T>(host: string, make: () => Promise<T>) => Promise<T>;

export type HostCalls = { readonly call: HostCall; readonly choice: HostChoice };

/** Scales a vector to unit length in place. A vector of zeros, or with a value that is no number, becomes zeros. */
export function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  if (length === 0 || !Number.isFinite(length)) return vector.fill(0);
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}

/** The rows of a matrix that came as one list of numbers, each as a list of its own. */
export function toRows(values: Float32Array, rows: number): Float32Array[] {
  const columns = values.length / rows;
  return Array.from({ length: rows }, (_, row) => values.slice(row * columns, (row + 1) * columns));
}

/** What decides an embedder's numbers. */
type SignatureFacts = {
  /** Kind and version of the embedder's code. */
  readonly embedder: string;
  readonly model: string;
  /** Over the model's files, wherever they lie or are served; of the built-in one, its constants. */
  readonly digest: string;
  readonly dims: number;
};

/** The signature of an embedder: 32 hex digits over all that decides its numbers, and what is done before and after. */
export const signatureOf = (
  facts: SignatureFacts & Readonly<Record<string, string | number>>,
): string => digestOf({ ...facts, preprocessing: PREPROCESSING, normalization: "l2" }).slice(0, 32);

/** SHA-256 of named values, whatever their order. */
export const digestOf = (facts: Readonly<Record<string, string | number>>): string =>
  hash("sha256", JSON.stringify(Object.entries(facts).sort(byName)), "hex");

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

const part = { title: "Title", text: "Text\tof\r\na chunk. " };

/** The way from a chunk to the text that is embedded: another way is another signature. */
const PREPROCESSING = hash(
  "sha256",
  ["Title > Heading", "Heading", null]
    .map((headingPath) => embeddableText({ ...part, headingPath }))
    .join("\0"),
  "hex",
);

/** A message to a host or a process stays small, whatever embed.batch_size is. */
const CHARS_OF_A_BATCH = 512 * 1_024;

/** Cuts a list into batches of so many texts at most, in order; a text that is too long alone is a batch of its own. */
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

/** Where embedders find what they need. */
export type EmbedderPlace = {
  /** Absolute; paths of the configuration are relative to it. */
  readonly workroot: string;
  /** Those that serve the model, in the order in which they are tried; none where the embedder needs none. */
  readonly hosts: readonly HostPlace[];
  /** How each is come to. */
  readonly accessOf: AccessOf;
  /** What is known of them. */
  readonly choice: HostChoice;
  /** Whether those elsewhere are sent keys and tokens of texts. */
  readonly secrets?: ConfigValues["index"]["secrets"];
  /** Flags of Node for the process that holds a transformers model; this process's own unless it is said otherwise. */
  readonly execArgv?: readonly string[];
};
