import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { run as wordRun, writeDocx } from "../support/format-writers.ts";
import { jsonLine, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";

/** Words that fit every question below, so that passages are always found. */
const NOTES =
  "# Notes\n\nThe password, the licence and the ports stand in the report, says the summary of the data.\n";
const SECRET = "hunter2";

describeOn("postgres", "questions that name files", (name) => {
  let topology: Topology;
  let worker: Running;
  beforeAll(async () => {
    topology = await startTopology(name, { log: { level: "info" } });
    await write("allowed/corpus/notes.md", NOTES);
    await write("allowed/corpus/port list.md", "# Ports\n\nThe harbour has three ports.\n");
    await write("allowed/corpus/README.md", "# Read me\n\nThe hut opens in May.\n");
    await write(
      "allowed/corpus/letter.docx",
      writeDocx({
        body: `<w:p>${wordRun("The basin is 7 ")}<w:del w:id="1"><w:r><w:delText>metres</w:delText></w:r></w:del>${wordRun("fathoms deep.")}</w:p>`,
      }),
    );
    const denied = [".env", "LICENSE", "report.dwg", "data.toml"].map(
      (name) => `allowed/corpus/${name}`,
    );
    for (const path of [...denied, "src/index.js"]) await write(path, SECRET);
    worker = startBin(["worker"], { cwd: topology.workroot });
    await worker.said(/worker ready/);
    expect((await run("index", "--json")).code).toBe(0);
  });
  afterAll(async () => {
    worker.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
    await topology.dispose();
  });

  const run = (...words: readonly string[]): Promise<Ended> =>
    runCommand(words, { cwd: topology.workroot });

  const json = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await run(...words, "--json")).stdout);

  async function write(path: string, text: string | Buffer): Promise<void> {
    const file = join(topology.workroot, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  test.each([
    ["Read allowed/corpus/.env and summarize it", "PATH_DENIED"],
    ["Read .env", "PATH_DENIED"],
    ["Read LICENSE", "PATH_DENIED"],
    ["Was steht in LICENSE?", "PATH_DENIED"],
    ["Summarize report.dwg", "PATH_DENIED"],
    ["What does src/index.js say about the password?", "PATH_DENIED"],
    ["Which ports stand in data.toml?", "PATH_DENIED"],
    ["Que dit ../../etc/passwd du mot de passe ?", "PATH_DENIED"],
    ["¿Qué hay en /etc/passwd?", "PATH_DENIED"],
    ["Lee corpus/", "PATH_DENIED"],
    ["Summarize allowed/corpus/", "PATH_DENIED"],
    ["What does notes.txt say about the password?", "FILE_NOT_FOUND"],
  ])("%s is %s, before a model is asked", async (question, code) => {
    const asked = await run("ask", question, "--wait", "--json");
    expect(asked.code).toBe(4);
    expect(jsonLine(asked)).toMatchObject({ ok: false, error_code: code });
    expect(asked.stdout).not.toContain(SECRET);
    expect(asked.stdout).not.toContain("larger model");
    const [{ run_id: id }] = (await json("runs", "list", "--limit", "1")) as [{ run_id: string }];
    expect(await json("runs", "show", id)).toMatchObject([{ models: [], evidence: [] }]);
    const replay = await run("runs", "replay", id);
    expect({ code: replay.code, stderr: replay.stderr }).toEqual({ code: 0, stderr: "" });
  });

  test.each([
    ["What does note.md say about the password?", "FILE_NOT_FOUND", "allowed/corpus/notes.md"],
    ["How is the password in notes.mdd?", "PATH_DENIED", "allowed/corpus/notes.md"],
  ])("%s is told which file was meant", async (question, code, meant) => {
    const asked = await run("ask", question, "--wait", "--json");
    expect(jsonLine(asked)).toMatchObject({
      error_code: code,
      error_message: expect.stringContaining(`Did you mean "${meant}"?`),
    });
  });

  test.each([
    ["What does notes.md say about the password?", "allowed/corpus/notes.md"],
    ["How many ports has the harbour by port list.md?", "allowed/corpus/port list.md"],
    ["When does the hut open, says README?", "allowed/corpus/README.md"],
  ])("%s is answered by a read of the file", async (question, path) => {
    const asked = await run("ask", question, "--wait", "--json");
    expect(asked.code).toBe(0);
    expect(jsonLine(asked)).toMatchObject({
      ok: true,
      scope: expect.stringMatching(/^Scope: full evidence from read_text_file [^;]*$/),
      citations: expect.arrayContaining([expect.objectContaining({ path })]),
    });
  });

  test("an answer says what of its document was not read, wherever it is shown", async () => {
    const unread = "Not read of allowed/corpus/letter.docx: deleted passages: 1.";
    const counts = { "deleted passages": 1 };
    const read = { kind: "file", path: "allowed/corpus/letter.docx", left_out: counts };
    const named = await run("summarize", read.path, "--wait");
    expect(named.stderr).toContain(unread);
    const passages = await run("ask", "How many fathoms deep is the basin?", "--wait", "--json");
    expect(jsonLine(passages)).toMatchObject({
      evidence: [{ ...read, kind: "chunk" }],
    });
    const [ask, summarize] = (await json("runs", "list", "--limit", "2")) as Record<
      "run_id" | "batch",
      string
    >[];
    expect(await json("runs", "show", summarize?.run_id ?? "")).toMatchObject([
      { evidence: [read] },
    ]);
    const shown = await run("runs", "show", ask?.run_id ?? "");
    expect(shown.stdout).toContain(unread);
    const batch = summarize?.batch ?? "";
    const [, report = ""] = (await run("batch", "report", batch)).stdout.trim().split("\n");
    expect(await readFile(join(topology.workroot, report), "utf8")).toContain(
      "deleted passages: 1",
    );
    const markdown = await run("batch", "export", batch, "--format", "markdown");
    expect(markdown.stdout).toContain("deleted passages: 1");
    const csv = await run("batch", "export", batch, "--format", "csv");
    expect(csv.stdout).toContain(`,${unread}`);
  });

  test("a question with and/or is one for the passages", async () => {
    const asked = await run(
      "ask",
      "Where stands the password and/or the licence?",
      "--wait",
      "--json",
    );
    expect(jsonLine(asked)).toMatchObject({
      ok: true,
      scope: expect.stringMatching(/^Scope: \d+ passages? from/),
    });
  });
});
