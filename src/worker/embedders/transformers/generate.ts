import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { isRecord, parseJson } from "../../../shared/schema/json-value.ts";
import { TEMPLATE_FILE } from "./model-files.ts";
import type { CompleteRequest, Completion } from "./model-files.ts";

/** The part of @huggingface/transformers for generation. The package is optional, so its types may be missing. */
export type GeneratingLibrary = {
  readonly AutoTokenizer: {
    from_pretrained(model: string, options: LoadOptions): Promise<ChatTokenizer>;
  };
  readonly AutoModelForCausalLM: {
    from_pretrained(model: string, options: LoadOptions): Promise<CausalModel>;
  };
  readonly InterruptableStoppingCriteria: new () => Interruption;
  readonly random: { seed(seed: number): void };
};

type LoadOptions = { readonly local_files_only: true };
type Ids = { readonly dims: readonly number[]; readonly data: ArrayLike<bigint> };
type ChatMessage = CompleteRequest["messages"][number];

type PromptOptions = {
  readonly chat_template: string;
  readonly add_generation_prompt: true;
  /** Switches thinking off in templates of models with optional thinking. */
  readonly enable_thinking: false;
};

export type ChatTokenizer = {
  /** The template of tokenizer_config.json, several of them by name, or null. */
  readonly chat_template: unknown;
  readonly eos_token_id?: number;
  apply_chat_template(
    messages: readonly ChatMessage[],
    options: PromptOptions & { readonly tokenize: false },
  ): string;
  apply_chat_template(
    messages: readonly ChatMessage[],
    options: PromptOptions,
  ): { readonly input_ids: Ids };
  decode(ids: readonly bigint[], options: { readonly skip_special_tokens: true }): string;
};

type StoppingCriterion = (ids: readonly bigint[][]) => readonly boolean[];
type Interruption = StoppingCriterion & {
  readonly interrupted: boolean;
  interrupt(): void;
  reset(): void;
};

/** The scores of the next token over the vocabulary; processors change them in place. */
type Scores = { readonly data: Float32Array };

type CausalModel = {
  readonly config: EndTokens;
  readonly generation_config: EndTokens | null;
  generate(options: {
    readonly input_ids: Ids;
    readonly max_new_tokens: number;
    readonly do_sample: boolean;
    readonly temperature: number;
    readonly top_k: number;
    readonly eos_token_id: readonly number[];
    readonly num_beams: 1;
    readonly num_return_sequences: 1;
    readonly return_dict_in_generate: false;
    readonly logits_processor: readonly ((ids: readonly bigint[][], scores: Scores) => Scores)[];
    readonly stopping_criteria: readonly StoppingCriterion[];
  }): Promise<Ids>;
};
type EndTokens = { readonly eos_token_id?: number | readonly number[] | null };

export type Generator = {
  /** Writes one reply at a time. @throws the library's errors, whose message may repeat the prompt */
  complete(request: CompleteRequest): Promise<Completion | { readonly kind: "aborted" }>;
  /** Ends the current reply at its next token. */
  abort(): void;
};

type Place = {
  /** Absolute folder of the model, and its name for the library. */
  readonly folder: string;
  readonly name: string;
  readonly windowTokens: number;
};

/** @throws Error for a model that can't chat; its message is only about the model */
export async function loadGenerator(
  library: GeneratingLibrary,
  { folder, name, windowTokens }: Place,
  options: LoadOptions,
): Promise<Generator> {
  const tokenizer = await library.AutoTokenizer.from_pretrained(name, { local_files_only: true });
  const prompt = {
    chat_template: await templateOf(tokenizer, folder),
    add_generation_prompt: true,
    enable_thinking: false,
  } as const;
  assertChats(tokenizer, prompt);
  const marks = await findMarks(folder);
  const model = await library.AutoModelForCausalLM.from_pretrained(name, options);
  const ends = endTokensOf(tokenizer, model);
  const interruption = new library.InterruptableStoppingCriteria();
  const complete: Generator["complete"] = async (request) => {
    // Before the first await: an abort may arrive right after the request.
    interruption.reset();
    const { messages, maxTokens, temperature, seed, topP, stop } = request;
    const { input_ids } = tokenizer.apply_chat_template(
      messages.map(({ role, content }) => ({ role, content: breakMarks(content, marks) })),
      prompt,
    );
    const promptTokens = input_ids.dims[1] ?? 0;
    const most = Math.min(maxTokens, windowTokens - promptTokens);
    if (most < 1) return { kind: "too_long", promptTokens };
    const textOf = (ids: readonly bigint[]): string =>
      tokenizer.decode(ids.slice(promptTokens), { skip_special_tokens: true });
    library.random.seed(seed);
    const { data } = await model.generate({
      input_ids,
      max_new_tokens: most,
      do_sample: temperature > 0,
      temperature,
      top_k: 0,
      eos_token_id: ends,
      ...ONE_REPLY,
      logits_processor: topP === null || temperature === 0 ? [] : [keepLikeliest(topP)],
      stopping_criteria: [
        interruption,
        ...(stop.length === 0
          ? []
          : [(ids: readonly bigint[][]) => ids.map((one) => findStop(textOf(one), stop) !== null)]),
      ],
    });
    if (interruption.interrupted) return { kind: "aborted" };
    const ids = Array.from(data);
    const isAtEnd = ends.includes(Number(ids.at(-1)));
    // Drops the end token, which may also be the text of a normal word.
    const text = textOf(isAtEnd ? ids.slice(0, -1) : ids);
    const stopped = findStop(text, stop);
    return {
      kind: "completed",
      text: stopped === null ? text : text.slice(0, stopped),
      promptTokens,
      completionTokens: ids.length - promptTokens,
      finish: stopped !== null || isAtEnd ? "stop" : "length",
    };
  };
  return {
    complete,
    abort() {
      interruption.interrupt();
    },
  };
}

