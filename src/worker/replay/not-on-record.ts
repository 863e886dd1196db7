import type { PromptRecord, ReplyRecord } from "../../shared/run-result.ts";

/** What a repetition came to do that its run had not done. */
export type Unrecorded =
  | { readonly kind: "read"; readonly path: string }
  | {
      readonly kind: "call";
      readonly pass: ReplyRecord["pass"];
      readonly prompt: PromptRecord;
    };

/** Ends a repetition: without a model there is nothing to go on with. */
export class NotOnRecord extends Error {
  override readonly name = "NotOnRecord";
  readonly what: Unrecorded;
  constructor(what: Unrecorded) {
    super(`the run made no such ${what.kind}`);
    this.what = what;
  }
}
