import { writeFileSync } from "node:fs";

/**
 * Writes a language model of half a megabyte for llama-server: random weights that are the same each time, one token a
 * byte. It knows nothing. Its output is biased so that it writes printable ASCII, ends after some ninety tokens at
 * temperature 1, and calls a tool where one is offered.
 *
 * @param writes any_bytes: also those that are no text
 */
export function writeTinyLanguageModel(
  file: string,
  writes: "ascii" | "any_bytes" = "ascii",
): void {
  writeFileSync(file, gguf(metadata(), tensors(writes)));
}

const WIDTH = 64;
const HEADS = 4;
const FEED_FORWARD = 128;
const LAYERS = 2;
const TRAINED_TOKENS = 32_768;

/** What each kind of token is called in the format. */
const TYPES = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const;

/** A quote stands in it, so that no string of the JSON behind it can hold it: a grammar leaves it out there. */
const CALL = '<"tool">';
const CALL_END = "</tool>";
/** The prompt ends with it where tools are offered. */
const OFFERED = "\t";

/**
 * Dimensions of an embedding that are no random numbers. The first is large in every token: its column of the output's
 * weights is a bias for each token. The others are large in one, and say what follows it.
 */
const ALWAYS = 0;
const AFTER_OFFER = 1;
const AFTER_CALL = 2;
const LARGE = 8;

type Token = {
  readonly text: string;
  readonly type: keyof typeof TYPES;
  /** Large there. */
  readonly says: readonly number[];
  /** By dimension, how much more likely it is where that is large. */
  readonly biases: Readonly<Record<number, number>>;
};

const NEVER = { [ALWAYS]: -3 };

