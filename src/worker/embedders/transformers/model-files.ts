import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { posix } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ConfigValues } from "../../../shared/config/schema.ts";
import { Failure } from "../../../shared/failure.ts";
import type { FaultCode } from "../../../shared/failure.ts";
import { isRecord, parseJson } from "../../../shared/schema/json-value.ts";
import type { CompletionRequest } from "../../models/model.ts";

/** What a local model is there for, in the words of messages about it. */
export type ModelRole = {
  readonly noun: string;
  /** Where the configuration has its keys. */
  readonly keys: string;
  /** The code of a model that is not there, or can't be loaded. */
  readonly missing: FaultCode;
  /** What to do when it takes too much time or memory. */
  readonly smaller: string;
  /** How to do without it. */
  readonly without: string;
  /** Its files lie in the folder of its name, and no key names another. */
  readonly folder?: "by name";
};

export type Dtype = ConfigValues["embed"]["dtype"];
type ModelPlace = Pick<ConfigValues["embed"], "model_id" | "local_model_path" | "cache_dir">;

const DEFAULT_CACHE = "models";

/** Where a model's files lie: names that `models fetch` makes itself, below a folder that the user named. */
export type ModelFolder = {
  /** Absolute. */
  readonly base: string;
  readonly below: readonly string[];
};

/** The folder that was named, or that of the model's id in the cache. */
export function modelPlaceOf(place: ModelPlace, workroot: string): ModelFolder {
  const { local_model_path, cache_dir, model_id } = place;
  if (local_model_path !== null)
    return { base: posix.resolve(workroot, local_model_path), below: [] };
  const words = model_id.split("/");
  return cache_dir === null
    ? { base: workroot, below: [DEFAULT_CACHE, ...words] }
    : { base: posix.resolve(workroot, cache_dir), below: words };
}

/** The same as one path, absolute. */
export function modelFolderOf(place: ModelPlace, workroot: string): string {
  const { base, below } = modelPlaceOf(place, workroot);
  return posix.resolve(base, ...below);
}

/** How the library names the weights of each precision. */
const WEIGHTS: Readonly<Record<Dtype, string>> = {
  fp32: "model",
  fp16: "model_fp16",
  q8: "model_quantized",
  int8: "model_int8",
  uint8: "model_uint8",
  q4: "model_q4",
  q4f16: "model_q4f16",
  bnb4: "model_bnb4",
};

/** The weights of a precision, relative to the model's folder. */
const weightsOf = (dtype: Dtype): string => `onnx/${WEIGHTS[dtype]}.onnx`;

/** Every file that a model can't be loaded without, relative to its folder. */
export const filesOf = (dtype: Dtype): readonly string[] => [
  "config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  weightsOf(dtype),
];

/** The chat template, where it does not stand in tokenizer_config.json. */
export const TEMPLATE_FILE = "chat_template.jinja";

/** What a language model is loaded with beside these where it has them, relative to its folder. */
export const OPTIONAL_FILES: readonly string[] = [TEMPLATE_FILE, "generation_config.json"];

/** Whether a file holds weights that the ONNX file of that precision names: those beyond 2 GB lie beside it. */
export const isExternalData = (file: string, dtype: Dtype): boolean =>
  file.startsWith(`${weightsOf(dtype)}_data`);

/** Whether a name is one of words with slashes between them, which lead to no other folder than one below. */
export const isModelName = (name: string): boolean =>
  name.split("/").every((word) => /^[A-Za-z0-9][\w.+-]*$/.test(word) && !word.includes(".."));

/** @throws Failure with the code of the role, naming the folder and what is not in it */
export function requireFiles(role: ModelRole, model: string, folder: string, dtype: Dtype): void {
  const missing = filesOf(dtype).filter((file) => !existsSync(posix.join(folder, file)));
  if (missing.length === 0) return;
  throw new Failure(
    role.missing,
    `The ${role.noun} "${model}" (${dtype}) lacks ${missing.join(", ")} in ${folder}. Put the files there, ` +
      (role.folder === "by name" ? "" : `name their folder in ${role.keys}.local_model_path, `) +
      `or run: nightdesk models fetch ${model}`,
  );
}

