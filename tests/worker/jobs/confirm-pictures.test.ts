import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { createRunJob } from "../../../src/worker/jobs/run-job.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { askJob, claimNext, openBatchOf } from "../../conformance/jobs.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { root } from "../../docs/read-doc.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { Script } from "../../doubles/ollama/double-model.ts";
import { describeOn } from "../../support/describe-on.ts";

const PATH = "allowed/corpus/frames.tiff";
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]).toString("base64").slice(0, 5);

describeOn("postgres", "index.ocr.confirm", (name) => {
  let topology: Topology;
  let db: Database;
  let double: Awaited<ReturnType<typeof startOllamaDouble>>;
  let reply: string | Script = "";
  beforeAll(async () => {
    double = await startOllamaDouble({
      models: [{ name: "seer", capabilities: ["completion", "vision"], respond: () => reply }],
    });
    topology = await startTopology(name, {
      security: { allowed_exts: [".tiff"] },
      hosts: [{ name: "eye", kind: "ollama", url: double.url }],
      index: { ocr: { languages: ["spa"], confirm: { host: "eye", model: "seer" } } },
    });
    db = await topology.connect();
    await mkdir(join(topology.workroot, "allowed", "corpus"), { recursive: true });
    await copyFile(
      join(root, "tests/corpora/scans/small/frames.tiff"),
      join(topology.workroot, PATH),
    );
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
    await double.close();
  });

  async function readPage(trace = startTrace()): Promise<unknown> {
    await db.query("truncate nightdesk_data.ocr_pages, nightdesk_data.model_calls cascade");
    const { jobIds } = await openBatchOf(db, [
      askJob("page", { input: { kind: "ocr", path: PATH } }),
    ]);
    const job = await claimNext(db, jobIds[0] ?? "");
    const runJob = createRunJob(topology.context, db);
    return runJob(job, trace, new AbortController().signal);
  }

  const doubtful = async (): Promise<unknown> =>
    (
      await db.query(
        `select count(*)::int as doubtful from nightdesk_data.ocr_pages, jsonb_path_query(record, '$.lines[*].words[*]') word
          where page = 1 and word->>'text' = '1,60' and word->>'figure' = 'doubtful'`,
      )
    ).rows;

  test.each<readonly [string, string | Script]>([
    ["nothing", ""],
    ["a call of a tool alone", { text: "", toolCalls: [{ name: "read_file", args: {} }] }],
    [
      "a reply that the host can't read",
      { text: "", failure: { status: 500, error: "error parsing tool call: no brace" } },
    ],
    ["a reply that was cut", { text: "1,60", metrics: { done_reason: "length" } }],
  ])(
    "leaves figures in doubt of which it gives %s",
    async (_, given) => {
      reply = given;
      await expect(readPage()).resolves.toMatchObject({ kind: "succeeded" });
      await expect(doubtful()).resolves.toEqual([{ doubtful: 1 }]);
    },
    120_000,
  );

  test.each<readonly [string, Script["failure"], string]>([
    [
      "CONFIG_ERROR",
      { status: 400, error: "this model does not support images" },
      "reads no pictures: name a model that does in index.ocr.confirm.",
    ],
    ["MODEL_UNREACHABLE", { status: 500, error: "no room on the disk" }, "no room"],
    ["MODEL_UNREACHABLE", { status: 302, error: "elsewhere" }, "HTTP 302"],
  ])(
    "stores no page with %s: %j",
    async (code, failure, message) => {
      reply = { text: "", ...(failure && { failure }) };
      await expect(readPage()).rejects.toMatchObject({
        ...{ code, message: expect.stringContaining(message) },
      });
      await expect(doubtful()).resolves.toEqual([{ doubtful: 0 }]);
    },
    120_000,
  );

  test("shows each figure in doubt to the model, and takes its word where a reader said the same", async () => {
    reply = "1,69 EUR";
    const before = double.chats().length;
    const trace = startTrace();
    await expect(readPage(trace)).resolves.toMatchObject({ kind: "succeeded" });
    const looked = trace.record().events.filter(({ step }) => step === "confirm");
    expect(looked[0]?.detail).toMatchObject({ model: "seer", settled: 1 });
    const words = (
      await db.query(
        "select word from nightdesk_data.ocr_pages, jsonb_path_query(record, '$.lines[*].words[*]') word where page = 1",
      )
    ).rows.map((row) => (row as { word: Record<string, unknown> }).word);
    expect(words).toContainEqual(
      expect.objectContaining({ text: "1,69", figure: "two", other: "1,60", confirmed: "seer" }),
    );
    const asked = double
      .chats()
      .slice(before)
      .map(({ body }) => body);
    expect(asked.length).toBeGreaterThan(0);
    for (const body of asked) {
      expect(body["model"]).toBe("seer");
      expect(body["messages"]).toEqual([
        { role: "user", content: expect.any(String), images: [expect.stringContaining(PNG)] },
      ]);
      expect(JSON.stringify(body)).not.toMatch(/1,6\d/);
    }
    const { rows } = await db.query(
      "select count(*)::int as calls from nightdesk_data.model_calls where model = 'seer'",
    );
    expect(rows).toEqual([{ calls: asked.length }]);
  }, 120_000);
});
