import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "night", "desk", "rail"];
const DIMS = 4;

/** Writes a real model of a few hundred bytes: one look-up of a row for each word. */
export function writeTinyModel(folder: string): void {
  mkdirSync(join(folder, "onnx"), { recursive: true });
  const json = (name: string, value: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(value));
  };
  json("config.json", { model_type: "bert", architectures: ["BertModel"] });
  json("tokenizer_config.json", {
    tokenizer_class: "BertTokenizer",
    model_max_length: 512,
    pad_token: "[PAD]",
  });
  json("tokenizer.json", tokenizer());
  writeFileSync(join(folder, "onnx", "model.onnx"), onnxModel());
}

const tokenizer = () => ({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: VOCABULARY.slice(0, 5).map((content, id) => ({ id, content, special: true })),
  normalizer: { type: "BertNormalizer", lowercase: true, clean_text: true },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: { type: "BertProcessing", sep: ["[SEP]", 3], cls: ["[CLS]", 2] },
  decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(VOCABULARY.map((word, id) => [word, id])),
  },
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

function onnxModel(): Buffer {
  const table = Float32Array.from(
    VOCABULARY.flatMap((_, id) =>
      Array.from({ length: DIMS }, (__, at) => Math.sin(1 + id * DIMS + at)),
    ),
  );
  const weights = message(
    5,
    number(1, VOCABULARY.length),
    number(1, DIMS),
    number(2, FLOAT),
    bytes(8, "table"),
    bytes(9, Buffer.from(table.buffer)),
  );
  const gather = message(
    1,
    bytes(1, "table"),
    bytes(1, "input_ids"),
    bytes(2, "last_hidden_state"),
    bytes(4, "Gather"),
  );
  const graph = message(
    7,
    gather,
    bytes(2, "tiny"),
    weights,
    valueInfo(11, "input_ids", INT64, ["batch", "words"]),
    valueInfo(11, "attention_mask", INT64, ["batch", "words"]),
    valueInfo(12, "last_hidden_state", FLOAT, ["batch", "words", "dims"]),
  );
  return Buffer.concat([number(1, 8), graph, message(8, bytes(1, ""), number(2, 13))]);
}
