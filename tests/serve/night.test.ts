import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { toFile } from "openai";
import type OpenAI from "openai";
import { indexFolder } from "../../bench/index-folder.ts";
import { endWaitingJobs, expireBatches } from "../../src/shared/store/jobs/close-batches.ts";
import { eventually } from "../conformance/signal.ts";
import { rowsOf } from "../producer/desk.ts";
import { runBin } from "../support/run-bin.ts";
import { jobLine, jsonl, openTestDoor } from "./open-door.ts";
import type { TestDoor } from "./open-door.ts";

const LONG_MS = 120_000;
let door: TestDoor;
let client: OpenAI;

beforeAll(async () => {
  door = await openTestDoor({
    model: { provider: "extractive", name: "extractive" },
    security: { allowed_roots: ["corpus"] },
    index: {
      sources: [
        { name: "letters", root: "corpus/letters" },
        { name: "private", root: "corpus/private" },
      ],
    },
  });
  for (const folder of ["letters", "private"])
    await mkdir(join(door.workroot, "corpus", folder), { recursive: true });
  await door.write("corpus/letters/pay.md", "# Crew\n\nThe pay day is 5 March 2027.\n");
  await door.write("corpus/private/vault.md", "# Safe\n\nThe code of the vault is 4711.\n");
  await indexFolder(door.database, door.workroot, false);
  client = door.client(await door.token("letters", "--source", "letters"));
}, LONG_MS);
afterAll(() => door.dispose());

const JOBS = "/v1/nightdesk/jobs" as "/v1/chat/completions";

async function queue(lines: readonly object[], settings = {}) {
  const file = await client.files.create({
    file: await toFile(Buffer.from(jsonl(lines)), "night ü.jsonl"),
    purpose: "batch",
  });
  return client.batches.create({
    input_file_id: file.id,
    endpoint: JOBS,
    completion_window: "24h",
    ...settings,
  });
}

const work = () => runBin(["worker", "--drain"], { cwd: door.workroot });

