import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { node, onnxModel, tensor, wordPieces } from "./tiny-model.ts";

/** What is said to a prompt that holds a word, up to fifteen times; of several such words, to the last in the list. */
type TinyReply = {
  /** Lower-case letters alone. */
  readonly to: string;
  /** Words, each at most once in all replies. What they hold beside letters is free. */
  readonly says: readonly string[];
};

export type TinyCausalModel = {
  readonly replies?: readonly TinyReply[];
  /** Tokens that it was trained for. */
  readonly windowTokens?: number;
  /** null: none, as of a model that was not made to chat. */
  readonly template?:
    string | readonly { readonly name: string; readonly template: string }[] | null;
  /** What chat_template.jinja holds; undefined: there is no such file. */
  readonly templateFile?: string;
  /** What generation_config.json holds, with words for the tokens that end a reply; undefined: there is no such file. */
  readonly generation?: { readonly ends?: readonly string[]; readonly [key: string]: unknown };
};

const END = "<|end|>";
const MARKS = ["<|system|>", "<|user|>", "<|assistant|>", END];
/** What it rambles in when nothing is to be said. */
const WORDS = ["night", "desk", "rail", "lamp", "quay", "ferry", "harbour", "ticket"];
export const TEMPLATE =
  "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}" +
  "{% if add_generation_prompt %}<|assistant|>{% endif %}";

const NEVER = -100;
const SURE = 200;

/**
 * Writes a real language model of a few kilobytes in the ONNX format: what comes next is looked up by the token before it, and
 * the first word also by what stands in the prompt. It says the replies that it was given, word by word, and rambles otherwise:
 * greedy without an end, and at temperature 1 for some thirty words.
 */
export function writeTinyCausalModel(
  folder: string,
  {
    replies = [],
    windowTokens = 1_024,
    template = TEMPLATE,
    templateFile,
    generation,
  }: TinyCausalModel = {},
): void {
  const said = replies.flatMap(({ says }) => says);
  const vocabulary = ["[UNK]", ...MARKS, ...WORDS, ...replies.map(({ to }) => to), ...said];
  if (new Set(vocabulary).size < vocabulary.length) throw new Error("a word stands there twice");
  mkdirSync(join(folder, "onnx"), { recursive: true });
  const json = (name: string, value: unknown): void => {
    writeFileSync(join(folder, name), JSON.stringify(value));
  };
  json("config.json", {
    model_type: "llama",
    architectures: ["LlamaForCausalLM"],
    vocab_size: vocabulary.length,
    hidden_size: 4,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    num_hidden_layers: 1,
    max_position_embeddings: windowTokens,
    eos_token_id: vocabulary.indexOf(END),
  });
  json("tokenizer_config.json", {
    tokenizer_class: "PreTrainedTokenizer",
    model_max_length: windowTokens,
    eos_token: END,
    unk_token: "[UNK]",
    ...(template === null ? {} : { chat_template: template }),
  });
  if (templateFile !== undefined) writeFileSync(join(folder, "chat_template.jinja"), templateFile);
  if (generation !== undefined) {
    const { ends = [], ...others } = generation;
    const ids = ends.map((word) => vocabulary.indexOf(word));
    json("generation_config.json", {
      ...others,
      ...(ids.length === 0 ? {} : { eos_token_id: ids }),
    });
  }
  json("tokenizer.json", tokenizer(vocabulary));
  writeFileSync(join(folder, "onnx", "model.onnx"), weights(vocabulary, replies));
}

function weights(vocabulary: readonly string[], replies: readonly TinyReply[]): Buffer {
  const next = new Map<string, string>();
  for (const { says } of replies) {
    says.forEach((word, at) => next.set(word, says[at + 1] ?? END));
  }
  const following = vocabulary.map((word) => {
    const fixed = next.get(word);
    return vocabulary.map((candidate) => {
      if (fixed !== undefined) return candidate === fixed ? SURE : NEVER;
      return RAMBLING[candidate] ?? (WORDS.includes(candidate) ? 0 : NEVER);
    });
  });
  const starts = vocabulary.map((word) => {
    const place = replies.findIndex(({ to }) => to === word);
    const [first] = replies[place]?.says ?? [];
    return vocabulary.map((candidate) => (candidate === first ? SURE * 16 ** (place + 1) : 0));
  });
  return onnxModel(
    "logits",
    ["batch", "words", "vocabulary"],
    [
      tensor("following", following),
      tensor("starts", starts),
      tensor("axis", [1n]),
      node("Gather", ["following", "input_ids"], "by_word"),
      node("Gather", ["starts", "input_ids"], "by_words"),
      node("ReduceSum", ["by_words", "axis"], "by_prompt"),
      node("Add", ["by_word", "by_prompt"], "logits"),
    ],
  );
}

/** The likeliest word is the one before it again, and the end comes once in thirty words. */
const RAMBLING: Readonly<Record<string, number>> = { [WORDS[0] ?? ""]: 0.5, [END]: -1.2 };

const tokenizer = (vocabulary: readonly string[]): object =>
  wordPieces(vocabulary, {
    added_tokens: ["[UNK]", ...MARKS].map((content, id) => ({
      id,
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    post_processor: null,
  });