/** Overrides generation_config.json: with other values the library does not return a single list of tokens. */
const ONE_REPLY = {
  num_beams: 1,
  num_return_sequences: 1,
  return_dict_in_generate: false,
} as const;

/**
 * The prompt template: the template file, else the one in tokenizer_config.json, as in the Python library; of several named
 * ones the default. The JavaScript library reads the file only for models of images.
 */
async function templateOf({ chat_template }: ChatTokenizer, folder: string): Promise<string> {
  const file = posix.join(folder, TEMPLATE_FILE);
  if (existsSync(file)) return readFile(file, "utf8");
  const template = isRecord(chat_template) ? chat_template["default"] : chat_template;
  if (typeof template === "string") return template;
  throw new Error(
    `no chat template stands in ${TEMPLATE_FILE} or tokenizer_config.json: put one there, or name a model that was made to chat`,
  );
}

function assertChats(tokenizer: ChatTokenizer, prompt: PromptOptions): void {
  const trial = [
    { role: "system", content: "first" },
    { role: "user", content: "second" },
  ] as const;
  if (!/first.*second/s.test(renderTrial(tokenizer, trial, prompt)))
    throw new Error(
      `its chat template takes no system message before one of a user: put another into ${TEMPLATE_FILE}`,
    );
}

/** @returns the empty text if the template rejects the messages */
function renderTrial(
  tokenizer: ChatTokenizer,
  messages: readonly ChatMessage[],
  prompt: PromptOptions,
): string {
  try {
    return tokenizer.apply_chat_template(messages, { ...prompt, tokenize: false });
  } catch {
    return "";
  }
}

/** All tokens that one of the files names as an end: chat models have several, most of them in generation_config.json. */
function endTokensOf(
  { eos_token_id }: ChatTokenizer,
  { config, generation_config }: CausalModel,
): readonly number[] {
  const named = [eos_token_id, config.eos_token_id, generation_config?.eos_token_id].flat();
  return [...new Set(named.filter((id) => typeof id === "number"))];
}

/** The special tokens of a tokenizer: in a prompt they would act as control tokens. */
async function findMarks(folder: string): Promise<readonly string[]> {
  const file = posix.join(folder, "tokenizer.json");
  const tokenizer = parseJson(await readFile(file, "utf8"));
  const added = isRecord(tokenizer) ? tokenizer["added_tokens"] : undefined;
  const tokens: readonly unknown[] = Array.isArray(added) ? added : [];
  return tokens.flatMap((token) =>
    isRecord(token) && token["special"] === true && typeof token["content"] === "string"
      ? [token["content"]]
      : [],
  );
}

/** Inserts a dot behind the first character of each mark: the library would interpret marks also in the text of a document. */
const breakMarks = (content: string, marks: readonly string[]): string =>
  marks.reduce(
    (text, mark) => text.replaceAll(mark, `${mark.slice(0, 1)}·${mark.slice(1)}`),
    content,
  );

/** The offset of the first of these words in a text; null if none occurs. */
function findStop(text: string, stop: readonly string[]): number | null {
  const places = stop.map((word) => text.indexOf(word)).filter((place) => place >= 0);
  return places.length === 0 ? null : Math.min(...places);
}

/** Keeps only the likeliest tokens with this total probability, at least one: the library accepts top_p but ignores it. */
const keepLikeliest =
  (topP: number) =>
  (_: readonly bigint[][], scores: Scores): Scores => {
    const { data } = scores;
    const order = Array.from(data.keys()).sort(
      (one, other) => (data[other] ?? 0) - (data[one] ?? 0),
    );
    const most = data[order[0] ?? 0] ?? 0;
    const total = data.reduce((sum, score) => sum + Math.exp(score - most), 0);
    let sum = 0;
    for (const token of order) {
      const share = Math.exp((data[token] ?? 0) - most) / total;
      if (sum >= topP && sum > 0) data[token] = Number.NEGATIVE_INFINITY;
      sum += share;
    }
    return scores;
  };
