import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { isRecord, parseJson } from "../../../shared/schema/json-value.ts";
import { TEMPLATE_FILE } from "./model-files.ts";
import type { CompleteRequest, Completion } from "./model-files.ts";

/** The part of @huggingface/transformers that generates. The package is optional, so its types may be absent. */
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
  /** What templates of models that can think or not go by. */
  readonly enable_thinking: false;
};

export type ChatTokenizer = {
  /** That of tokenizer_config.json, several of them by name, or null. */
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

/** The scores of the next token, one for each of the vocabulary; they are changed in place. */
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
  /** Writes a reply, one at a time. @throws what the library throws, whose words may repeat the prompt */
  complete(request: CompleteRequest): Promise<Completion | { readonly kind: "aborted" }>;
  /** Ends the reply that is being written at its next token. */
  abort(): void;
};

type Place = {
  /** Absolute folder of the model, and its name as the library takes it. */
  readonly folder: string;
  readonly name: string;
  readonly windowTokens: number;
};

/** @throws Error for a model that can't chat, with words about it alone */
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
    // Before anything is waited for: an abort may come right behind the request.
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
      logits_processor: topP === null || temperature === 0 ? [] : [likeliest(topP)],
      stopping_criteria: [
        interruption,
        ...(stop.length === 0
          ? []
          : [(ids: readonly bigint[][]) => ids.map((one) => stopIn(textOf(one), stop) !== null)]),
      ],
    });
    if (interruption.interrupted) return { kind: "aborted" };
    const ids = Array.from(data);
    const isAtEnd = ends.includes(Number(ids.at(-1)));
    // An end may be a token that counts as a word elsewhere.
    const text = textOf(isAtEnd ? ids.slice(0, -1) : ids);
    const stopped = stopIn(text, stop);
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

/** Whatever generation_config.json says: with others the library gives something else than one list of tokens. */
const ONE_REPLY = {
  num_beams: 1,
  num_return_sequences: 1,
  return_dict_in_generate: false,
} as const;

/**
 * The template of prompts: the file of its own before the one of tokenizer_config.json, as in the library for Python; of
 * several by name the default. The library looks for the file with models of images alone.
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

/** @returns the empty text where the template refuses the messages */
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

/** Every token that one of the files names as an end: chat models have several, most of them in generation_config.json. */
function endTokensOf(
  { eos_token_id }: ChatTokenizer,
  { config, generation_config }: CausalModel,
): readonly number[] {
  const named = [eos_token_id, config.eos_token_id, generation_config?.eos_token_id].flat();
  return [...new Set(named.filter((id) => typeof id === "number"))];
}

/** The special tokens of a tokenizer: written in a prompt they would be taken for what they stand for. */
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

/** The library reads the marks of a template also where a document has them: there each gets a dot behind its first character. */
const breakMarks = (content: string, marks: readonly string[]): string =>
  marks.reduce(
    (text, mark) => text.replaceAll(mark, `${mark.slice(0, 1)}·${mark.slice(1)}`),
    content,
  );

/** Where the first of these words stands in a text; null where none does. */
function stopIn(text: string, stop: readonly string[]): number | null {
  const places = stop.map((word) => text.indexOf(word)).filter((place) => place >= 0);
  return places.length === 0 ? null : Math.min(...places);
}

/** Leaves only the likeliest tokens of so much probability together, at least one: the library knows the option and does not do it. */
const likeliest =
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
