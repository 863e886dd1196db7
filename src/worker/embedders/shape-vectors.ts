import type { ConfigValues } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { digestOf, normalize } from "./embedder.ts";
import type { Embedder, Prefixes } from "./embedder.ts";

type ShapeSettings = Pick<
  ConfigValues["embed"],
  "model_id" | "query_prefix" | "passage_prefix" | "dimensions" | "precision"
>;

const NONE: Prefixes = { query: "", passage: "" };
const BGE = "Represent this sentence for searching relevant passages: ";

/** The prefixes that makers of models require, by the model's name: the table of docs/models.md, in its order. */
export const KNOWN_PREFIXES: readonly { readonly model: RegExp; readonly prefixes: Prefixes }[] = [
  {
    model: /(?:^|[-/])e5-(?:small|base|large)(?!.*instruct)/i,
    prefixes: { query: "query: ", passage: "passage: " },
  },
  {
    model: /nomic-embed-text/i,
    prefixes: { query: "search_query: ", passage: "search_document: " },
  },
  {
    model: /mxbai-embed-large|bge-(?:small|base|large)-en-v1\.5/i,
    prefixes: { query: BGE, passage: "" },
  },
  {
    model: /embeddinggemma/i,
    prefixes: { query: "task: search result | query: ", passage: "title: none | text: " },
  },
];

/** The prefixes of the configuration; for a key that is null, the known ones of the model. */
export function prefixesOf({
  model_id,
  query_prefix,
  passage_prefix,
}: Pick<ShapeSettings, "model_id" | "query_prefix" | "passage_prefix">): Prefixes {
  const known = KNOWN_PREFIXES.find(({ model }) => model.test(model_id))?.prefixes ?? NONE;
  return { query: query_prefix ?? known.query, passage: passage_prefix ?? known.passage };
}

/**
 * The same embedder with its prefixes, and its vectors shortened to `embed.dimensions`, scaled to unit length again, and stored
 * in `embed.precision`. Dimensions, precision and the prefix of passages are part of the signature; the prefix of questions
 * changes no stored vector. The built-in embedder supports no prefix and no other dimensions.
 * @throws Failure CONFIG_ERROR for more dimensions than the model has
 */
export function shapeEmbedder(embedder: Embedder, settings: ShapeSettings): Embedder {
  const whole = shapeWhole(embedder, settings);
  return settings.precision === "half" ? rounded(whole) : whole;
}

/** Only changes the signature: the database rounds vectors when it stores them. */
const rounded = ({ through, ...embedder }: Embedder): Embedder => ({
  ...embedder,
  signature: digestOf({ precision: "half", of: embedder.signature }).slice(0, 32),
  roundedFrom: embedder.signature,
  ...(through === undefined ? {} : { through: (calls) => rounded(through(calls)) }),
});

function shapeWhole(embedder: Embedder, settings: ShapeSettings): Embedder {
  if (embedder.nearIn === "spelling") return embedder;
  const prefixes = prefixesOf(settings);
  const dims = settings.dimensions ?? embedder.dims;
  if (dims > embedder.dims) {
    throw new Failure(
      "CONFIG_ERROR",
      `embed.dimensions is ${dims}, and vectors of "${embedder.id}" have ${embedder.dims}; set it to at most ` +
        `${embedder.dims}, or to null for all of them.`,
    );
  }
  const isWhole = dims === embedder.dims && prefixes.query === "" && prefixes.passage === "";
  return isWhole ? embedder : shaped(embedder, { prefixes, dims });
}

type Shape = { readonly prefixes: Prefixes; readonly dims: number };

function shaped(embedder: Embedder, { prefixes, dims }: Shape): Embedder {
  const { through } = embedder;
  const { passage } = prefixes;
  const isStoredWhole = dims === embedder.dims && passage === "";
  const facts = { passage, dims, of: embedder.signature };
  return {
    ...embedder,
    dims,
    prefixes,
    signature: isStoredWhole ? embedder.signature : digestOf(facts).slice(0, 32),
    async embed(texts, signal, onCut) {
      const vectors = await embedder.embed(texts, signal, onCut);
      return vectors.map((vector) => cutVector(vector, dims));
    },
    ...(through === undefined
      ? {}
      : { through: (calls) => shaped(through(calls), { prefixes, dims }) }),
  };
}

/** Matryoshka models put most information into the first dimensions; the shortened vector needs unit length again. */
const cutVector = (vector: Float32Array, dims: number): Float32Array =>
  vector.length <= dims ? vector : normalize(vector.slice(0, dims));