export const noPackage = ({ keys, missing, without }: ModelRole): Failure =>
  new Failure(
    missing,
    `${keys}.provider is transformers, and its optional package is not installed. Run: npm install ` +
      `@huggingface/transformers, or ${without}.`,
  );

/**
 * SHA-256 over names and contents of the files that decide what the model gives, wherever the folder lies.
 * @param optional files that count as well where they are there
 */
export async function fingerprintModel(
  folder: string,
  dtype: Dtype,
  optional: readonly string[] = [],
): Promise<string> {
  const beside = (await readdir(posix.join(folder, "onnx")))
    .map((name) => `onnx/${name}`)
    .filter((file) => isExternalData(file, dtype));
  const whole = createHash("sha256");
  const there = optional.filter((file) => existsSync(posix.join(folder, file)));
  for (const file of [...filesOf(dtype), ...beside, ...there].sort()) {
    const content = await digestOf(posix.join(folder, file));
    whole.update(`${file.length}:${file}${content}`);
  }
  return whole.digest("hex");
}

/** Digests of files that were read once, by the path and what changes with the content. */
const digests = new Map<string, Promise<string>>();

/** SHA-256 of a file's content, 64 hex. It is read once, and again when the file was changed. */
export async function digestOf(file: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(file);
  const key = JSON.stringify([file, size, mtimeMs, ino]);
  const known = digests.get(key);
  if (known !== undefined) return known;
  const digest = hashFile(file);
  digests.set(key, digest);
  digest.catch(() => digests.delete(key));
  return digest;
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest("hex");
}

/** The optional package as it is installed. @throws Failure with the code of the role where it is not */
export function requirePackage(role: ModelRole): { readonly version: string } {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve("@huggingface/transformers");
  } catch {
    throw noPackage(role);
  }
  const description = parseJson(
    readFileSync(posix.join(posix.dirname(entry), "..", "package.json"), "utf8"),
  );
  const version = isRecord(description) ? description["version"] : undefined;
  return { version: typeof version === "string" ? version : "unknown" };
}

/** What the process of a model is told once, before all else. */
export type LoadRequest = {
  readonly kind: "load";
  /** Absolute. */
  readonly folder: string;
  readonly dtype: string;
  readonly device: string;
  /** In tokens; of a language model what prompt and reply share. */
  readonly maxLength: number;
} & (
  | { readonly task: "embed"; readonly pooling: "mean" | "cls" }
  | {
      readonly task: "compare";
      /** A pair that is longer than the model reads is left unread, or its texts lose their ends. */
      readonly tooLong: "leave" | "cut";
    }
  | { readonly task: "complete" }
);

/** A premise and a hypothesis, or a question and a passage. */
export type TextPair = readonly [string, string];

export type EmbedRequest = { readonly kind: "embed"; readonly texts: readonly string[] };
export type CompareRequest = { readonly kind: "compare"; readonly pairs: readonly TextPair[] };
export type WorkRequest = EmbedRequest | CompareRequest;
export type CompleteRequest = CompletionRequest & { readonly kind: "complete" };
/** Nobody waits any more for the reply that is being written: it may end at its next token. */
export type AbortRequest = { readonly kind: "abort" };
export type Request = LoadRequest | WorkRequest | CompleteRequest | AbortRequest;

/** What a language model gave. */
export type Completion =
  | {
      readonly kind: "completed";
      readonly text: string;
      readonly promptTokens: number;
      readonly completionTokens: number;
      readonly finish: "stop" | "length";
    }
  /** The prompt leaves no room for a reply: nothing was calculated. */
  | { readonly kind: "too_long"; readonly promptTokens: number };

/** It answers each request once, in order, and an abort with what it was in the middle of. */
export type Reply =
  | { readonly kind: "ready" }
  | {
      readonly kind: "rows";
      /** One row an input, as the model gave it: vectors not normalized, or a score for each label; of a pair that was left unread NaN. */
      readonly values: Float32Array;
      readonly rows: number;
      readonly rssBytes: number;
    }
  | ((Completion | { readonly kind: "aborted" }) & { readonly rssBytes: number })
  /** `message` is about the model and its files while it loads, and never about a text. */
  | {
      readonly kind: "failed";
      readonly why: "no_package" | "no_model" | "no_rows";
      readonly message: string;
    };
