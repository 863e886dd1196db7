import { pathToFileURL } from "node:url";
import { endWithParent, firstLineOf } from "../../forked-process.ts";
import type { CallReply, CompleteRequest, LoadReply, LoadRequest, Request } from "./messages.ts";
import type {
  ChatMessage,
  Grammar,
  Library,
  Llama,
  LlamaModel,
  Response,
  Sequence,
} from "./library.ts";

// The process that holds a model: started by model-process.ts with a channel, told by messages, silent otherwise. A fault of
// the native library ends this process and no other.

/** A model that is loaded, with the sequences that no call has now. */
type Loaded = {
  readonly library: Library;
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly windowTokens: number;
  readonly free: Sequence[];
};

let loaded: Loaded | undefined;
/** Calls that wait for a sequence, first come first. */
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
    const context = await model.createContext({
      contextSize: windowTokens,
      sequences: request.parallel,
      ...(request.threads === null ? {} : { threads: request.threads }),
    });
    const free = Array.from({ length: request.parallel }, () => context.getSequence());
    loaded = { library, llama, model, windowTokens, free };
    const quantization = quantizationOf(library, model);
    return { kind: "ready", processor, model: { windowTokens, quantization } };
  } catch (error) {
    const isMemory = error instanceof Error && error.name === "InsufficientMemoryError";
    const why = isMemory ? "no_memory" : "no_model";
    return { kind: "not_ready", why, message: firstLineOf(error) };
  }
}

/** The format numbers them; the library names them like MOSTLY_Q4_K_M. */
function quantizationOf(library: Library, model: LlamaModel): string | null {
  const number = model.fileInfo.metadata.general.file_type;
  const name = number === undefined ? undefined : library.GgufFileType[number];
  return name?.replace(/^(?:MOSTLY|ALL)_/, "") ?? null;
}

async function complete(request: CompleteRequest): Promise<CallReply> {
  const { id } = request;
  const controller = new AbortController();
  running.set(id, controller);
  const sequence = await takeSequence(controller.signal);
  if (sequence === undefined) {
    running.delete(id);
    return { kind: "aborted", id };
  }
  try {
    process.send?.({ kind: "started", id } satisfies CallReply);
    return await generate(request, sequence, controller.signal);
  } catch (error) {
    if (controller.signal.aborted) return { kind: "aborted", id };
    return { kind: "failed", id, error: error instanceof Error ? error.name : "" };
  } finally {
    giveBack(sequence);
    running.delete(id);
  }
}

/** A sequence of the context, which keeps what it has read: the next prompt may begin with the same. */
async function takeSequence(signal: AbortSignal): Promise<Sequence | undefined> {
  while (!signal.aborted) {
    const sequence = loaded?.free.pop();
    if (sequence !== undefined) return sequence;
    await new Promise<void>((resolve) => {
      line.push(resolve);
      const leave = (): void => {
        if (line.includes(resolve)) line.splice(line.indexOf(resolve), 1);
        resolve();
      };
      signal.addEventListener("abort", leave, { once: true });
    });
  }
  // It may have been woken for a sequence that it does not take.
  line.shift()?.();
  return undefined;
}

function giveBack(sequence: Sequence): void {
  loaded?.free.push(sequence);
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
    if (maxTokens < 1) return { kind: "too_long", id, promptTokens };
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
  const answering = request.kind === "load" ? load(request) : complete(request);
  void answering.then((reply) => process.send?.(reply));
});
