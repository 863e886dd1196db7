import { hash } from "node:crypto";
import { embeddableText } from "../retrieval/searchable-text.ts";

/** What decides an embedder's numbers. */
export type SignatureFacts = {
  /** Kind and version of the embedder's code. */
  readonly embedder: string;
  readonly model: string;
  /** Over the model's files, wherever they lie or are served; of the built-in one, its constants. */
  readonly digest: string;
  readonly dims: number;
};

/** The signature of an embedder: 32 hex digits over all that decides its numbers, and what is done before and after. */
export const signatureOf = (
  facts: SignatureFacts & Readonly<Record<string, string | number>>,
): string => digestOf({ ...facts, preprocessing: PREPROCESSING, normalization: "l2" }).slice(0, 32);

/** SHA-256 of named values, whatever their order. */
export const digestOf = (facts: Readonly<Record<string, string | number>>): string =>
  hash("sha256", JSON.stringify(Object.entries(facts).sort(byName)), "hex");

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

const part = { title: "Title", text: "Text\tof\r\na chunk. " };
/** The way from a chunk to the text that is embedded: another way is another signature. */
const PREPROCESSING = hash(
  "sha256",
  ["Title > Heading", "Heading", null]
    .map((headingPath) => embeddableText({ ...part, headingPath }))
    .join("\0"),
  "hex",
);
