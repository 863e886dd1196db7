import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { toFile } from "openai";
import type OpenAI from "openai";
import { indexFolder } from "../../bench/index-folder.ts";
import { endWaitingJobs, expireBatches } from "../../src/shared/store/jobs/close-batches.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import { claimNext, EMPTY_RECORD, MADE_WITH } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { rowsOf } from "../producer/desk.ts";
import { failed } from "../producer/work-by-hand.ts";
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
  await door.write("corpus/letters/pay.md", "# Crew\n\nThe pay day of the Möwe is 5 March 2027.\n");
  await door.write("corpus/private/vault.md", "# Safe\n\nThe code of the vault is quokka.\n");
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

const settle = ({ runId }: { readonly runId: string }, settlement: Settlement) =>
  settleRun(door.database, { runId, runMs: 1, ...MADE_WITH }, settlement, EMPTY_RECORD);

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
    // Retention may take a batch once both of its files were read.
    const exported = () => rowsOf(door.database, "select exported_at from nightdesk_data.batches");
    expect(await exported()).toEqual([{ exported_at: null }]);
    const errors = await linesOf(ended.error_file_id);
    expect(await exported()).toEqual([{ exported_at: expect.any(Date) }]);
    expect(errors).toMatchObject([
      { custom_id: "vault", response: { body: { error: { code: "PATH_DENIED" } } } },
      { custom_id: "name", response: { body: { error: { code: "FILE_NOT_FOUND" } } } },
    ]);
    expect(JSON.stringify([...output, ...errors])).not.toContain("quokka");
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
    // They are other bytes once it has ended again.
    await door.database.query(
      "update nightdesk_data.runs set answer = answer || 'more' where state = 'succeeded'",
    );
    await door.database.query(
      "update nightdesk_data.batches set finished_at = finished_at + interval '1 second'",
    );
    const longer = await client.files.retrieve(ended.output_file_id ?? "");
    expect(longer.bytes).toBe(shown.bytes + output.length * "more".length);
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
    // It has no other file that somebody would have to read.
    expect(
      await rowsOf(
        door.database,
        "select exported_at from nightdesk_data.batches order by created_at desc limit 1",
      ),
    ).toEqual([{ exported_at: expect.any(Date) }]);
    const again = await door.ask(`/batches/${batch.id}/cancel`, client.apiKey, { method: "POST" });
    expect([again.status, again.headers.get("x-should-retry")]).toEqual([409, "false"]);
    expect(
      await rowsOf(
        door.database,
        "select actor from nightdesk.operator_actions where action = 'cancel'",
      ),
    ).toEqual([{ actor: "program letters" }]);
  });

  test("has no results while a job of it still runs that was cancelled", async () => {
    const batch = await queue(ask);
    const jobs = await rowsOf(
      door.database,
      "select job_id from nightdesk_data.jobs order by seq desc limit 1",
    );
    const job = await claimNext(door.database, String(jobs[0]?.["job_id"]));
    const closing = { status: "cancelling", cancelled_at: null, error_file_id: null };
    expect(await client.batches.cancel(batch.id)).toMatchObject(closing);
    const results = `/files/file-err-${batch.id.slice(6)}`;
    for (const path of [results, `${results}/content`])
      expect((await door.ask(path, client.apiKey)).status).toBe(404);
    await settle(job, {
      ...{ kind: "cancelled", code: "CANCELLED", message: "The batch was cancelled." },
    });
    const ended = await client.batches.retrieve(batch.id);
    expect(ended).toMatchObject({ status: "cancelled", cancelled_at: expect.any(Number) });
    expect(await linesOf(ended.error_file_id)).toHaveLength(1);
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
    const others = await door.ask("/batches", client.apiKey, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "k1" },
      body: body.replace("24h", "12h"),
    });
    expect(others.status).toBe(409);
    expect(await others.json()).toMatchObject({ error: { code: "idempotency_error" } });
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

  test("is told as a fault where the machinery failed, and not as an answer", async () => {
    const asking = complete("Who fails?");
    const failing = asking.catch((error: unknown) => error);
    const queued = () =>
      rowsOf(
        door.database,
        "select job_id from nightdesk_data.jobs where input->>'question' = 'Who fails?'",
      );
    await eventually("the question is queued", async () => (await queued()).length === 1);
    const job = await claimNext(door.database, String((await queued())[0]?.["job_id"]));
    await settle(job, failed);
    expect(await failing).toMatchObject({
      status: 503,
      code: "MODEL_NOT_FOUND",
      message: expect.stringContaining("No such model."),
    });
  });

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

test("a file is kept as long as its sender asks, and listed in either order", async () => {
  const send = async (settings = {}) =>
    client.files.create({
      file: await toFile(Buffer.from("{}"), "a"),
      purpose: "batch",
      ...settings,
    });
  const anchor = "created_at";
  const files = [
    await send({ expires_after: { anchor, seconds: 3_600 } }),
    await send({ expires_after: { anchor, seconds: 30 * 86_400 } }),
    await send(),
  ];
  expect(files.map((file) => (file.expires_at ?? 0) - file.created_at)).toEqual([
    ...[3_600, 30 * 86_400, 30 * 86_400],
  ]);
  for (const seconds of [3_599, 30 * 86_400 + 1])
    await expect(send({ expires_after: { anchor, seconds } })).rejects.toMatchObject({
      ...{ status: 400, param: "expires_after" },
    });
  const listed = async (order: "asc" | "desc") =>
    (await client.files.list({ order })).data.map(({ id }) => id);
  const oldest = await listed("asc");
  expect(oldest.slice(-3)).toEqual(files.map(({ id }) => id));
  expect(await listed("desc")).toEqual(oldest.toReversed());
  const rest = await client.files.list({ order: "asc", after: oldest.at(-2) ?? "" });
  expect(rest.data.map(({ id }) => id)).toEqual(oldest.slice(-1));
});

test("models of a token are its own alone, and questions only where it may ask", async () => {
  const words = ["--kind", "chat", "--model", "extractive"];
  const chats = door.client(await door.token("chats", ...words));
  expect((await chats.models.list()).data.map(({ id }) => id)).toEqual(["extractive"]);
});

test("models are those that lines may name", async () => {
  const models = await client.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(
    expect.arrayContaining(["nightdesk/ask", "extractive"]),
  );
});
