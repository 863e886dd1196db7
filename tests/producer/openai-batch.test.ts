import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { openDesk, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import type { FinishedJob } from "../support/finished-batch.ts";

type Body = Readonly<Record<string, unknown>>;
const hello = [{ role: "user", content: "Hello?" }];

const chatLine = (id: string, body: Body = {}): string =>
  JSON.stringify({
    custom_id: id,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "gpt-4o-mini", messages: hello, ...body },
  });
const embeddingsLine = (id: string, body: Body = {}): string =>
  JSON.stringify({
    custom_id: id,
    method: "POST",
    url: "/v1/embeddings",
    body: { model: "text-embedding-3-small", input: "a text", ...body },
  });

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  const file = join(desk.workroot, "nightdesk.yaml");
  const config = parse(await readFile(file, "utf8")) as { embed?: object };
  const aliases = { "gpt-4o-mini": "llama3.1:8b", "text-embedding-3-small": "hashing" };
  await desk.write(
    "nightdesk.yaml",
    stringify({
      ...config,
      model: { provider: "ollama", name: "llama3.1:8b", aliases },
      embed: { provider: "hashing", model_id: "hashing" },
    }),
  );
});
afterAll(() => desk.dispose());

const enqueue = async (name: string, lines: readonly string[], ...flags: readonly string[]) => {
  const file = await desk.write(`${name}.jsonl`, lines.join("\n"));
  return desk.run("enqueue", file, "--batch-name", name, ...flags);
};
const inputsOf = async (name: string): Promise<unknown[]> =>
  (
    await rowsOf(
      desk.database,
      `select j.input from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
        where b.name = $1 order by j.seq`,
      [name],
    )
  ).map(({ input }) => input);

/** The reason why a file of one line is not taken. */
async function reasonFor(line: string): Promise<string> {
  const { stdout, code } = await enqueue("bad", [line], "--json");
  expect(code).toBe(1);
  const { problems } = JSON.parse(stdout) as { problems: { reason: string }[] };
  return problems[0]?.reason ?? "";
}

describe("a file of OpenAI's Batch", () => {
  test("is known by its first line, and its requests become jobs", async () => {
    const { code, stderr } = await enqueue("accepted", [
      chatLine("c", {
        messages: [
          { role: "developer", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "One." },
              { type: "text", text: "Two." },
            ],
          },
        ],
        max_completion_tokens: 40,
        temperature: 0.2,
        top_p: 0.9,
        seed: 7,
        stop: "END",
        response_format: { type: "json_object" },
        user: "u-1",
        metadata: { a: "b" },
        n: 1,
        stream: false,
        logprobs: null,
      }),
      embeddingsLine("e", { input: ["x", "y"], encoding_format: "base64", dimensions: 256 }),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("Queued 2 jobs") });
    expect(await inputsOf("accepted")).toEqual([
      {
        kind: "chat",
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "One.\nTwo." },
        ],
        model: "llama3.1:8b",
        max_tokens: 40,
        temperature: 0.2,
        top_p: 0.9,
        seed: 7,
        stop: ["END"],
        response_format: { type: "json_object" },
      },
      { kind: "embed", text: ["x", "y"], encoding_format: "base64", dimensions: 256 },
    ]);
    const [batch] = await rowsOf(
      desk.database,
      "select format from nightdesk_data.batches where name = 'accepted'",
    );
    expect(batch).toEqual({ format: "openai" });
  });

  test("goes to one model with --model, whatever its lines name", async () => {
    const lines = [chatLine("a", { model: "o9-preview" }), embeddingsLine("b", { model: "other" })];
    expect((await enqueue("overridden", lines, "--model", "gpt-4o-mini")).code).toBe(0);
    expect(await inputsOf("overridden")).toEqual([
      { kind: "chat", messages: hello, model: "llama3.1:8b" },
      { kind: "embed", text: "a text" },
    ]);
  });

  test("is the only one that takes --model: other files are not queued with their own models", async () => {
    const lines = [`{"custom_id":"a","kind":"ask","question":"How?"}`];
    const { code, stderr } = await enqueue("native", lines, "--model", "big:70b", "--no-strict");
    expect(code).toBe(1);
    expect(stderr).toContain(
      "line 1: --model is for files of OpenAI's Batch: leave it out; a line of Nightdesk",
    );
    expect(await inputsOf("native")).toEqual([]);
  });

  test("leaves names to the model host with --model-names any", async () => {
    const { code } = await enqueue(
      "lax",
      [chatLine("a", { model: "qwen3:14b" })],
      "--model-names",
      "any",
    );
    expect(code).toBe(0);
    expect(await inputsOf("lax")).toEqual([{ kind: "chat", messages: hello, model: "qwen3:14b" }]);
  });

  test("is not loaded at all where it names models that are not known, and says which", async () => {
    const lines = [
      chatLine("a"),
      chatLine("b", { model: "o9" }),
      chatLine("c", { model: "o9" }),
      embeddingsLine("d", { model: "ada" }),
    ];
    const { code, stderr } = await enqueue("unknown", lines, "--no-strict");
    expect(code).toBe(1);
    expect(stderr).toContain(`"o9" (line 2), "ada" (line 4)`);
    expect(stderr).toContain(
      `Known are "extractive", "gpt-4o-mini", "hashing", "llama3.1:8b", "text-embedding-3-small". `,
    );
    expect(await inputsOf("unknown")).toEqual([]);
  });

  test("may not name one custom_id twice", async () => {
    const { stderr } = await enqueue("twice", [chatLine("a"), chatLine("a")]);
    expect(stderr).toContain(`line 2: custom_id "a" is that of line 1 already`);
  });

  test("that begins with one of our lines is not taken for one", async () => {
    const { stderr } = await enqueue("mixed", [
      `{"custom_id":"n","kind":"chat","prompt":"x"}`,
      chatLine("a"),
    ]);
    expect(stderr).toContain("--format openai");
    const named = await enqueue("named", [`{"kind":"chat","prompt":"x"}`], "--format", "openai");
    expect(named.stderr).toContain("custom_id, method, url, body and nothing else");
  });
});

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

