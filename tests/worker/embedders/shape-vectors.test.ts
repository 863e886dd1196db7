import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { passageFor, questionFor, spaceOf } from "../../../src/worker/embedders/embedder.ts";
import type { Embedder } from "../../../src/worker/embedders/embedder.ts";
import { createHashingEmbedder } from "../../../src/worker/embedders/hashing.ts";
import { createHostedEmbedder } from "../../../src/worker/embedders/hosted.ts";
import {
  KNOWN_PREFIXES,
  prefixesOf,
  shapeEmbedder,
} from "../../../src/worker/embedders/shape-vectors.ts";
import { IN_ORDER } from "../../../src/worker/models/host-models.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import { placeOfHosts } from "../../support/embedding-hosts.ts";

const PLAIN = {
  model_id: "m",
  query_prefix: null,
  passage_prefix: null,
  dimensions: null,
  precision: "full" as const,
};
const { signal } = new AbortController();

async function withEmbedder(run: (embedder: Embedder) => Promise<void>): Promise<void> {
  const double = await startOpenAiDouble({ models: [{ name: "m" }], embeds: true });
  const settings = { model_id: "m", batch_size: 8, timeout_s: 30 };
  const place = placeOfHosts([{ host: double.url, provider: "openai-compatible", parallel: null }]);
  try {
    await run(await createHostedEmbedder(settings, place));
  } finally {
    await double.close();
  }
}

describe("the shape of vectors", () => {
  test("without prefixes and with all dimensions an embedder stays as it is", () =>
    withEmbedder(async (embedder) => {
      expect(shapeEmbedder(embedder, PLAIN)).toBe(embedder);
      const whole = { ...PLAIN, dimensions: embedder.dims };
      expect(shapeEmbedder(embedder, whole).signature).toBe(embedder.signature);
    }));

  test("vectors are cut to the first dimensions, of unit length, also through a limiter", () =>
    withEmbedder(async (embedder) => {
      const small = shapeEmbedder(embedder, { ...PLAIN, dimensions: 16 });
      const [whole] = await embedder.embed(["a night"], signal);
      const [cut] = await small.embed(["a night"], signal);
      expect(small.dims).toBe(16);
      expect(cut).toHaveLength(16);
      expect(Math.hypot(...(cut ?? []))).toBeCloseTo(1, 5);
      const scale = Math.hypot(...(whole ?? []).slice(0, 16));
      for (const [at, value] of (cut ?? []).entries()) {
        expect(value).toBeCloseTo((whole?.[at] ?? NaN) / scale, 5);
      }
      const paced = small.through?.({ call: (_, make) => make(), choice: IN_ORDER });
      expect(await paced?.embed(["a night"], signal)).toEqual([cut]);
      expect(paced?.signature).toBe(small.signature);
    }));

  test("each of passage prefix, dimensions and precision makes a signature of its own", () =>
    withEmbedder(async (embedder) => {
      const shapes = [
        PLAIN,
        { ...PLAIN, passage_prefix: "x: " },
        { ...PLAIN, dimensions: 16 },
        { ...PLAIN, dimensions: 32 },
        { ...PLAIN, precision: "half" as const },
        { ...PLAIN, dimensions: 32, precision: "half" as const },
      ];
      const signatures = shapes.map((shape) => shapeEmbedder(embedder, shape).signature);
      expect(new Set(signatures).size).toBe(shapes.length);
      expect(signatures.every((signature) => /^[0-9a-f]{32}$/.test(signature))).toBe(true);
    }));

  test("half precision says whose rounding it is, also through a limiter, and leaves numbers as they are", () =>
    withEmbedder(async (embedder) => {
      const small = shapeEmbedder(embedder, { ...PLAIN, dimensions: 16 });
      const half = shapeEmbedder(embedder, { ...PLAIN, dimensions: 16, precision: "half" });
      expect(half.roundedFrom).toBe(small.signature);
      const paced = half.through?.({ call: (_, make) => make(), choice: IN_ORDER });
      expect(spaceOf(paced ?? embedder)).toEqual({
        model: embedder.id,
        signature: half.signature,
        precision: "half",
      });
      expect(await half.embed(["a night"], signal)).toEqual(await small.embed(["a night"], signal));
    }));

  test("the prefix of questions makes none: it changes no stored vector", () =>
    withEmbedder(async (embedder) => {
      for (const shape of [
        PLAIN,
        { ...PLAIN, passage_prefix: "x: " },
        { ...PLAIN, dimensions: 16 },
      ]) {
        const [without, asked] = [shape, { ...shape, query_prefix: "q: " }].map((each) =>
          shapeEmbedder(embedder, each),
        );
        expect(asked?.signature).toBe(without?.signature);
        expect(questionFor(asked ?? embedder, "where?")).toBe("q: where?");
        expect(await asked?.embed(["a night"], signal)).toEqual(
          await without?.embed(["a night"], signal),
        );
      }
    }));

  test("questions and passages get their own prefix", () =>
    withEmbedder(async (embedder) => {
      const settings = { ...PLAIN, query_prefix: "Q: ", passage_prefix: "P: " };
      const shaped = shapeEmbedder(embedder, settings);
      const chunk = { title: "Night", headingPath: null, text: "A lamp." };
      expect(questionFor(shaped, "where?")).toBe("Q: where?");
      expect(passageFor(shaped, chunk)).toBe(`P: ${passageFor(embedder, chunk)}`);
      expect(questionFor(embedder, "where?")).toBe("where?");
    }));

  test("more dimensions than the model has are refused, with how many it has", () =>
    withEmbedder(async (embedder) => {
      const settings = { ...PLAIN, dimensions: embedder.dims + 1 };
      expect(() => shapeEmbedder(embedder, settings)).toThrow(
        expect.objectContaining({
          code: "CONFIG_ERROR",
          message: expect.stringContaining(`at most ${embedder.dims}`),
        }),
      );
    }));

  test("the built-in embedder takes the precision alone", () => {
    const hashing = createHashingEmbedder();
    const settings = { ...PLAIN, passage_prefix: "P: ", dimensions: 16 };
    expect(shapeEmbedder(hashing, settings)).toBe(hashing);
    const half = shapeEmbedder(hashing, { ...settings, precision: "half" });
    expect(half).toMatchObject({ dims: hashing.dims, roundedFrom: hashing.signature });
    expect(half.prefixes).toBeUndefined();
  });
});