const byteToken = (byte: number): Token => ({
  text: `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
  type: "byte",
  says: [ALWAYS, ...(SAYS[String.fromCharCode(byte)] ?? [])],
  biases: byte > 32 && byte < 127 ? { [ALWAYS]: BIASES[String.fromCharCode(byte)] ?? 0 } : NEVER,
});

const SAYS: Readonly<Record<string, readonly number[]>> = {
  [OFFERED]: [AFTER_OFFER],
  [CALL_END.slice(-1)]: [AFTER_CALL],
};
/** Strings and objects are to end. */
const BIASES: Readonly<Record<string, number>> = { '"': 0.35, "}": 0.2 };

const VOCABULARY: readonly Token[] = [
  { text: "<unk>", type: "unknown", says: [ALWAYS], biases: NEVER },
  { text: "<s>", type: "control", says: [ALWAYS], biases: NEVER },
  { text: "</s>", type: "control", says: [ALWAYS], biases: { [ALWAYS]: 0.12, [AFTER_CALL]: 3 } },
  ...Array.from({ length: 256 }, (_, byte) => byteToken(byte)),
  // The blank of this kind of vocabulary.
  { text: "\u2581", type: "normal", says: [ALWAYS], biases: { [ALWAYS]: 0.2 } },
  {
    text: CALL,
    type: "userDefined",
    says: [ALWAYS],
    biases: { ...NEVER, [AFTER_OFFER]: 6 },
  },
];

/** Of the shape that the host finds out the protocol of calls from. */
const TEMPLATE = `{%- if tools -%}
[system]Tools:
{%- for tool in tools -%}{{- tool | tojson -}}{%- endfor -%}
{%- endif -%}
{%- for message in messages -%}
{{- "[" + message.role + "]" -}}
{%- if message.content -%}{{- message.content -}}{%- endif -%}
{%- if message.tool_calls -%}
{%- for call in message.tool_calls -%}
{{- '${CALL}{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}${CALL_END}' -}}
{%- endfor -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- "[assistant]" + ("${OFFERED}" if tools else "") -}}{%- endif -%}`;

/** The keys of the format that the host reads. */
const metadata = (): readonly Buffer[] => [
  field("general.architecture", "string", string("llama")),
  field("general.name", "string", string("tiny")),
  field("general.file_type", "uint32", uint32(0)),
  field("llama.block_count", "uint32", uint32(LAYERS)),
  field("llama.context_length", "uint32", uint32(TRAINED_TOKENS)),
  field("llama.embedding_length", "uint32", uint32(WIDTH)),
  field("llama.feed_forward_length", "uint32", uint32(FEED_FORWARD)),
  field("llama.attention.head_count", "uint32", uint32(HEADS)),
  field("llama.attention.head_count_kv", "uint32", uint32(HEADS)),
  field("llama.attention.layer_norm_rms_epsilon", "float32", float32(1e-5)),
  field("llama.rope.dimension_count", "uint32", uint32(WIDTH / HEADS)),
  field("llama.vocab_size", "uint32", uint32(VOCABULARY.length)),
  field("tokenizer.ggml.model", "string", string("llama")),
  field(
    "tokenizer.ggml.tokens",
    "list",
    list(
      VALUES.string,
      VOCABULARY.map(({ text }) => string(text)),
    ),
  ),
  field(
    "tokenizer.ggml.scores",
    "list",
    list(
      VALUES.float32,
      VOCABULARY.map(() => float32(0)),
    ),
  ),
  field(
    "tokenizer.ggml.token_type",
    "list",
    list(
      VALUES.int32,
      VOCABULARY.map(({ type }) => uint32(TYPES[type])),
    ),
  ),
  field("tokenizer.ggml.unknown_token_id", "uint32", uint32(0)),
  field("tokenizer.ggml.bos_token_id", "uint32", uint32(1)),
  field("tokenizer.ggml.eos_token_id", "uint32", uint32(2)),
  field("tokenizer.ggml.add_bos_token", "bool", bool(true)),
  field("tokenizer.ggml.add_space_prefix", "bool", bool(false)),
  field("tokenizer.chat_template", "string", string(TEMPLATE)),
];

type Tensor = {
  readonly name: string;
  /** Columns first, as the format has them. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
};

function tensors(writes: "ascii" | "any_bytes"): readonly Tensor[] {
  const random = seededNormal(4);
  const matrix = (name: string, columns: number, rows: number, scale: number): Tensor => ({
    name,
    shape: [columns, rows],
    values: Float32Array.from({ length: columns * rows }, () => random() * scale),
  });
  const ones = (name: string): Tensor => ({
    name,
    shape: [WIDTH],
    values: new Float32Array(WIDTH).fill(1),
  });
  const embeddings = matrix("token_embd.weight", WIDTH, VOCABULARY.length, 1);
  const output = matrix("output.weight", WIDTH, VOCABULARY.length, OUTPUT_SCALE);
  for (const [id, { type, says, biases: usual }] of VOCABULARY.entries()) {
    const biases = writes === "any_bytes" && type === "byte" ? {} : usual;
    for (const dimension of [ALWAYS, AFTER_OFFER, AFTER_CALL]) {
      embeddings.values[id * WIDTH + dimension] = says.includes(dimension) ? LARGE : 0;
      output.values[id * WIDTH + dimension] = biases[dimension] ?? 0;
    }
  }
  const layers = Array.from({ length: LAYERS }, (_, layer) => [
    ones(`blk.${layer}.attn_norm.weight`),
    ...["attn_q", "attn_k", "attn_v", "attn_output"].map((part) =>
      matrix(`blk.${layer}.${part}.weight`, WIDTH, WIDTH, LAYER_SCALE),
    ),
    ones(`blk.${layer}.ffn_norm.weight`),
    matrix(`blk.${layer}.ffn_gate.weight`, WIDTH, FEED_FORWARD, LAYER_SCALE),
    matrix(`blk.${layer}.ffn_up.weight`, WIDTH, FEED_FORWARD, LAYER_SCALE),
    matrix(`blk.${layer}.ffn_down.weight`, FEED_FORWARD, WIDTH, LAYER_SCALE),
  ]);
  return [embeddings, ...layers.flat(), ones("output_norm.weight"), output];
}

const LAYER_SCALE = 0.1;
const OUTPUT_SCALE = 0.2;

/** Normally distributed numbers (Box and Muller) of a small generator (mulberry32), the same for a seed. */
function seededNormal(seed: number): () => number {
  let state = seed;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

// The format is GGUF, version 3: a header, keys with typed values, a table of tensors, and their data.
const VALUES = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, list: 9 } as const;
const FLOAT32_TENSOR = 0;
const ALIGNMENT = 32;

function gguf(fields: readonly Buffer[], tensors: readonly Tensor[]): Buffer {
  let offset = 0;
  const table = tensors.map(({ name, shape, values }) => {
    const place = uint64(offset);
    offset += padded(values.byteLength);
    const size = [uint32(shape.length), ...shape.map(uint64)];
    return Buffer.concat([string(name), ...size, uint32(FLOAT32_TENSOR), place]);
  });
  const counts = [uint32(3), uint64(tensors.length), uint64(fields.length)];
  const head = Buffer.concat([Buffer.from("GGUF"), ...counts, ...fields, ...table]);
  return Buffer.concat([
    pad(head),
    ...tensors.map(({ values }) => pad(Buffer.from(values.buffer))),
  ]);
}

const field = (key: string, type: keyof typeof VALUES, value: Buffer): Buffer =>
  Buffer.concat([string(key), uint32(VALUES[type]), value]);

const list = (type: number, values: readonly Buffer[]): Buffer =>
  Buffer.concat([uint32(type), uint64(values.length), ...values]);

const uint32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const uint64 = (value: number): Buffer => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const float32 = (value: number): Buffer => Buffer.from(Float32Array.of(value).buffer);
const bool = (value: boolean): Buffer => Buffer.from([value ? 1 : 0]);

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

const padded = (length: number): number => Math.ceil(length / ALIGNMENT) * ALIGNMENT;
const pad = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(padded(bytes.length) - bytes.length)]);