test("a picture of a request goes into the job beside its words", async () => {
  const url = `data:image/png;base64,${PNG}`;
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url, detail: "low" } },
  ];
  await enqueue("seen", [chatLine("a", { messages: [{ role: "user", content }] })]);
  expect(await inputsOf("seen")).toMatchObject([
    { kind: "chat", messages: [{ role: "user", content: "What is it?", images: [url] }] },
  ]);
});

describe("a request is a bad line, with the reason", () => {
  const part = (type: string) => ({
    messages: [{ role: "user", content: [{ type: "text", text: "x" }, { type }] }],
  });
  const image = (url: string) => ({
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
  });
  test.each([
    ["asks for several answers", { n: 3 }, "body.n must be 1: a job gives one answer"],
    ["offers tools", { tools: [{ type: "function" }] }, "body.tools offers tools"],
    ["wants a stream", { stream: true }, "body.stream must be false"],
    ["wants log probabilities", { logprobs: true }, "body.logprobs must be false"],
    ["holds an image of no URL", part("image_url"), "content.1 has no image_url.url"],
    ["has an image fetched", image("https://a.example/x.png"), "must be a data URL"],
    [
      "holds a picture that runs",
      image("data:image/svg+xml;base64,PHN2Zz4="),
      "is image/svg+xml; expected",
    ],
    [
      "holds what is no picture",
      image("data:image/png;base64,aGVsbG8="),
      "does not begin as image/png",
    ],
    [
      "says a wrong type",
      image(`data:image/jpeg;base64,${PNG}`),
      "does not begin as image/jpeg does",
    ],
    ["holds a cut picture", image(`data:image/png;base64,${PNG}!`), "is no base64"],
    [
      "holds too large a picture",
      image(`data:image/png;base64,${"A".repeat(6_700_000)}`),
      "larger than 5 MB",
    ],
    ["holds sound", part("input_audio"), "body.messages.0.content.1 is sound"],
    ["has a field that nobody knows", { wobble: 1 }, "body.wobble is not a field of chat requests"],
    ["is of a tool", { messages: [{ role: "tool", content: "x" }] }, "body.messages.0.role must"],
    ["has no messages", { messages: [] }, "body.messages must be a list"],
    ["is too hot", { temperature: 9 }, "body.temperature"],
    ["stops at too much", { stop: ["a", "b", "c", "d", "e"] }, "body.stop"],
  ])("that %s", async (_, body, reason) => {
    expect(await reasonFor(chatLine("a", body))).toContain(reason);
  });

  test.each([
    ["tokens for text", { input: [[1, 2]] }, "body.input holds numbers of tokens"],
    ["a blank text", { input: " " }, "body.input"],
    ["an unknown encoding", { encoding_format: "hex" }, "body.encoding_format"],
  ])("of embeddings with %s", async (_, body, reason) => {
    expect(await reasonFor(embeddingsLine("a", body))).toContain(reason);
  });

  test("with a url that names no kind of job", async () => {
    const line = chatLine("a").replace("/v1/chat/completions", "/v1/responses");
    expect(await reasonFor(line)).toBe(
      "url must be one of /v1/chat/completions, /chat/completions, /v1/embeddings, /v1/nightdesk/jobs",
    );
  });
});

