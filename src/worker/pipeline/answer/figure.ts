import type { TextSpan } from "../text/split-spans.ts";

/** A number or date of a text. It stands in another text that offers all readings of one of the sets it `asks` for. */
export type Figure = TextSpan & {
  readonly kind: "number" | "date";
  readonly asks: readonly (readonly string[])[];
  readonly offers: readonly string[];
};