describe("prefixes that a model is known by", () => {
  const of = (model_id: string) => prefixesOf({ ...PLAIN, model_id });

  test("go by its name, wherever it is served", () => {
    const e5 = { query: "query: ", passage: "passage: " };
    expect(of("Xenova/multilingual-e5-small")).toEqual(e5);
    expect(of("intfloat/e5-base-v2")).toEqual(e5);
    expect(of("nomic-embed-text:latest").passage).toBe("search_document: ");
    expect(of("mxbai-embed-large").passage).toBe("");
    expect(of("embeddinggemma:300m").query).toBe("task: search result | query: ");
  });

  test("are none for others, and give way to what is configured", () => {
    const none = { query: "", passage: "" };
    expect(of("multilingual-e5-large-instruct")).toEqual(none);
    expect(of("Xenova/all-MiniLM-L6-v2")).toEqual(none);
    const settings = { ...PLAIN, model_id: "nomic-embed-text", query_prefix: "" };
    expect(prefixesOf(settings)).toEqual({ query: "", passage: "search_document: " });
  });

  test("stand in the document, in their order", () => {
    const rows = readFileSync(new URL("../../../docs/models.md", import.meta.url), "utf8")
      .split("\n")
      .filter((line) => /^\|[^|]*`/.test(line) && line.includes('`"'));
    const documented = rows.map((row) =>
      [...row.matchAll(/`"(.*?)"`/g)].map(([, text = ""]) => text.replaceAll("\\|", "|")),
    );
    const known = KNOWN_PREFIXES.map(({ prefixes }) => [prefixes.query, prefixes.passage]);
    expect(documented).toEqual(known);
    rows.forEach((row, at) => {
      const [, names = ""] = row.split("|");
      for (const [, name = ""] of names.replace(/\(.*?\)/g, "").matchAll(/`(.*?)`/g)) {
        expect(name).toMatch(KNOWN_PREFIXES[at]?.model ?? /never/);
      }
    });
  });
});