const linesOf = async (fileId: string | null | undefined) =>
  (await (await client.files.content(fileId ?? "")).text())
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test(
  "the official client runs a night: its answers come with their evidence, and what its token may not read stays unread",
  async () => {
    const batch = await queue(
      [
        jobLine("pay", { kind: "ask", question: "When is the pay day?" }),
        jobLine("sum", { kind: "summarize", path: "corpus/letters/pay.md" }),
        jobLine("vault", {
          kind: "ask",
          question: "Read corpus/private/vault.md: what is the code?",
        }),
        jobLine("name", { kind: "ask", question: "Read vault.md: what is the code of the vault?" }),
      ],
      { metadata: { of: "tonight" } },
    );
    expect(batch).toMatchObject({
      status: "in_progress",
      output_file_id: null,
      metadata: { of: "tonight" },
      request_counts: { total: 4, completed: 0, failed: 0 },
      nightdesk: { state: "queued" },
    });
    expect((await work()).code).toBe(0);
    const ended = await client.batches.retrieve(batch.id);
    expect(ended).toMatchObject({
      status: "completed",
      request_counts: { total: 4, completed: 2, failed: 2 },
    });
    const output = await linesOf(ended.output_file_id);
    expect(output).toMatchObject([
      {
        custom_id: "pay",
        response: {
          status_code: 200,
          body: {
            object: "chat.completion",
            choices: [{ message: { content: expect.stringContaining("5 March") } }],
            nightdesk: {
              run_id: expect.any(String),
              grade: expect.any(String),
              scope: expect.stringContaining("Scope: "),
              claims: [{ path: "corpus/letters/pay.md", line_start: 3 }],
              evidence: [
                { path: "corpus/letters/pay.md", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
              ],
            },
          },
        },
      },
      { custom_id: "sum" },
    ]);
    const errors = await linesOf(ended.error_file_id);
    expect(errors).toMatchObject([
      { custom_id: "vault", response: { body: { error: { code: "PATH_DENIED" } } } },
      { custom_id: "name", response: { body: { error: { code: "FILE_NOT_FOUND" } } } },
    ]);
    expect(JSON.stringify([...output, ...errors])).not.toContain("4711");
    // The extractive answers asked no model.
    expect(ended.usage).toMatchObject({ total_tokens: 0 });
    await door.database.query(
      "update nightdesk_data.runs set prompt_tokens = 30, completion_tokens = 4 where state = 'succeeded'",
    );
    expect((await client.batches.retrieve(ended.id)).usage).toMatchObject({
      input_tokens: 30 * output.length,
      output_tokens: 4 * output.length,
      total_tokens: 34 * output.length,
    });
    // The same bytes each time, as many as it says.
    const content = await (await client.files.content(ended.output_file_id ?? "")).text();
    expect(await (await client.files.content(ended.output_file_id ?? "")).text()).toBe(content);
    const shown = await client.files.retrieve(ended.output_file_id ?? "");
    expect(shown).toMatchObject({ purpose: "batch_output", bytes: Buffer.byteLength(content) });
    const audit = await rowsOf(
      door.database,
      "select action, batch from nightdesk.operator_actions where actor = 'program letters' order by action_id",
    );
    expect(audit).toMatchObject([
      { action: "send-file" },
      { action: "queue", batch: expect.stringContaining("night ü.jsonl") },
    ]);
  },
  LONG_MS,
);

describe("a batch", () => {
  const ask = [jobLine("a", { kind: "ask", question: "When is the pay day?" })];

  test("with bad lines fails with the number of each, and queues nothing", async () => {
    const before = await rowsOf(door.database, "select batch_id from nightdesk_data.batches");
    const batch = await queue([
      ...ask,
      jobLine("a", { kind: "ask", question: "Again?" }),
      jobLine("b", { kind: "index" }),
      jobLine("c", { kind: "ask", question: "?", options: { path_prefix: "corpus/private/" } }),
      jobLine("d", {
        kind: "ask",
        question: "?",
        options: { path_prefix: "corpus/letters/../private/" },
      }),
      jobLine("e", { kind: "investigate", task: "Look", preset: "readonly_safe" }),
      { ...jobLine("f", {}), url: "/v1/chat/completions" },
      jobLine("g", { kind: "ask", question: "?", options: { source: "private" } }),
      jobLine("h", { kind: "ask", question: "?", options: { follows: randomUUID() } }),
    ]);
    expect(batch).toMatchObject({ status: "failed", nightdesk: { batch_id: null } });
    expect(batch.errors?.data?.map(({ line, message }) => [line, message])).toEqual([
      [2, expect.stringContaining("that of line 1 already")],
      [3, expect.stringContaining("body.kind must be one of")],
      [4, expect.stringContaining("path_prefix must lie in corpus/letters/")],
      [5, expect.stringContaining("path_prefix must lie in corpus/letters/")],
      [6, expect.stringContaining("and not investigate")],
      [7, expect.stringContaining("the endpoint of the batch")],
      [8, expect.stringContaining("options.source must be one of letters")],
      [9, expect.stringContaining("options.follows")],
    ]);
    expect(await rowsOf(door.database, "select batch_id from nightdesk_data.batches")).toEqual(
      before,
    );
    expect(await client.batches.retrieve(batch.id)).toMatchObject({ status: "failed" });
  });

  test("is cancelled once, and its lines say so", async () => {
    const batch = await queue(ask);
    expect(await client.batches.cancel(batch.id)).toMatchObject({ status: "cancelled" });
    const ended = await client.batches.retrieve(batch.id);
    expect(await linesOf(ended.error_file_id)).toMatchObject([
      { custom_id: "a", response: null, error: { code: "batch_cancelled" } },
    ]);
    const again = await door.ask(`/batches/${batch.id}/cancel`, client.apiKey, { method: "POST" });
    expect([again.status, again.headers.get("x-should-retry")]).toEqual([409, "false"]);
  });

  test("expires with its completion_window, and one that is none is refused", async () => {
    const batch = await queue(ask, { completion_window: "1h" });
    expect((batch.expires_at ?? 0) - batch.created_at).toBeLessThanOrEqual(3_600);
    expect((batch.expires_at ?? 0) - batch.created_at).toBeGreaterThan(3_590);
    await door.database.query(
      "update nightdesk_data.batches set deadline_at = now() where state = 'open'",
    );
    for (const { batchId } of await expireBatches(door.database))
      await endWaitingJobs(door.database, batchId);
    expect(await client.batches.retrieve(batch.id)).toMatchObject({
      status: "expired",
      request_counts: { total: 1, completed: 0, failed: 1 },
    });
    await expect(queue(ask, { completion_window: "soon" })).rejects.toMatchObject({
      status: 400,
      param: "completion_window",
    });
  });

  test("is made once, however often a client sends the same request again", async () => {
    const file = await client.files.create({
      file: await toFile(Buffer.from(jsonl(ask)), "a.jsonl"),
      purpose: "batch",
    });
    const body = JSON.stringify({
      input_file_id: file.id,
      endpoint: JOBS,
      completion_window: "24h",
    });
    const post = async (headers: Record<string, string>) => {
      const init = {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      };
      return (await (await door.ask("/batches", client.apiKey, init)).json()) as { id: string };
    };
    const first = await post({ "x-stainless-retry-count": "0" });
    expect(await post({ "x-stainless-retry-count": "1" })).toMatchObject({ id: first.id });
    const keyed = await post({ "idempotency-key": "k1" });
    expect(keyed.id).not.toBe(first.id);
    expect(await post({ "idempotency-key": "k1" })).toMatchObject({ id: keyed.id });
    const both = await Promise.all([1, 2, 3].map(() => post({ "idempotency-key": "k2" })));
    expect(new Set(both.map(({ id }) => id)).size).toBe(1);
  });

  test("is listed page by page, newest first", async () => {
    const all: string[] = [];
    for await (const batch of client.batches.list({ limit: 2 })) all.push(batch.id);
    expect(all.length).toBeGreaterThan(4);
    expect(new Set(all).size).toBe(all.length);
  });

  test("of a token that is revoked is cancelled", async () => {
    const other = await door.token("brief", "--source", "letters");
    const theirs = door.client(other);
    const file = await theirs.files.create({
      file: await toFile(Buffer.from(jsonl(ask)), "a.jsonl"),
      purpose: "batch",
    });
    const { id } = await theirs.batches.create({
      input_file_id: file.id,
      endpoint: JOBS,
      completion_window: "24h",
    });
    const revoked = await door.run("tokens", "revoke", "brief", "--json");
    expect(JSON.parse(revoked.stdout)).toMatchObject({ cancelled: 1 });
    await expect(theirs.batches.retrieve(id)).rejects.toMatchObject({ status: 401 });
    const left = await rowsOf(
      door.database,
      `select b.state from nightdesk_data.batches b join nightdesk_data.program_batches p using (batch_id)
         join nightdesk_data.tokens t using (token_id) where t.name = 'brief'`,
    );
    expect(left).toEqual([{ state: "cancelled" }]);
  });
});

describe("a question that somebody waits for", () => {
  const messages = [
    { role: "system", content: "Answer in verse." },
    { role: "user", content: "When is the pay day?" },
  ] as const;
  const complete = (question: string) =>
    client.chat.completions.create({
      model: "nightdesk/ask",
      messages: [{ role: "user", content: question }],
    });

  test(
    "is answered with its evidence, or by the words of a refusal; as events the answer is one of them",
    async () => {
      const answering = Promise.all([
        client.chat.completions.create({
          model: "nightdesk/ask",
          messages: [...messages],
          temperature: 1,
        }),
        complete("Read corpus/private/vault.md: what is the code?"),
        client.chat.completions.create({
          model: "nightdesk/ask",
          messages: [...messages],
          stream: true,
        }),
      ]);
      await eventually("three questions are queued", async () => {
        const queued = await rowsOf(
          door.database,
          "select from nightdesk_data.jobs where custom_id = 'ask' and state = 'queued'",
        );
        return queued.length === 3;
      });
      const worked = work();
      const [answer, refusal, stream] = await answering;
      expect(answer).toMatchObject({
        model: "nightdesk/ask",
        choices: [{ message: { content: expect.stringContaining("5 March") } }],
        nightdesk: {
          state: "succeeded",
          ignored: ["system", "temperature"],
          evidence: [{ path: "corpus/letters/pay.md" }],
        },
      });
      expect(refusal).toMatchObject({
        choices: [{ message: { content: expect.stringContaining("lies outside") } }],
        nightdesk: { state: "refused", error_code: "PATH_DENIED" },
      });
      const deltas: string[] = [];
      for await (const chunk of stream) deltas.push(chunk.choices[0]?.delta.content ?? "");
      expect(deltas).toEqual([answer.choices[0]?.message.content, ""]);
      expect((await worked).code).toBe(0);
    },
    LONG_MS,
  );

  test("is cancelled when its client goes away", async () => {
    const gone = new AbortController();
    const asking = client.chat.completions.create(
      { model: "nightdesk/ask", messages: [{ role: "user", content: "Who goes away?" }] },
      { signal: gone.signal },
    );
    const states = () =>
      rowsOf(
        door.database,
        "select state from nightdesk_data.jobs where input->>'question' = 'Who goes away?'",
      );
    await eventually("the question is queued", async () => (await states()).length === 1);
    gone.abort();
    await expect(asking).rejects.toThrow("aborted");
    await eventually("it is cancelled", async () => (await states())[0]?.["state"] === "cancelled");
  });

  test.each([
    [{ model: "gpt-5", messages: [{ role: "user", content: "?" }] }, 400, "model"],
    [{ model: "nightdesk/ask", messages: [] }, 400, "messages"],
    [{ model: "nightdesk/ask", messages: [{ role: "assistant", content: "?" }] }, 400, "messages"],
    [{ model: "nightdesk/ask", messages: [{ role: "user", content: " " }] }, 400, "messages"],
  ])("is not taken as %j", async (body, status, param) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await door.ask("/chat/completions", client.apiKey, init);
    expect([response.status, await response.json()]).toMatchObject([status, { error: { param } }]);
  });
});

test("models are those that lines may name", async () => {
  const models = await client.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(
    expect.arrayContaining(["nightdesk/ask", "extractive"]),
  );
});
