import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";

const ABSENT = { provider: "transformers", model_id: "nobody/absent" };

describe("a model whose files are not there", () => {
  let folder: string;
  const database = () => join(folder, ".nightdesk");
  const workerLog = () => readFile(join(database(), "worker.log"), "utf8");

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nightdesk-absent-"));
    await mkdir(join(folder, "notes"));
    await writeFile(join(folder, "notes", "ferry.md"), "# Ferry\n\nThe ferry leaves at 7:40.\n");
  });
  afterAll(async () => {
    await stopEmbedded(database());
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });

  test.each([
    ["RERANK_MODEL_INVALID", { retrieve: { rerank: ABSENT } }],
    ["VERIFY_MODEL_INVALID", { verify: { entailment: ABSENT } }],
  ])("ends a command that waits with %s and 78, after one worker", async (code, more) => {
    const config = {
      extends: "nightdesk:embedded",
      security: { allowed_roots: ["notes"] },
      index: { sources: [{ name: "notes", root: "notes" }] },
      ...more,
    };
    await writeFile(join(folder, "nightdesk.yaml"), stringify(config));
    const words = ["ask", "When does the ferry leave?", "--wait", "--json"];
    const ended = await runBin(words, { cwd: folder });
    expect({ status: ended.code, ...jsonLine(ended) }).toMatchObject({
      status: 78,
      error_code: code,
      error_message: expect.stringContaining("nightdesk models fetch nobody/absent"),
    });
    // Another worker would say the same.
    expect((await workerLog()).match(new RegExp(code, "g"))).toHaveLength(1);
  });
});
