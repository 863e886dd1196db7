import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { indexFolder } from "../../bench/index-folder.ts";
import { openDesk } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { jsonLine, runBin, startBin } from "../support/run-bin.ts";
import { askAbout, investigationsOf } from "../support/waiting-investigations.ts";

const bin = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");
let desk: Desk;
let jobId = "";

beforeAll(async () => {
  desk = await openDesk();
  await mkdir(join(desk.workroot, "corpus", "open"), { recursive: true });
  await desk.write("corpus/open/pay.md", "# Crew\n\nThe pay day is the fifth.\n");
  await desk.write("corpus/secret.md", "# Safe\n\nThe pay of the director.\n");
  await indexFolder(desk.database, desk.workroot, false);
  const jobs = await insertFinishedBatch(desk.database, {
    name: "evening",
    jobs: [
      {
        ...{
          customId: "q1",
          input: { kind: "ask", question: "When?" },
          answer: "On the fifth [1].",
        },
        evidence: [{ path: "corpus/open/pay.pdf", lines: [1, 3], sha256: "d".repeat(64) }],
      },
      {
        customId: "q2",
        input: { kind: "ask", question: "Why?" },
        state: "refused",
        code: "FILE_EMPTY",
        message: "It is empty.",
      },
    ],
  });
  jobId = jobs.get("q1") ?? "";
  await desk.database.query(
    `insert into nightdesk_data.claims (run_id, draft, ordinal, text, cites, grade, fate, reason, stands,
                                        number, path, start_char, end_char, line_start, line_end, carrier, locator)
     select run_id, 0, ordinal, claims.text, '{1}', claims.grade, claims.fate, claims.reason, stands,
            number, path, start_char, end_char, line_start, line_end, carrier, locator::jsonb
       from nightdesk_data.jobs, (values
         (0, 'On the fifth.', 'supported', 'kept', 'verbatim', true,
          1, 'corpus/open/pay.pdf', 0, 9, 3, 3, 'The fifth 5', '{"page": 2}'),
         (1, 'In cash.', 'unsupported', 'dropped', 'figure', false, null, null, null, null, null, null, null, null))
         as claims (ordinal, text, grade, fate, reason, stands,
                    number, path, start_char, end_char, line_start, line_end, carrier, locator)
      where job_id = $1`,
    [jobId],
  );
  const words = ["The", "fifth", "5"].map((text, at) => ({
    ...{ text, box: [100 * at, 50, 100 * at + 90, 80], confidence: 70 },
    ...(text === "5" ? { figure: "doubtful" } : {}),
  }));
  await desk.database.query(
    "insert into nightdesk_data.ocr_pages (sha256, page, settings, record, job_id) values ($1, 2, '01234567', $2, gen_random_uuid())",
    [
      "d".repeat(64),
      JSON.stringify({
        ...{ picture: { format: "pdf", width: 800, height: 600, dpi: 200 }, turned: 90 },
        lines: [{ words }],
      }),
    ],
  );
  await desk.database.query("update nightdesk_data.runs set claims_dropped = 1 where job_id = $1", [
    jobId,
  ]);
  const { jobIds } = await investigationsOf(desk.database, "asks", 1);
  await askAbout(desk.database, jobIds[0] ?? "");
  const file = join(desk.workroot, "nightdesk.yaml");
  const own =
    "security: { allowed_roots: [corpus] }\nindex: { sources: [{ name: corpus, root: corpus }] }\n" +
    'mcp: { roots: ["corpus/open"], submit_preset: readonly_safe, submit_kinds: [ask, summarize] }\n';
  const searched =
    "model: { provider: openai-compatible, base_url: http://127.0.0.1:9, name: m }\n";
  const base = (await readFile(file, "utf8")).replace(
    /model:\n {2}provider: extractive\n/,
    searched,
  );
  await writeFile(file, base + own);
});
afterAll(() => desk.dispose());

