import { createHash } from "node:crypto";
import type { ConfigValues } from "./schema.ts";

type Answering = Pick<ConfigValues, "model" | "ask" | "index" | "embed" | "retrieve">;

// Where a model is served and kept, how long it may take, and how much goes to it at once.
const WITHOUT_EFFECT = new Set([
  "base_url",
  "batch_size",
  "breaker_failures",
  "cache_dir",
  "keep_alive",
  "local_model_path",
  "parallel",
  "recycle_mb",
  "recycle_texts",
  "timeout_s",
  "timeout_s_big_second",
]);

/** SHA-256, in lower-case hexadecimal, of the values that change answers, as JSON with sorted keys. */
export function configFingerprint({ model, ask, index, embed, retrieve }: Answering): string {
  const answering = { model: effective(model), ask, index, embed: effective(embed), retrieve };
  return createHash("sha256").update(canonicalJson(answering)).digest("hex");
}

const effective = (slice: object): object =>
  Object.fromEntries(Object.entries(slice).filter(([key]) => !WITHOUT_EFFECT.has(key)));

/** JSON without blanks, keys in code-unit order. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
