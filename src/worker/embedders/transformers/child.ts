import { posix } from "node:path";
import { endWithParent, firstLineOf } from "../../forked-process.ts";
import { beginningOf } from "../fit-texts.ts";
import { loadGenerator } from "./generate.ts";
import type { ChatTokenizer, GeneratingLibrary, Generator } from "./generate.ts";
import type {
  CompleteRequest,
  LoadRequest,
  Reply,
  Request,
  TextPair,
  WorkRequest,
} from "./model-files.ts";

// The child process that holds a model: model-process.ts starts it and sends it messages. The native runtime never releases
// memory, so the process is replaced when it has grown.

type LoadOptions = {
  readonly local_files_only: true;
  readonly dtype: string;
  readonly device: string;
};

/** The used part of @huggingface/transformers. The package is optional, so its types may be missing. */
type Library = Omit<GeneratingLibrary, "AutoTokenizer"> & {
  readonly env: { allowRemoteModels: boolean; allowLocalModels: boolean; localModelPath: string };
  readonly pipeline: (
    task: "feature-extraction",
    model: string,
    options: LoadOptions,
  ) => Promise<Extractor>;
  readonly AutoTokenizer: {
    from_pretrained(
      model: string,
      options: Pick<LoadOptions, "local_files_only">,
    ): Promise<Tokenizer & ChatTokenizer>;
  };
  readonly AutoModelForSequenceClassification: {
    from_pretrained(model: string, options: LoadOptions): Promise<Classifier>;
  };
};
type Tensor = { readonly data: Float32Array; readonly dims: readonly number[] };
type Extractor = {
  (
    texts: readonly string[],
    options: { readonly pooling: string; readonly normalize: boolean },
  ): Promise<Tensor>;
  readonly tokenizer: object;
};
type Encoded = { readonly input_ids: { readonly dims: readonly number[] } };
type Tokenizer = {
  (
    premises: readonly string[],
    options: { readonly text_pair: readonly string[]; readonly padding: boolean },
  ): Encoded;
  readonly model_max_length: number;
};
type Classifier = (inputs: Encoded) => Promise<{ readonly logits: Tensor }>;

type Rows = { readonly values: Float32Array; readonly rows: number };
type Work = (request: WorkRequest) => Promise<Rows>;

let work: Work | undefined;
let generator: Generator | undefined;

async function loadModel(request: LoadRequest): Promise<Reply> {
  let library: Library;
  // A variable, so that the build passes without the optional package.
  const specifier = "@huggingface/transformers";
  try {
    library = (await import(specifier)) as Library;
  } catch (error) {
    return { kind: "failed", why: "no_package", message: firstLineOf(error) };
  }
  const { folder, dtype, device, maxLength } = request;
  try {
    library.env.allowRemoteModels = false;
    library.env.allowLocalModels = true;
    library.env.localModelPath = posix.dirname(folder);
    const model = { name: posix.basename(folder), maxLength };
    const options = { local_files_only: true, dtype, device } as const;
    if (request.task === "complete") {
      const place = { folder, name: model.name, windowTokens: maxLength };
      generator = await loadGenerator(library, place, options);
      return { kind: "ready" };
    }
    work =
      request.task === "embed"
        ? await loadExtractor(library, model, options, request.pooling)
        : await loadClassifier(library, model, options, request.tooLong);
    return { kind: "ready" };
  } catch (error) {
    return { kind: "failed", why: "no_model", message: firstLineOf(error) };
  }
}

type ModelName = { readonly name: string; readonly maxLength: number };

async function loadExtractor(
  library: Library,
  { name, maxLength }: ModelName,
  options: LoadOptions,
  pooling: string,
): Promise<Work> {
  const extractor = await library.pipeline("feature-extraction", name, options);
  // The pipeline cuts at this length and has no option for it; the library defines the property as a getter of the class.
  Object.defineProperty(extractor.tokenizer, "model_max_length", { value: maxLength });
  return async (request) => {
    const texts = request.kind === "embed" ? request.texts : [];
    const { data } = await extractor(texts, { pooling, normalize: false });
    return { values: Float32Array.from(data), rows: texts.length };
  };
}

async function loadClassifier(
  library: Library,
  { name, maxLength }: ModelName,
  options: LoadOptions,
  tooLong: "leave" | "cut",
): Promise<Work> {
  const tokenizer = await library.AutoTokenizer.from_pretrained(name, { local_files_only: true });
  const model = await library.AutoModelForSequenceClassification.from_pretrained(name, options);
  const encode = (pairs: readonly TextPair[]): Encoded =>
    tokenizer(
      pairs.map(([premise]) => premise),
      { text_pair: pairs.map(([, hypothesis]) => hypothesis), padding: true },
    );
  const longest = Math.min(maxLength, tokenizer.model_max_length);
  const lengthOf = (pair: TextPair): number => encode([pair]).input_ids.dims[1] ?? 0;
  // The library would cut the end of the encoded pair, including its end token.
  const fit = (pair: TextPair): TextPair | null => {
    if (lengthOf(pair) <= longest) return pair;
    return tooLong === "leave" ? null : cutToFit(pair, lengthOf, longest);
  };
  return async (request) => {
    const pairs = request.kind === "compare" ? request.pairs.map(fit) : [];
    const fitting = pairs.filter((pair) => pair !== null);
    const { data } = fitting.length === 0 ? NOTHING : (await model(encode(fitting))).logits;
    const columns = data.length / Math.max(1, fitting.length);
    const values = new Float32Array(pairs.length * Math.max(1, columns)).fill(Number.NaN);
    fitting.forEach((pair, row) => {
      values.set(data.subarray(row * columns, (row + 1) * columns), pairs.indexOf(pair) * columns);
    });
    return { values, rows: pairs.length };
  };
}

/** Shortens the second text of a pair at its end, and also the first if that takes more than half of the room. */
function cutToFit(
  [first, second]: TextPair,
  lengthOf: (pair: TextPair) => number,
  longest: number,
): TextPair {
  const kept = longestBeginning(first, (text) => lengthOf([text, ""]) <= longest / 2);
  return [kept, longestBeginning(second, (text) => lengthOf([kept, text]) <= longest)];
}

/** Binary search: a longer beginning has more tokens, except within its last word. */
function longestBeginning(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text;
  let fitting = 0;
  let tooLong = text.length;
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2);
    if (fits(beginningOf(text, middle))) fitting = middle;
    else tooLong = middle;
  }
  return beginningOf(text, fitting);
}

const NOTHING = { data: new Float32Array() };

const NOT_LOADED = { kind: "failed", why: "no_rows", message: "not loaded" } as const;

async function answerRequest(request: WorkRequest | CompleteRequest): Promise<Reply> {
  try {
    if (request.kind === "complete") {
      if (generator === undefined) return NOT_LOADED;
      return { ...(await generator.complete(request)), rssBytes: process.memoryUsage.rss() };
    }
    if (work === undefined) return NOT_LOADED;
    return { kind: "rows", ...(await work(request)), rssBytes: process.memoryUsage.rss() };
  } catch (error) {
    // The message of the error may repeat the text that caused it.
    return { kind: "failed", why: "no_rows", message: error instanceof Error ? error.name : "" };
  }
}

endWithParent();
process.on("message", (request: Request) => {
  if (request.kind === "abort") {
    generator?.abort();
    return;
  }
  const answering = request.kind === "load" ? loadModel(request) : answerRequest(request);
  void answering.then((reply) => process.send?.(reply));
});
