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

/** The purpose of a local model, with the words for messages about it. */
export type ModelRole = {
  readonly noun: string;
  /** The section of its keys in the configuration. */
  readonly keys: string;
  /** The code of a model that is missing or can't be loaded. */
  readonly missing: FaultCode;
  /** The advice when it takes too much time or memory. */
  readonly smaller: string;
  /** The advice for doing without it. */
  readonly without: string;
  /** "by name": its files lie in the folder of its name, and no key names another folder. */
  readonly folder?: "by name";
};

export type Dtype = ConfigValues["embed"]["dtype"];
type ModelPlace = Pick<ConfigValues["embed"], "model_id" | "local_model_path" | "cache_dir">;

const DEFAULT_CACHE = "models";

/** The folder of a model: components that `models fetch` creates itself, below a folder that the user named. */
export type ModelFolder = {
  /** Absolute. */
  readonly base: string;
  readonly below: readonly string[];
};

/** The configured folder, or the one of the model's id in the cache. */
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

/** The library's file names for the weights of each precision. */
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

/** The files that are required to load a model, relative to its folder. */
export const filesOf = (dtype: Dtype): readonly string[] => [
  "config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  weightsOf(dtype),
];

/** The chat template, if it is not in tokenizer_config.json. */
export const TEMPLATE_FILE = "chat_template.jinja";

/** Further files that a language model is loaded with if they exist, relative to its folder. */
export const OPTIONAL_FILES: readonly string[] = [TEMPLATE_FILE, "generation_config.json"];

/** Whether a file holds external weights of the ONNX file of that precision: weights beyond 2 GB lie beside it. */
export const isExternalData = (file: string, dtype: Dtype): boolean =>
  file.startsWith(`${weightsOf(dtype)}_data`);

/** Whether a name consists of words separated by slashes that can't lead out of a folder. */
export const isModelName = (name: string): boolean =>
  name.split("/").every((word) => /^[A-Za-z0-9][\w.+-]*$/.test(word) && !word.includes(".."));

/** @throws Failure with the code of the role, naming the folder and the missing files */
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
 * SHA-256 of names and contents of the files that determine the output of a model, independent of the folder.
 * @param optional further files that count if they exist
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

/** Digests of files, by path and by attributes that change with the content. */
const digests = new Map<string, Promise<string>>();

/** SHA-256 of a file's content, 64 hex digits. The file is read once, and again after a change. */
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

/** The installed optional package. @throws Failure with the code of the role if it is missing */
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

/** The first message to the process of a model. */
export type LoadRequest = {
  readonly kind: "load";
  /** Absolute. */
  readonly folder: string;
  readonly dtype: string;
  readonly device: string;
  /** In tokens; for a language model shared by prompt and reply. */
  readonly maxLength: number;
} & (
  | { readonly task: "embed"; readonly pooling: "mean" | "cls" }
  | {
      readonly task: "compare";
      /** A pair that exceeds the model's window is left unread, or its texts are shortened. */
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
/** Nobody waits for the current reply any more: it may end at its next token. */
export type AbortRequest = { readonly kind: "abort" };
export type Request = LoadRequest | WorkRequest | CompleteRequest | AbortRequest;

/** The result of a language model. */
export type Completion =
  | {
      readonly kind: "completed";
      readonly text: string;
      readonly promptTokens: number;
      readonly completionTokens: number;
      readonly finish: "stop" | "length";
    }
  /** The prompt leaves no room for a reply; the model did not run. */
  | { readonly kind: "too_long"; readonly promptTokens: number };

/** The process answers each request once, in order. After an abort it answers the current request. */
export type Reply =
  | { readonly kind: "ready" }
  | {
      readonly kind: "rows";
      /** One row per input, unprocessed: vectors not normalized, or a score per label; NaN for a pair that was left unread. */
      readonly values: Float32Array;
      readonly rows: number;
      readonly rssBytes: number;
    }
  | ((Completion | { readonly kind: "aborted" }) & { readonly rssBytes: number })
  /** `message` is about the model and its files during loading, and never about a text. */
  | {
      readonly kind: "failed";
      readonly why: "no_package" | "no_model" | "no_rows";
      readonly message: string;
    };
