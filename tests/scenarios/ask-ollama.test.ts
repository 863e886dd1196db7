import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleModel } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";
import { isFirstPass } from "../support/first-pass.ts";
import { callFor } from "../support/pipeline-world.ts";

const RAIL = "# Rail\n\nTrains run every 20 minutes — äöü 🚋.\n";
/** Many times what the window of 2,048 tokens takes in. */
const LONG = "A train runs again. ".repeat(4_000);
const SHA256 = createHash("sha256").update(RAIL).digest("hex");
const FOOTER = `Scope: full evidence from read_text_file (${[...RAIL].length}/${[...RAIL].length}), sha256=${SHA256}`;
const QUESTION = "How often do trains run by rail.md?";
const READER_DIGEST = "ab".repeat(32);
const SECRET = "xyzzy-in-the-question";

const reads = (name: string, path: string, model: Partial<DoubleModel> = {}): DoubleModel => ({
  name,
  respond: (messages) => (isFirstPass(messages) ? callFor(path) : "Every 20 minutes [1]."),
  ...model,
});

describeOn("redis+postgres", "questions to a model", (name) => {
  let gate: { readonly opened: Promise<void>; open(): void };
  const newGate = () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open };
  };

  let topology: Topology;
  let double: OllamaDouble;
  let worker: Running;
  beforeAll(async () => {
    gate = newGate();
    double = await startOllamaDouble({
      models: [
        reads("reader", "rail.md", { digest: READER_DIGEST }),
        {
          name: "thinker",
          capabilities: ["completion", "thinking"],
          respond: (messages) => ({
            text: isFirstPass(messages) ? callFor("rail.md") : "Every 20 minutes [1].",
            thinking: "the timetable says 20 \0?\uD800 ",
          }),
        },
        { name: "talker", respond: () => "Every 5 minutes, trust me." },
        {
          name: "summariser",
          respond: (messages) =>
            isFirstPass(messages) ? callFor("long.md") : "A train runs again [1].",
        },
        reads("tiny", "rail.md", { contextLength: 100 }),
        {
          name: "slow",
          respond: (messages) =>
            isFirstPass(messages)
              ? callFor("rail.md")
              : { text: "Every 20 minutes [1].", after: gate.opened },
        },
      ],
    });
    topology = await startTopology(name, {
      model: { provider: "ollama", name: "reader", base_url: double.url, num_ctx: 2_048 },
      // The same question is asked again and again.
      runs: { reuse: "never" },
      log: { level: "info" },
    });
    await mkdir(join(topology.workroot, "allowed", "scratch"));
    await writeFile(join(topology.workroot, "allowed", "corpus", "rail.md"), RAIL);
    await writeFile(join(topology.workroot, "allowed", "corpus", "long.md"), LONG);
    worker = startBin(["worker"], { cwd: topology.workroot });
    await worker.said(/worker ready/);
  });
  afterAll(async () => {
    worker.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
    await topology.dispose();
    await double.close();
  });

  const run = (...words: readonly string[]): Promise<Ended> =>
    runCommand(words, { cwd: topology.workroot });

  describe("an answer from a file that the model read", () => {
    test("ends with the exact footer, and the sha256 is the file's", async () => {
      const { code, stdout } = await run("ask", QUESTION, "--wait");
      expect(code).toBe(0);
      expect(stdout.split("\n").slice(0, 2)).toEqual(["Every 20 minutes [1].", FOOTER]);
    });

    test("is one line of JSON with exactly the contract's keys", async () => {
      const ended = await run("ask", QUESTION, "--wait", "--json");
      expect(ended.code).toBe(0);
      const answer = jsonLine(ended);
      expect(Object.keys(answer)).toEqual(
        "ok job_id run_id batch_id kind state answer scope citations evidence grade claims claims_dropped models usage timing_ms".split(
          " ",
        ),
      );
      expect(answer).toMatchObject({
        ok: true,
        kind: "ask",
        state: "succeeded",
        answer: `Every 20 minutes [1].\n${FOOTER}`,
        scope: FOOTER,
        models: { first: "reader", second: "reader" },
      });
      expect(
        (answer["evidence"] as { kind: string }[]).filter(({ kind }) => kind === "file"),
      ).toEqual([
        expect.objectContaining({
          path: "allowed/corpus/rail.md",
          sha256: SHA256,
          chars_full: [...RAIL].length,
          chars_returned: [...RAIL].length,
          truncated: false,
        }),
      ]);
    });

    test("names every key of an evidence row and of a citation", async () => {
      const answer = jsonLine(await run("ask", QUESTION, "--wait", "--json"));
      const [row = {}] = answer["evidence"] as object[];
      expect(Object.keys(row).join(" ")).toBe(
        "kind path sha256 chars_full chars_returned truncated chunk_key heading_path locator " +
          "left_out start_char end_char line_start line_end score evidence_id",
      );
      expect(answer["usage"]).toEqual({
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
      });
      expect(Object.keys(answer["timing_ms"] as object)).toEqual(["queued", "model", "total"]);
      expect((answer["usage"] as { prompt_tokens: number }).prompt_tokens).toBeGreaterThan(0);
    });

    test("leaves the question out of the worker's log", async () => {
      await run("ask", `${QUESTION} ${SECRET}`, "--wait");
      worker.kill("SIGTERM");
      const { stdout, stderr, code } = await worker.ended;
      worker = startBin(["worker"], { cwd: topology.workroot });
      await worker.said(/worker ready/);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(stderr).toContain('"state":"succeeded"');
      expect(stderr).not.toContain(SECRET);
      expect(stderr).not.toContain("Trains run");
      for (const line of stderr.trimEnd().split("\n"))
        expect(JSON.parse(line)).toHaveProperty("msg");
    });
  });

  describe("what a model thought", () => {
    const THOUGHT = /the timetable says 20/;
    test("is shown when it is asked for, and is in no result, record or export otherwise", async () => {
      const ended = await run("ask", QUESTION, "--wait", "--json", "--model", "thinker");
      const jobId = String(jsonLine(ended)["job_id"]);
      const shown = await run("runs", "show", jobId, "--reasoning");
      expect(shown.stdout).toMatch(
        /^first, thinker, 25 characters:\nthe timetable says 20 \?\uFFFD\n/,
      );
      expect(shown.stdout).toMatch(/^second, thinker, /m);
      const record = await run("runs", "export", "audit", "--run", jobId, "--with-reasoning");
      const trace = await run("runs", "trace", jobId, "--output", "traced", "--with-reasoning");
      const others = [
        await run("runs", "show", jobId, "--all"),
        await run("batch", "export", String(jsonLine(ended)["batch_id"])),
      ];
      expect([record, trace, ended, ...others].map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
      for (const { stdout } of [ended, ...others]) expect(stdout).not.toMatch(THOUGHT);
      const folder = join(topology.workroot, "traced");
      const holding: string[] = [];
      for (const name of await readdir(folder)) {
        if (THOUGHT.test(await readFile(join(folder, name), "utf8"))) holding.push(name);
      }
      expect(holding).toEqual(["reasoning.jsonl"]);
      const runId = String(jsonLine(ended)["run_id"]);
      const exported = join(topology.workroot, "audit", "runs", runId, "run.json");
      expect(await readFile(exported, "utf8")).toMatch(THOUGHT);
    });
  });

  describe("a file beyond the window", () => {
    test("is summarised in parts that cover it", async () => {
      const { code, stdout } = await run(
        "ask",
        "Summarise long.md",
        "--wait",
        "--model",
        "summariser",
      );
      expect(code).toBe(0);
      expect(stdout).toMatch(/full evidence from read_text_file \(80000\/80000\), .*parts=\d+\n/);
    });

    test("never reloads a model, whatever is asked of it", () => {
      expect(double.loads).toEqual([
        { name: "reader:latest", numCtx: 2_048 },
        { name: "thinker:latest", numCtx: 2_048 },
        { name: "summariser:latest", numCtx: 2_048 },
      ]);
    });
  });

  describe("an answer that is refused", () => {
    test.each([
      { model: "talker", code: "EVIDENCE_NOT_ACQUIRED", question: QUESTION },
      { model: "tiny", code: "CONTEXT_OVERFLOW", question: QUESTION },
    ])("by $model as $code, with status 4", async ({ model, code, question }) => {
      const plain = await run("ask", question, "--wait", "--model", model);
      expect(plain).toMatchObject({ code: 4, stdout: "" });
      expect(plain.stderr).toMatch(new RegExp(`^Refused: ${code}: .+\n`));

      const ended = await run("ask", question, "--wait", "--json", "--model", model);
      expect(ended).toMatchObject({ code: 4 });
      expect(jsonLine(ended)).toMatchObject({ ok: false, error_code: code, state: "refused" });
    });
  });

  describe("a model that is not there", () => {
    test("fails the job with MODEL_NOT_FOUND and status 1", async () => {
      const ended = await run("ask", QUESTION, "--wait", "--json", "--model", "ghost");
      expect(ended.code).toBe(1);
      const failure = jsonLine(ended);
      expect(failure).toMatchObject({ ok: false, error_code: "MODEL_NOT_FOUND", state: "failed" });
      expect(failure["error_message"]).toContain("ghost");
    });

    test("is a build that model.digest does not name as well, and both digests are told", async () => {
      const digest = "cd".repeat(32);
      const file = await configWith({ name: "reader", digest });
      const env = { NIGHTDESK_CONFIG: file };
      const doctor = await runCommand(["doctor", "--json"], { cwd: topology.workroot, env });
      expect(doctor.code).toBe(1);
      expect(checkOf(doctor, "DOCTOR_MODEL_DIGEST")).toMatchObject({
        level: "fail",
        message: expect.stringMatching(new RegExp(`${digest}.*${READER_DIGEST}`)),
      });
    });

    test("fails the doctor's check, with the command that helps", async () => {
      const ended = await runCommand(["doctor", "--json"], {
        cwd: topology.workroot,
        env: { NIGHTDESK_CONFIG: await configWith({ name: "ghost" }) },
      });
      expect(ended.code).toBe(1);
      expect(checkOf(ended, "DOCTOR_MODEL_MISSING")).toMatchObject({
        level: "fail",
        suggested_fix: "Run: ollama pull ghost",
      });
    });
  });

  describe("signals while a model answers", () => {
    test("Ctrl-C ends the waiting command with 130, and the job goes on", async () => {
      gate = newGate();
      const answering = secondPass("slow");
      const asking = startBin(["ask", QUESTION, "--wait", "--model", "slow"], {
        cwd: topology.workroot,
      });
      await answering;
      asking.kill("SIGINT");
      const { code, stdout, stderr } = await asking.ended;
      expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
      const [, batch = ""] = /nightdesk batch wait "([^"]+)"/.exec(stderr) ?? [];
      gate.open();
      const waited = await run("batch", "wait", batch, "--json");
      expect(waited.code).toBe(0);
      expect(jsonLine(waited)).toMatchObject({ batch, total: 1, succeeded: 1 });
    });

    test("SIGTERM ends the waiting command with 143", async () => {
      gate = newGate();
      const answering = secondPass("slow");
      const asking = startBin(["ask", QUESTION, "--wait", "--model", "slow"], {
        cwd: topology.workroot,
      });
      await answering;
      asking.kill("SIGTERM");
      expect((await asking.ended).code).toBe(143);
      gate.open();
    });

    test("a worker that gets SIGTERM twice hands its job back, and the next worker finishes it", async () => {
      gate = newGate();
      const answering = secondPass("slow");
      const { stdout } = await run("ask", QUESTION, "--model", "slow");
      await answering;
      worker.kill("SIGTERM");
      await worker.said(/stopping/);
      worker.kill("SIGTERM");
      const stopped = await worker.ended;
      worker = startBin(["worker"], { cwd: topology.workroot });
      expect({ code: stopped.code, stdout: stopped.stdout }).toEqual({ code: 0, stdout: "" });
      gate.open();
      const batch = await batchOf(stdout.trim());
      expect((await run("batch", "wait", batch)).code).toBe(0);
      const [first, second] = JSON.parse(
        (await run("runs", "show", stdout.trim(), "--json")).stdout,
      ) as { state: string }[];
      expect([first?.state, second?.state].sort()).toEqual(["handed_back", "succeeded"]);
    });
  });

  describe("a host that is down", () => {
    test("parks the job: status 75, with when it is tried again", async () => {
      await double.close();
      const ended = await run("ask", QUESTION, "--wait", "--json");
      expect(ended.code).toBe(75);
      const parked = jsonLine(ended);
      expect(parked).toMatchObject({ ok: false, error_code: "MODEL_UNREACHABLE", state: "parked" });
      expect(parked["due_in_s"]).toBeGreaterThan(0);

      const plain = await run("ask", QUESTION, "--wait");
      expect(plain).toMatchObject({ code: 75, stdout: "" });
      expect(plain.stderr).toMatch(/^Parked: MODEL_UNREACHABLE: .+ It is tried again in \d+/);
    });

    test("fails the doctor's check, unless it is told not to ask", async () => {
      const asked = await run("doctor", "--json");
      expect(asked.code).toBe(1);
      expect(checkOf(asked, "DOCTOR_OLLAMA_UNREACHABLE")).toMatchObject({ level: "fail" });
      const silent = await run("doctor", "--json", "--no-ollama");
      expect(checkOf(silent, "DOCTOR_OLLAMA_UNREACHABLE")).toBeUndefined();
    });
  });

  /** Resolves when the model has been asked twice more: its second reply waits for the gate. */
  function secondPass(model: string): Promise<void> {
    const asked = () => double.chats().filter(({ body }) => body["model"] === model).length;
    const before = asked();
    return double.until(() => asked() >= before + 2);
  }

  async function batchOf(jobId: string): Promise<string> {
    const { stdout } = await run(
      "sql",
      `select batch_id from results where job_id = '${jobId}'`,
      "--json",
    );
    const [row] = JSON.parse(stdout) as { batch_id: string }[];
    return row?.batch_id ?? "";
  }

  async function configWith(model: Record<string, string>): Promise<string> {
    const file = join(topology.workroot, "other.yaml");
    await writeFile(
      file,
      JSON.stringify({
        extends: topology.configFile,
        model: { provider: "ollama", base_url: double.url, ...model },
      }),
    );
    return file;
  }

  type Check = { readonly error_code: string; readonly level: string };
  const checkOf = (ended: Ended, code: string): Check | undefined =>
    (jsonLine(ended)["checks"] as Check[]).find(({ error_code }) => error_code === code);
});