test("a client over stdio reads documents and rows within its grant, and queues by the preset", async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, "mcp"],
    cwd: desk.workroot,
    env: { PATH: process.env["PATH"] ?? "" },
    stderr: "pipe",
  });
  const client = new Client({ name: "test", version: "0" });
  await client.connect(transport);
  const call = async (name: string, args: object = {}) =>
    (await client.callTool({ name, arguments: { ...args } })).structuredContent;
  try {
    const found = await call("search_index", { query: "pay" });
    expect(found).toMatchObject({
      ok: true,
      hidden: 1,
      pieces: [
        {
          path: "corpus/open/pay.md",
          line_start: 1,
          untrusted_text: expect.stringContaining("fifth"),
        },
      ],
    });
    expect(await call("get_document", { path: "corpus/open/pay.md" })).toMatchObject({
      chars_full: 34,
      pieces: [{ chars: 34, cut: false }],
    });
    expect(await call("get_document", { path: "corpus/secret.md" })).toMatchObject({
      ok: false,
      error_code: "PATH_DENIED",
    });

    expect(await call("list_batches", {})).toMatchObject({
      count: 2,
      batches: expect.arrayContaining([
        expect.objectContaining({
          batch: "evening",
          state: "completed",
          total: 2,
          succeeded: 1,
          refused: 1,
        }),
      ]),
    });
    expect(await call("search_results", { text: "FIFTH" })).toMatchObject({
      count: 1,
      results: [{ job_id: jobId, custom_id: "q1", untrusted_excerpt: "On the fifth [1]." }],
    });
    expect(
      await call("search_results", { text: "", batch: "evening", state: "refused" }),
    ).toMatchObject({
      results: [
        { custom_id: "q2", error_code: "FILE_EMPTY", untrusted_error_message: "It is empty." },
      ],
    });
    expect(await call("get_run", { id: jobId.slice(0, 8) })).toMatchObject({
      runs: [
        {
          job_id: jobId,
          state: "succeeded",
          answer_chars: 17,
          untrusted_answer: "On the fifth [1].",
        },
      ],
    });
    expect(await call("get_claims", { id: jobId })).toMatchObject({
      count: 1,
      claims: [
        {
          ...{ line_start: 3, untrusted_place: "page 2", untrusted_carrier: "The fifth 5" },
          picture: {
            ...{ page: 2, width: 800, dpi: 200, turned: 90 },
            figures: [{ untrusted_text: "5", certainty: "doubtful", box: [200, 50, 290, 80] }],
          },
        },
      ],
      left_out: [{ reason: "figure", untrusted_text: "In cash." }],
    });
    expect(await call("get_run", { id: "nothing" })).toMatchObject({ error_code: "NOT_FOUND" });
    for (const [name, args] of [
      ["get_document", { path: "pay.md\0" }],
      ["search_index", { query: "pay\0" }],
      ["search_index", { query: "pay", path_prefix: "corpus\0" }],
      ["search_results", { text: "fifth\0" }],
      ["search_results", { text: "fifth", batch: "evening\0" }],
    ] as const) {
      expect(await call(name, args)).toMatchObject({
        error_code: "INVALID_ARGS",
        error_message: "The call can't be made: it holds a NUL character (\\u0000).",
      });
    }
    expect(await call("queue_stats")).toMatchObject({
      parked: 1,
      approvals_waiting: 1,
      workers: 0,
    });
    expect(await call("list_approvals")).toMatchObject({
      count: 1,
      approvals: [{ tool: "shell", requests: 1, untrusted_preview: "git log\nin /input" }],
    });

    expect(await call("submit_job", { task: "Look.", path_prefix: "corpus" })).toMatchObject({
      error_code: "INPUT_INVALID",
    });
    expect(await call("submit_job", { kind: "ask", task: "Who is paid?" })).toMatchObject({
      ok: true,
      state: "queued",
    });
    expect(
      await call("submit_job", { kind: "summarize", path: "corpus/open/pay.md" }),
    ).toMatchObject({ ok: true });
    for (const path of ["corpus/secret.md", "corpus/open/../secret.md"]) {
      expect(await call("submit_job", { kind: "summarize", path })).toMatchObject({
        error_code: "INPUT_INVALID",
      });
    }
    expect(
      await call("submit_job", { kind: "extract", path: "corpus/open/pay.md", extract: "people" }),
    ).toMatchObject({ error_code: "INPUT_INVALID" });
    const { tools } = await client.listTools();
    expect(tools.every(({ outputSchema }) => outputSchema?.["type"] === "object")).toBe(true);
    const queued = await call("submit_job", { task: "Who is paid?" });
    expect(queued).toMatchObject({ hint: null });
    const { job_id: queuedId } = queued as { job_id: string };
    expect(await call("get_run", { id: queuedId })).toMatchObject({
      ok: true,
      job: { job_id: queuedId, state: "queued", waiting_for: null, hold_reason: null, workers: 0 },
      count: 0,
      runs: [],
    });
    const { rows } = await desk.database.query(
      "select kind, input from nightdesk_data.jobs where job_id = $1",
      [queuedId],
    );
    expect(rows).toMatchObject([
      {
        kind: "investigate",
        input: { preset: "readonly_safe", options: { path_prefix: "corpus/open/" } },
      },
    ]);
  } finally {
    await client.close();
  }
});

