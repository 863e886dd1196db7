// Memory and time of `nightdesk serve` for a file of 100 MB: sent, made a batch, and its results read. Needs TEST_DATABASE_URL and a
// build. Linux only.
// node --import ./bench/register.js bench/serve-memory.ts [lines, default 4000] [bytes a line, default 25000]
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { deskConfig, openDesk } from "../tests/producer/desk.ts";
import { startBin } from "../tests/support/run-bin.ts";

const [lines = 4_000, lineBytes = 25_000] = process.argv.slice(2).map(Number);
const desk = await openDesk();
const model = { provider: "openai-compatible", base_url: "http://127.0.0.1:9", name: "m" };
await desk.write("nightdesk.yaml", deskConfig(desk.databaseUrl, { model }));
const token = (await desk.run("tokens", "create", "bench", "--kind", "chat")).stdout.trim();
const server = startBin(["serve", "--port", "0"], { cwd: desk.workroot });

/** MiB that the server has now, or had at its highest since the last phase began. */
const memoryOf = (name: "VmRSS" | "VmHWM"): number =>
  Number(
    new RegExp(`${name}:\\s*(\\d+)`).exec(
      readFileSync(`/proc/${server.pid}/status`, "utf8"),
    )?.[1] ?? 0,
  ) / 1_024;

async function phase<T>(name: string, idle: number, run: () => Promise<T>): Promise<T> {
  // 5 sets the highest to what it holds now.
  writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
  const startedAt = performance.now();
  const value = await run();
  const seconds = (performance.now() - startedAt) / 1_000;
  const peak = memoryOf("VmHWM");
  console.log(
    `${name}: ${seconds.toFixed(1)} s, peak ${peak.toFixed(0)} MiB, ${(peak - idle).toFixed(0)} above idle`,
  );
  return value;
}

try {
  const [, url = ""] = await server.said(/For programs: (http:\S+\/v1)/);
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, ...(init.headers as object) };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    if (response.ok) return response;
    throw new Error(`${path} is ${response.status}: ${await response.text()}`);
  };
  // Whatever loads with the first requests is loaded.
  await send(ask, 10);
  await (await ask("/batches")).json();
  await sleep(2_000);
  const idle = memoryOf("VmRSS");
  console.log(`${lines} lines of ${lineBytes} bytes; idle ${idle.toFixed(0)} MiB`);
  const file = await phase("upload", idle, () => send(ask, lines));
  const body = { input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" };
  const batch = await phase("creation", idle, async () => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const made = (await (await ask("/batches", init)).json()) as {
      readonly id: string;
      readonly status: string;
      readonly nightdesk: { readonly batch_id: string };
    };
    if (made.status !== "in_progress") throw new Error(JSON.stringify(made));
    return made;
  });
  await answerAll(batch.nightdesk.batch_id);
  const bytes = await phase("result", idle, async () => {
    let read = 0;
    const { body: stream } = await ask(`/files/file-out-${batch.id.slice(6)}/content`);
    for await (const piece of (stream ?? []) as AsyncIterable<Uint8Array>) read += piece.length;
    return read;
  });
  console.log(`the result has ${(bytes / 1e6).toFixed(0)} MB`);
} finally {
  server.kill("SIGTERM");
  await server.ended;
  await desk.dispose();
}

/** Sends a file as clients do, chunked. @returns its id */
async function send(
  ask: (path: string, init: RequestInit) => Promise<Response>,
  count: number,
): Promise<string> {
  const boundary = "bench";
  const encoder = new TextEncoder();
  const head = (disposition: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === 0) {
        const purpose = `${head('name="purpose"')}batch\r\n`;
        controller.enqueue(
          encoder.encode(`${purpose}${head('name="file"; filename="bench.jsonl"')}`),
        );
      }
      if (sent < count) controller.enqueue(encoder.encode(lineOf(sent)));
      else {
        controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`));
        controller.close();
      }
      sent += 1;
    },
  });
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  return ((await (await ask("/files", init)).json()) as { readonly id: string }).id;
}

function lineOf(at: number): string {
  const content = `${at} ${"What does the contract say about notice? ".repeat(700)}`;
  const of = (text: string) =>
    `${JSON.stringify({
      custom_id: `line-${at}`,
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "m", messages: [{ role: "user", content: text }] },
    })}\n`;
  return of(content.slice(0, lineBytes - of("").length));
}

/** Ends each job with an answer as long as its line, as a worker would have written it. */
async function answerAll(batchId: string): Promise<void> {
  const { database } = desk;
  await database.query(
    `insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id, state, answer, run_ms, finished_at)
     select gen_random_uuid(), job_id, 1, gen_random_uuid(), 'succeeded', repeat('because ', ${Math.floor(lineBytes / 8)}), 1, now()
       from nightdesk_data.jobs where batch_id = $1`,
    [batchId],
  );
  await database.query(
    `update nightdesk_data.jobs j set state = 'succeeded', run_id = r.run_id, attempt = 1, started_at = now(), finished_at = now()
       from nightdesk_data.runs r where r.job_id = j.job_id`,
  );
  await database.query(
    "update nightdesk_data.batches set state = 'completed', finished_at = now() where batch_id = $1",
    [batchId],
  );
}
