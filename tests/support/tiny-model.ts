import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/** Writes a real model of a few hundred bytes: one look-up of a row for each word. */
export function writeTinyModel(folder: string): void {
  const vocabulary = [...SPECIAL, "night", "desk", "rail"];
  const rows = vocabulary.map((_, id) =>
    Array.from({ length: 4 }, (__, at) => Math.sin(1 + id * 4 + at)),
  );
  write(folder, vocabulary, {
    config: { architectures: ["BertModel"] },
    maxLength: 512,
    onnx: onnxModel(
      "last_hidden_state",
      ["batch", "words", "dims"],
      [tensor("table", rows), node("Gather", ["table", "input_ids"], "last_hidden_state")],
    ),
  });
}

export const ENTAILMENT_LABELS = ["contradiction", "entailment", "neutral"];

type TinyClassifier = {
  /** Words that make a pair entailed, whichever of the two texts they stand in. */
  readonly entails?: readonly string[];
  /** Words that make it a contradiction, whatever else stands there. */
  readonly contradicts?: readonly string[];
  /** Names of the scores, in the order in which the model gives them. */
  readonly labels?: readonly string[];
  readonly maxLength?: number;
};

/**
 * Writes a real classifier of pairs: the score of a label is the sum of what each word gives it. Two texts without a word
 * that it knows are neutral.
 */
export function writeTinyClassifier(
  folder: string,
  {
    entails = ["vessel"],
    contradicts = ["sunk"],
    labels = ENTAILMENT_LABELS,
    maxLength = 128,
  }: TinyClassifier = {},
): void {
  const vocabulary = [...SPECIAL, ...entails, ...contradicts];
  const rows = vocabulary.map((word) =>
    labels.map((label) => {
      if (label === "entailment") return entails.includes(word) ? 8 : 0;
      if (label === "contradiction") return contradicts.includes(word) ? 20 : 0;
      return word === "[CLS]" ? 4 : 0;
    }),
  );
  writeClassifier(folder, { vocabulary, rows, labels, maxLength });
}

type TinyReranker = {
  /** What each word gives, whichever of the two texts it stands in; any other gives nothing. */
  readonly weights: Readonly<Record<string, number>>;
  readonly labels?: readonly string[];
  readonly maxLength?: number;
};

/** Writes a real classifier of pairs that gives one number: the sum of what each word gives. */
export function writeTinyReranker(
  folder: string,
  { weights, labels = ["LABEL_0"], maxLength = 128 }: TinyReranker,
): void {
  const vocabulary = [...SPECIAL, ...Object.keys(weights)];
  const rows = vocabulary.map((word) => [weights[word] ?? 0]);
  writeClassifier(folder, { vocabulary, rows, labels, maxLength });
}

type WordTable = {
  readonly vocabulary: readonly string[];
  /** What each word adds to each score. */
  readonly rows: readonly (readonly number[])[];
  readonly labels: readonly string[];
  readonly maxLength: number;
};

function writeClassifier(folder: string, { vocabulary, rows, labels, maxLength }: WordTable): void {
  write(folder, vocabulary, {
    config: {
      architectures: ["BertForSequenceClassification"],
      id2label: Object.fromEntries(labels.map((label, id) => [id, label])),
    },
    maxLength,
    onnx: onnxModel(
      "logits",
      ["batch", "labels"],
      [
        tensor("table", rows),
        tensor("axis", [1n]),
        node("Gather", ["table", "input_ids"], "rows"),
        node("ReduceSum", ["rows", "axis"], "sums"),
        node("Squeeze", ["sums", "axis"], "logits"),
      ],
    ),
  });
}

type TinyModel = {
  readonly config: Readonly<Record<string, unknown>>;
  readonly maxLength: number;
  readonly onnx: Buffer;
};

function write(
  folder: string,
  vocabulary: readonly string[],
  { config, maxLength, onnx }: TinyModel,
): void {
  mkdirSync(join(folder, "onnx"), { recursive: true });
  const json = (name: string, value: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(value));
  };
  json("config.json", { model_type: "bert", ...config });
  json("tokenizer_config.json", {
    tokenizer_class: "BertTokenizer",
    model_max_length: maxLength,
    pad_token: "[PAD]",
  });
  json("tokenizer.json", tokenizer(vocabulary));
  writeFileSync(join(folder, "onnx", "model.onnx"), onnx);
}

type SpecialTokens = {
  readonly added_tokens: readonly object[];
  readonly post_processor: object | null;
};

/** A tokenizer.json that parts small letters at blanks and marks, and knows these words. */
export const wordPieces = (vocabulary: readonly string[], special: SpecialTokens): object => ({
  version: "1.0",
  truncation: null,
  padding: null,
  ...special,
  normalizer: { type: "BertNormalizer", lowercase: true, clean_text: true },
  pre_tokenizer: { type: "BertPreTokenizer" },
  decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
  },
});

const tokenizer = (vocabulary: readonly string[]): object =>
  wordPieces(vocabulary, {
    added_tokens: SPECIAL.map((content, id) => ({ id, content, special: true })),
    post_processor: { type: "BertProcessing", sep: ["[SEP]", 3], cls: ["[CLS]", 2] },
  });

// Protobuf by hand: field numbers of onnx.proto (IR version 8, opset 13).
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
const number = (field: number, value: number): Buffer =>
  Buffer.from([field << 3, ...varint(value)]);
const bytes = (field: number, content: Buffer | string): Buffer => {
  const body = Buffer.from(content);
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...varint(body.length)]), body]);
};
const message = (field: number, ...parts: Buffer[]): Buffer => bytes(field, Buffer.concat(parts));

const FLOAT = 1;
const INT64 = 7;

function valueInfo(field: number, name: string, type: number, dims: readonly string[]): Buffer {
  const shape = message(2, ...dims.map((dim) => message(1, bytes(2, dim))));
  return message(field, bytes(1, name), message(2, message(1, number(1, type), shape)));
}

/** A part of a graph: a constant (field 5) or a node (field 1). */
export function tensor(
  name: string,
  values: readonly (readonly number[])[] | readonly bigint[],
): Buffer {
  const isTable = Array.isArray(values[0]);
  const rows = isTable ? (values as readonly (readonly number[])[]) : [];
  const raw = isTable
    ? Float32Array.from(rows.flat())
    : BigInt64Array.from(values as readonly bigint[]);
  const dims = isTable ? [rows.length, rows[0]?.length ?? 0] : [values.length];
  return message(
    5,
    ...dims.map((dim) => number(1, dim)),
    number(2, isTable ? FLOAT : INT64),
    bytes(8, name),
    bytes(9, Buffer.from(raw.buffer)),
  );
}

export const node = (operation: string, inputs: readonly string[], output: string): Buffer =>
  message(1, ...inputs.map((input) => bytes(1, input)), bytes(2, output), bytes(4, operation));

/** A model of the inputs `input_ids` and `attention_mask`, and of one output. */
export function onnxModel(
  output: string,
  dims: readonly string[],
  parts: readonly Buffer[],
): Buffer {
  const graph = message(
    7,
    ...parts,
    bytes(2, "tiny"),
    valueInfo(11, "input_ids", INT64, ["batch", "words"]),
    valueInfo(11, "attention_mask", INT64, ["batch", "words"]),
    valueInfo(12, output, FLOAT, dims),
  );
  return Buffer.concat([number(1, 8), graph, message(8, bytes(1, ""), number(2, 13))]);
}
