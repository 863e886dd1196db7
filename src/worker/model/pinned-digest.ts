import { Failure } from "../../shared/failure.ts";
import type { Model } from "./model.ts";

/**
 * The model, whose weights are those that model.digest names. Throws Failure MODEL_NOT_FOUND for others, and for a
 * host that does not say which it has.
 *
 * @param pinned SHA-256, 64 hex in lower case
 */
export function checkDigest(model: Model, pinned: string): Model {
  const { digest } = model.facts;
  if (digest === pinned) return model;
  const found = digest === null ? "reports none for it" : `has ${digest}`;
  throw new Failure(
    "MODEL_NOT_FOUND",
    `model.digest asks for "${model.name}" with the digest ${pinned}, and the host ${found}. ` +
      `Install that build, or change model.digest.`,
  );
}
