import { pathToFileURL } from "node:url";
import { endWithParent, firstLineOf } from "../../forked-process.ts";
import type {
  CallReply,
  CallRequest,
  CompleteRequest,
  EmbedRequest,
  LoadReply,
  LoadRequest,
  Request,
} from "./messages.ts";
import type {
  ChatMessage,
  EmbeddingContext,
  Grammar,
  Library,
  Llama,
  LlamaModel,
  Response,
  Sequence,
} from "./library.ts";

// The process that holds a model: started by model-process.ts with a channel, told by messages, silent otherwise. A fault of
// the native library ends this process and no other.

/** What a call has for itself: a sequence of a context, which keeps what it has read, or the context that embeds. */
type Place =
  | { readonly task: "complete"; readonly sequence: Sequence }
  | { readonly task: "embed"; readonly context: EmbeddingContext };

/** A model that is loaded, with the places that no call has now. */
type Loaded = {
  readonly library: Library;
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly windowTokens: number;
  readonly free: Place[];
};

let loaded: Loaded | undefined;
/** Calls that wait for a place, first come first. */
const line: (() => void)[] = [];
const running = new Map<number, AbortController>();

async function load(request: LoadRequest): Promise<LoadReply> {
  let library: Library;
  let llama: Llama;
  try {
    library = (await import(pathToFileURL(request.library).href)) as Library;
    llama = await library.getLlama({
      gpu: request.gpu === "off" ? false : request.gpu,
      // What is not there as a binary is never compiled, and never downloaded.
      build: "never",
      progressLogs: false,
      logLevel: library.LlamaLogLevel.disabled,
    });
  } catch (error) {
    return { kind: "not_ready", why: "no_runtime", message: firstLineOf(error) };
  }
  const processor = llama.gpu === false ? "cpu" : llama.gpu;
  if (request.file === null) return { kind: "ready", processor, model: null };
  try {
    const model = await llama.loadModel({ modelPath: request.file });
    const windowTokens = Math.min(request.windowTokens, model.trainContextSize);
    const free = await createPlaces(model, windowTokens, request);
    loaded = { library, llama, model, windowTokens, free };
    const quantization = quantizationOf(library, model);
    return { kind: "ready", processor, model: { windowTokens, quantization } };
  } catch (error) {
    const isMemory = error instanceof Error && error.name === "InsufficientMemoryError";
    const why = isMemory ? "no_memory" : "no_model";
    return { kind: "not_ready", why, message: firstLineOf(error) };
  }
}

/** The places for calls: as many sequences as calls are made at once, and one context for texts, which calculates one after another. */
async function createPlaces(
  model: LlamaModel,
  windowTokens: number,
  { task, parallel, threads: wanted }: LoadRequest,
): Promise<Place[]> {
  const threads = wanted === null ? {} : { threads: wanted };
  if (task === "embed") {
    // A text has to be shorter than what the library calls the size.
    const size = windowTokens + 1;
    const options = { contextSize: size, batchSize: size, ...threads };
    return [{ task, context: await model.createEmbeddingContext(options) }];
  }
  const options = { contextSize: windowTokens, sequences: parallel, ...threads };
  const context = await model.createContext(options);
  return Array.from({ length: parallel }, () => ({ task, sequence: context.getSequence() }));
}

/** The format numbers them; the library names them like MOSTLY_Q4_K_M. */
function quantizationOf(library: Library, model: LlamaModel): string | null {
  const number = model.fileInfo.metadata.general.file_type;
  const name = number === undefined ? undefined : library.GgufFileType[number];
  return name?.replace(/^(?:MOSTLY|ALL)_/, "") ?? null;
}

async function answer(request: CallRequest): Promise<CallReply> {
  const { id } = request;
  const controller = new AbortController();
  running.set(id, controller);
  const place = await takePlace(controller.signal);
  if (place === undefined) {
    running.delete(id);
    return { kind: "aborted", id };
  }
  try {
    process.send?.({ kind: "started", id } satisfies CallReply);
    return await work(request, place, controller.signal);
  } catch (error) {
    if (controller.signal.aborted) return { kind: "aborted", id };
    return { kind: "failed", id, error: error instanceof Error ? error.name : "" };
  } finally {
    giveBack(place);
    running.delete(id);
  }
}

function work(request: CallRequest, place: Place, signal: AbortSignal): Promise<CallReply> {
  if (request.kind === "complete" && place.task === "complete")
    return generate(request, place.sequence, signal);
  if (request.kind === "embed" && place.task === "embed")
    return embed(request, place.context, signal);
  throw new Error(`the model was loaded to ${place.task}`);
}