describe("an export in OpenAI's form", () => {
  const chat: FinishedJob["input"] = { kind: "chat", messages: hello };
  const jobs: readonly FinishedJob[] = [
    { customId: "ok", input: chat, answer: "Hi.", doneReason: "length" },
    {
      customId: "vectors",
      input: { kind: "embed", text: "x", encoding_format: "base64" },
      vectors: [[0.5, -1]],
    },
    {
      customId: "no",
      input: chat,
      state: "refused",
      code: "CONTEXT_OVERFLOW",
      message: "Too long.",
    },
    { customId: "bad", input: chat, state: "failed", code: "MODEL_NOT_FOUND", message: "None." },
    { customId: "lacks", input: chat, state: "failed", code: "OCR_MISSING", message: "None." },
    { customId: "off", input: chat, state: "cancelled", code: "CANCELLED", message: "Stopped." },
    {
      customId: "late",
      input: chat,
      state: "expired",
      code: "DEADLINE_EXCEEDED",
      message: "Late.",
    },
  ];
  const linesOf = async (name: string): Promise<Record<string, unknown>[]> =>
    (await readFile(join(desk.workroot, name), "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  beforeAll(() => insertFinishedBatch(desk.database, { name: "done", format: "openai", jobs }));

  test("is what such a batch gets: results and errors in a file each", async () => {
    const { code, stdout, stderr } = await desk.run(
      ...["batch", "export", "done", "--output", "out.jsonl"],
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${join(desk.workroot, "out.jsonl")}\n${join(desk.workroot, "out.errors.jsonl")}\n`,
      stderr: expect.stringMatching(
        /Exported batch .*: 2 results, 5 errors \(to .*out\.errors\.jsonl\)\./,
      ),
    });
    const [chatted, embedded] = await linesOf("out.jsonl");
    expect(chatted).toEqual({
      id: expect.stringMatching(/^batch_req_[0-9a-f]{32}$/),
      custom_id: "ok",
      response: {
        status_code: 200,
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        body: {
          id: expect.stringMatching(/^chatcmpl-/),
          object: "chat.completion",
          created: Date.parse("2026-11-20T21:00:10Z") / 1_000,
          model: "small:1b",
          choices: [
            {
              index: 0,
              message: { role: "assistant", content: "Hi.", refusal: null },
              logprobs: null,
              finish_reason: "length",
            },
          ],
          usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
          system_fingerprint: null,
          nightdesk: expect.objectContaining({
            kind: "chat",
            grade: null,
            claims: [],
            evidence: [],
          }),
        },
      },
      error: null,
    });
    expect(embedded).toMatchObject({
      response: {
        body: {
          object: "list",
          data: [{ object: "embedding", index: 0, embedding: "AAAAPwAAgL8=" }],
          model: "hashing",
        },
      },
    });
    expect(await linesOf("out.errors.jsonl")).toMatchObject([
      {
        custom_id: "no",
        response: {
          status_code: 400,
          body: { error: { code: "CONTEXT_OVERFLOW", message: "Too long." } },
        },
        error: null,
      },
      { custom_id: "bad", response: { status_code: 404 }, error: null },
      { custom_id: "lacks", response: { status_code: 500 }, error: null },
      { custom_id: "off", response: null, error: { code: "batch_cancelled", message: "Stopped." } },
      { custom_id: "late", response: null, error: { code: "batch_expired", message: "Late." } },
    ]);
  });

  test("writes no file that would be empty", async () => {
    await insertFinishedBatch(desk.database, { name: "clean", jobs: jobs.slice(0, 1) });
    const words = ["export", "clean", "--format", "openai", "--output", "clean.jsonl"];
    const { stdout } = await desk.run("batch", ...words);
    expect(stdout).toBe(`${join(desk.workroot, "clean.jsonl")}\n`);
    const names = (await readdir(desk.workroot)).filter((name) => name.includes("clean"));
    expect(names).toEqual(["clean.jsonl"]);
  });

  test("goes to stdout whole, and without what has not ended", async () => {
    await enqueue("waiting", [chatLine("a")]);
    const { stdout, stderr } = await desk.run("batch", "export", "waiting");
    expect(stdout).toBe("");
    expect(stderr).toContain("1 job not ended yet, and left out");
    const done = await desk.run("batch", "export", "done");
    expect(done.stdout.trimEnd().split("\n")).toHaveLength(7);
  });

  test("names two files for two", async () => {
    const words = ["batch", "export", "done", "--output", "x.jsonl", "--errors", "x.jsonl"];
    expect((await desk.run(...words)).code).toBe(2);
    const csv = ["batch", "export", "done", "--format", "csv", "--errors", "x.csv"];
    expect((await desk.run(...csv)).code).toBe(2);
  });
});

describe("an export for a spreadsheet or an editor", () => {
  const hostile = `=cmd|' /C calc'!A0`;
  const job: FinishedJob = {
    customId: hostile,
    input: { kind: "ask", question: `@SUM(1,2)` },
    answer: `-2+3 "quoted",\n<img src=x> ![i](http://evil/i.png)\n# Title`,
    scope: "Scope: none",
    evidence: [{ path: "allowed/corpus/a (b).md", lines: [2, 2], sha256: "c".repeat(64) }],
  };
  beforeAll(async () => {
    await insertFinishedBatch(desk.database, { name: "sheet", jobs: [job] });
    await desk.database.query("update nightdesk_data.runs set model_first = 'chooser:1b'");
  });

  test("is CSV of stable columns in which nothing is a formula", async () => {
    const { stdout } = await desk.run("batch", "export", "sheet", "--format", "csv");
    expect(stdout.split("\r\n")[0]).toBe(
      "custom_id,job_id,kind,state,error_code,error_message,input,answer,scope,output,evidence,model," +
        "prompt_tokens,completion_tokens,queued_ms,model_ms,total_ms,created_at,finished_at,steps,outputs,duplicate_of,not_read",
    );
    expect(stdout).toContain(`\r\n'${hostile},`);
    expect(stdout).toContain(",small:1b,100,20,");
    expect(stdout).toContain(`"'-2+3 ""quoted"",\n<img`);
    expect(stdout).toContain(`allowed/corpus/a (b).md:2-2 ${"c".repeat(64)}`);
  });

  test("is Markdown that shows the answer and links to the evidence", async () => {
    const { code } = await desk.run(
      ...["batch", "export", "sheet", "--format", "markdown", "--output", "allowed/s.md"],
    );
    const text = await readFile(join(desk.workroot, "allowed/s.md"), "utf8");
    expect(code).toBe(0);
    expect(text).toContain(
      `> \\-2+3 "quoted",\\\n> \\<img src=x\\> !\\[i\\](\`http://evil/i.png\`)\\\n> \\# Title`,
    );
    expect(text).toContain(
      "[allowed/corpus/a (b).md, line 2](../allowed/corpus/a%20%28b%29.md#L2), sha256",
    );
  });
});

describe("a digest in Markdown", () => {
  test("says what its numbers stand for, and what it leaves out only once", async () => {
    const file = { path: "allowed/corpus/a.md", lineStart: 3, lineEnd: 4 };
    const jobs: FinishedJob[] = [
      {
        customId: "digest",
        input: { kind: "digest", level: "batch", title: "told" },
        answer:
          "- Two pumps run. [2]\n\nNot in this digest:\n- c.md: refused, FILE_EMPTY\nScope: x",
        output: { children: 2, succeeded: 1, levels: 0, failed: [{ path: "c.md" }] },
        citations: [
          { number: 2, path: "allowed/corpus/a_b/", jobId: "18577d81-b42a-422d-ac53-79a9212d4275" },
          { ...file, number: 3 },
          { ...file, number: 4, resolved: false },
          { ...file, number: null },
        ],
      },
    ];
    await insertFinishedBatch(desk.database, { name: "told", jobs });
    const { stdout } = await desk.run("batch", "export", "told", "--format", "markdown");
    expect(stdout.trimEnd().split("\n\n").at(-1)).toBe(
      [
        "- \\[2\\] allowed/corpus/a_b/, job 18577d81-b42a-422d-ac53-79a9212d4275",
        "- \\[3\\] [allowed/corpus/a.md, lines 3-4](allowed/corpus/a.md#L3-L4)",
        "- \\[4\\] `allowed/corpus/a.md`, which stands for nothing that was read",
      ].join("\n"),
    );
    expect(stdout.match(/c\.md/g)).toHaveLength(1);
  });
});

test("the example is accepted as it stands", async () => {
  const file = join(import.meta.dirname, "..", "..", "examples", "openai-batch.jsonl");
  const { code, stderr } = await desk.run("enqueue", file, "--batch-name", "example");
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("Queued 6 jobs") });
});
