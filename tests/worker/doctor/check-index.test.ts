import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Config } from "../../../src/shared/config/schema.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { checkIndex } from "../../../src/worker/doctor/check-index.ts";
import { databases, startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";

// Where the queue lies makes no difference to the index.
const engines = databases;

describe.each(engines)("the doctor on the index, on %s", (name) => {
  let topology: Topology;
  let database: Database;
  let corpus: TestCorpus;
  let config: Config;
  beforeAll(async () => {
    topology = await startTopology(name, {
      index: {
        language: "english",
        chunking: { max_chars: 300, overlap: 40 },
        sources: [
          { name: "ops", root: "allowed/ops" },
          { name: "lab", root: "allowed/lab" },
        ],
      },
    });
    ({ config } = topology.context);
    database = await topology.connect();
  });
  afterAll(async () => {
    await database.end();
    await topology.dispose();
  });
  beforeEach(async () => {
    for (const table of ["documents", "segments", "postings", "dead_chunks"])
      await database.query(`delete from nightdesk_data.${table}`);
    corpus = await openCorpus(database);
    corpus.write("notes/ops/a.md", "# Alpha\n\n## One\n\nfirst\n\n## Two\n\nsecond\n");
    corpus.write("notes/lab/b.md", "# Beta\n\nthird\n");
    await corpus.index();
  });
  afterEach(() => {
    corpus.close();
  });

  const codesOf = async (changed: Config = config) =>
    (await checkIndex(changed, database, { vectors: "optional" })).map(
      ({ level, code }) => `${level} ${code}`,
    );
  const withSources = (names: readonly string[]): Config => ({
    ...config,
    index: {
      ...config.index,
      sources: config.index.sources.filter((source) => names.includes(source.name)),
    },
  });

  test("tells of keys and tokens in documents, and what becomes of them", async () => {
    const of = (secrets: Config["index"]["secrets"]) =>
      codesOf({ ...config, index: { ...config.index, secrets } });
    expect((await of("warn")).join()).not.toContain("SECRETS");
    corpus.write("notes/ops/key.md", ["# Key\n\nIt is AKIA", "IOSFODNN7EXAMPLE.\n"].join(""));
    await corpus.index();
    const { rows } = await database.query(
      "select path from nightdesk.documents where secrets = '{aws_key}'",
    );
    expect(rows).toEqual([{ path: "notes/ops/key.md" }]);
    expect(await of("warn")).toContain("warn DOCTOR_SECRETS_FOUND");
    expect(await of("withhold_remote")).toContain("ok DOCTOR_SECRETS_WITHHELD");
    expect((await of("off")).join()).not.toContain("SECRETS");
  });

  test("adds up what the texts of documents do not hold, by kind", async () => {
    const told = async () =>
      (await checkIndex(config, database, { vectors: "optional" })).find(
        ({ code }) => code === "DOCTOR_TEXT_INCOMPLETE",
      );
    expect(await told()).toBeUndefined();
    await database.query(
      `update nightdesk_data.documents
          set left_out = case when path like '%a.md' then '{"pictures":2}' else '{"pictures":1,"hidden sheets":1}' end::jsonb`,
    );
    expect(await told()).toMatchObject({
      level: "ok",
      message: expect.stringContaining(
        "not in the text: 2 (pictures: 3, hidden sheets: 1).",
      ) as unknown,
    });
  });

  test("says that facts, chunks and words agree when they do, and after edits", async () => {
    expect(await codesOf()).toContain("ok DOCTOR_INDEX_CONSISTENT");
    corpus.write("notes/ops/a.md", "# Alpha\n\n## Two\n\nsecond\n\n## Three\n\nmore\n");
    corpus.remove("notes/lab/b.md");
    await corpus.index({ pruneOfEmptyRoot: "allowed" });
    expect(await codesOf()).toContain("ok DOCTOR_INDEX_CONSISTENT");
  });

  test("looks at documents and words also where the embedder's model is missing", async () => {
    const embed = { ...config.embed, provider: "transformers", model_id: "nobody/none" } as const;
    const codes = await codesOf({ ...config, embed });
    expect(codes).toContain("fail DOCTOR_EMBED_CONFIG_INVALID");
    expect(codes).toContain("ok DOCTOR_INDEX_CONSISTENT");
  });

  test("fails when a source is indexed in another language than is configured", async () => {
    expect(await codesOf()).toContain("ok DOCTOR_CHUNKER_SIG_MATCH");
    const sources = config.index.sources.map((source) =>
      source.name === "lab" ? { ...source, language: "german" as const } : source,
    );
    expect(await codesOf({ ...config, index: { ...config.index, sources } })).toContain(
      "fail DOCTOR_CHUNKER_SIG_MISMATCH",
    );
  });

  const ONE = "chunk_id = (select min(chunk_id) from nightdesk_data.chunks)";
  test.each([
    ["the text of a chunk", `update nightdesk_data.chunks set text = reverse(text) where ${ONE}`],
    ["the length of a document", "update nightdesk_data.documents set chars = 1"],
    ["the place of a chunk", `update nightdesk_data.chunks set ordinal = 7 where ${ONE}`],
    [
      "the last chunk of a document",
      "delete from nightdesk_data.chunks where chunk_id = (select max(chunk_id) from nightdesk_data.chunks)",
    ],
    ["the hash of a document", "update nightdesk_data.documents set sha256 = repeat('0', 64)"],
    [
      "the text of a chunk, with its hash,",
      `update nightdesk_data.chunks set text = reverse(text),
              sha256 = encode(sha256(convert_to(reverse(text), 'UTF8')), 'hex') where ${ONE}`,
    ],
    ["a word's postings", "delete from nightdesk_data.postings where term = 'second'"],
  ])("fails when %s was changed behind its back, and says what to run", async (_what, sql) => {
    await database.query(sql);
    const checks = await checkIndex(config, database, { vectors: "optional" });
    const found = checks.find(({ code }) => code.startsWith("DOCTOR_INDEX_INCONSISTENT"));
    expect(found).toMatchObject({ level: "fail", fix: "Run: nightdesk index --rebuild" });
    await corpus.index({ rebuild: true });
    expect(await codesOf()).toContain("ok DOCTOR_INDEX_CONSISTENT");
  });

  test("names a source that left the configuration and its documents, until they are pruned", async () => {
    expect((await codesOf()).join()).not.toContain("DOCTOR_SOURCE_REMOVED");
    const checks = await checkIndex(withSources(["ops"]), database, { vectors: "optional" });
    expect(checks.find(({ code }) => code === "DOCTOR_SOURCE_REMOVED")).toMatchObject({
      level: "warn",
      message: expect.stringContaining("lab (1)"),
      fix: expect.stringContaining("nightdesk index --prune"),
    });
    await corpus.index({ rebuild: true });
    expect((await codesOf(withSources(["ops"]))).join()).toContain("DOCTOR_SOURCE_REMOVED");
    await corpus.indexWithout("lab", { pruneForeign: true });
    expect((await codesOf(withSources(["ops"]))).join()).not.toContain("DOCTOR_SOURCE_REMOVED");
  });
});