/** Of a sequence the next prompt may begin with what it has read before. */
async function takePlace(signal: AbortSignal): Promise<Place | undefined> {
  while (!signal.aborted) {
    const place = loaded?.free.pop();
    if (place !== undefined) return place;
    await new Promise<void>((resolve) => {
      line.push(resolve);
      const leave = (): void => {
        if (line.includes(resolve)) line.splice(line.indexOf(resolve), 1);
        resolve();
      };
      signal.addEventListener("abort", leave, { once: true });
    });
  }
  // It may have been woken for a place that it does not take.
  line.shift()?.();
  return undefined;
}

function giveBack(place: Place): void {
  loaded?.free.push(place);
  line.shift()?.();
}

async function generate(
  request: CompleteRequest,
  sequence: Sequence,
  signal: AbortSignal,
): Promise<CallReply> {
  const { library, llama, model, windowTokens } = loadedModel();
  const { id, temperature, seed, topP, stop } = request;
  const chat = new library.LlamaChat({ contextSequence: sequence });
  try {
    const history = request.messages.map(chatMessage);
    const answered: ChatMessage = { type: "model", response: [] };
    const state = chat.chatWrapper.generateContextState({ chatHistory: [...history, answered] });
    const promptTokens = state.contextText.tokenize(model.tokenizer).length;
    // The library would cut the prompt, and go on when the window is full by forgetting its beginning, without a word.
    const maxTokens = Math.min(request.maxTokens, windowTokens - promptTokens - SPARE_TOKENS);
    if (maxTokens < 1) return { kind: "too_long", id, tokens: promptTokens };
    const grammar = await grammarOf(llama, request.format);
    const before = sequence.tokenMeter.getState();
    const response = await chat.generateResponse(history, {
      signal,
      maxTokens,
      temperature,
      seed,
      budgets: { thoughtTokens: 0 },
      ...(topP === null ? {} : { topP }),
      ...(stop.length === 0 ? {} : { customStopTriggers: [...stop] }),
      ...(grammar === undefined ? {} : { grammar }),
    });
    const { usedOutputTokens } = sequence.tokenMeter.diff(before);
    return {
      kind: "completed",
      id,
      text: response.response,
      reasoning: reasoningOf(response),
      promptTokens,
      completionTokens: usedOutputTokens,
      finish: response.metadata.stopReason === "maxTokens" ? "length" : "stop",
    };
  } finally {
    chat.dispose();
  }
}

/** Each text is counted before any is calculated. */
async function embed(
  { id, texts }: EmbedRequest,
  context: EmbeddingContext,
  signal: AbortSignal,
): Promise<CallReply> {
  const { model, windowTokens } = loadedModel();
  const tokenized = texts.map((text) => model.tokenize(text));
  for (const tokens of tokenized) {
    const length = context.calculateInputLength(tokens);
    if (length > windowTokens) return { kind: "too_long", id, tokens: length };
  }
  const vectors: (readonly number[])[] = [];
  for (const tokens of tokenized) {
    signal.throwIfAborted();
    const { vector } = await context.getEmbeddingFor(tokens);
    // It gives none for a text without a token.
    if (vector.length !== (vectors[0] ?? vector).length) throw new Error("not of one length");
    vectors.push(vector);
  }
  return { kind: "embedded", id, values: Float32Array.from(vectors.flat()) };
}

/** The library keeps room for the token with which a reply ends. */
const SPARE_TOKENS = 2;

function loadedModel(): Loaded {
  if (loaded === undefined) throw new Error("no model is loaded");
  return loaded;
}

const chatMessage = ({ role, content }: CompleteRequest["messages"][number]): ChatMessage =>
  role === "assistant" ? { type: "model", response: [content] } : { type: role, text: content };

async function grammarOf(
  llama: Llama,
  format: CompleteRequest["format"],
): Promise<Grammar | undefined> {
  if (format === null) return undefined;
  return format === "json"
    ? await llama.getGrammarFor("json")
    : await llama.createGrammarForJsonSchema(format);
}

const reasoningOf = ({ fullResponse }: Response): string =>
  fullResponse
    .map((part) => (typeof part === "object" && part.segmentType === "thought" ? part.text : ""))
    .join("");

endWithParent();
process.on("message", (request: Request) => {
  if (request.kind === "abort") {
    running.get(request.id)?.abort();
    return;
  }
  const answering = request.kind === "load" ? load(request) : answer(request);
  void answering.then((reply) => process.send?.(reply));
});