test("by HTTP on a port that another program has, it says so as an error of the configuration", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const refused = await runBin(["mcp", "--http", "--port", String(port)], {
    cwd: desk.workroot,
    env: { NIGHTDESK_MCP_TOKEN: "a-token-of-some-length" },
  });
  await new Promise((resolve) => other.close(resolve));
  expect({ code: refused.code, stderr: refused.stderr }).toMatchObject({
    code: 78,
    stderr: expect.stringContaining(`CONFIG_ERROR: 127.0.0.1:${port} is taken`),
  });
});

test("by HTTP it wants a token that is long enough, and ends by a signal", async () => {
  const refused = await runBin(["mcp", "--http"], { cwd: desk.workroot });
  expect({ code: refused.code, stderr: refused.stderr }).toMatchObject({
    code: 78,
    stderr: expect.stringContaining("NIGHTDESK_MCP_TOKEN"),
  });
  const server = startBin(["mcp", "--http", "--port", String(20_000 + (process.pid % 12_000))], {
    cwd: desk.workroot,
    env: { NIGHTDESK_MCP_TOKEN: "a-token-of-some-length" },
  });
  await server.said(/MCP at http/);
  server.kill("SIGTERM");
  const ended = await server.ended;
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 0, stdout: "" });
});

test("the dashboard has search in all roots and doctor, and nothing else", async () => {
  const transport = (env: Readonly<Record<string, string>>) =>
    new StdioClientTransport({
      command: process.execPath,
      args: [bin, "mcp", "--dashboard"],
      cwd: desk.workroot,
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stderr: "pipe",
    });
  const client = new Client({ name: "test", version: "0" });
  await client.connect(transport({}));
  const call = async (name: string, args: object = {}) =>
    (await client.callTool({ name, arguments: { ...args } })).structuredContent;
  try {
    const query = await runBin(["query", "pay", "--limit", "3", "--explain", "--json"], {
      cwd: desk.workroot,
    });
    const found = await call("search", { text: "pay", limit: 3 });
    expect(found).toEqual(jsonLine(query));
    expect(JSON.stringify(found)).toContain("corpus/secret.md");
    const doctor = jsonLine(await runBin(["doctor", "--json"], { cwd: desk.workroot }));
    expect(codesOf(await call("doctor"))).toEqual(codesOf(doctor));

    expect(await call("search", { text: "?!", limit: 3 })).toMatchObject({
      error_code: "INVALID_QUERY",
    });
    expect(await call("search", { text: "pay", limit: 0 })).toMatchObject({
      error_code: "INVALID_ARGS",
    });
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ["search", true],
      ["doctor", true],
    ]);
    await expect(call("submit_job", { task: "Look." })).rejects.toThrow("submit_job not found");
  } finally {
    await client.close();
  }

  const away = new Client({ name: "test", version: "0" });
  await away.connect(transport({ DATABASE_URL: "postgres://127.0.0.1:1/none" }));
  const answer = await away.callTool({ name: "search", arguments: { text: "pay", limit: 3 } });
  expect(answer).toMatchObject({
    isError: true,
    structuredContent: { error_code: "DATABASE_UNREACHABLE" },
  });
  await away.close();
});

test("what the dashboard has is not to be had by HTTP, nor without the option", async () => {
  const ended = await runBin(["mcp", "--dashboard", "--http"], {
    cwd: desk.workroot,
    env: { NIGHTDESK_MCP_TOKEN: "a-token-of-some-length" },
  });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("USAGE_ERROR") });
  const client = new Client({ name: "test", version: "0" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin, "mcp"],
      cwd: desk.workroot,
      env: { PATH: process.env["PATH"] ?? "" },
      stderr: "pipe",
    }),
  );
  await expect(
    client.callTool({ name: "search", arguments: { text: "pay", limit: 3 } }),
  ).rejects.toThrow("search not found");
  await client.close();
});

/** Words of doctor tell how much of the disk is free, which changes meanwhile. */
const codesOf = (result: unknown): unknown =>
  (result as { readonly checks: readonly object[] }).checks.map((check) => ({
    ...check,
    message: "",
  }));
