// What pages of a batch of 100,000 results cost: time of the dashboard and of the database's server for each page and filter,
// what the page weighs, the first paint in a headless Chromium, and what 200 streams of events cost. The rows are made by the database, half of them questions.
// node --import ./bench/register.js bench/dashboard.ts [results, default 100000] [--keep]
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import type { Queryable } from "../src/shared/store/connection/database.ts";
import { createFreshDatabase } from "./fresh-database.ts";
import type { FreshDatabase } from "./fresh-database.ts";
import { measure } from "./process-usage.ts";
import type { Role } from "./process-usage.ts";

const ROOT = resolve(import.meta.dirname, "..");
const CHROMIUM = "/usr/bin/chromium";
const TIMES = 9;
const STREAMS = 200;
const STREAMED_MS = 20_000;

const ONE_EVENT = `with told as (
  insert into nightdesk_data.run_events (run_id, ordinal, step, duration_ms)
  select run_id, $1::int, 'settle', 1 from nightdesk_data.runs limit 1)
select pg_notify('nightdesk_events', '')`;

const args = process.argv.slice(2);
const results = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 100_000);

const ANSWER =
  "The harbour office keeps a list of all berths, with their depth at low water and the owner of each boat; whoever leaves for " +
  "longer than a week signs out at the office, and the warden looks at the lines each evening [1].";

const FIRST_PAINT = `new Promise((done) => {
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") done(startTime);
  }).observe({ type: "paint", buffered: true });
})`;

const fresh = await createFreshDatabase();
const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
let dashboard: ChildProcess | undefined;
try {
  console.log(`${results.toLocaleString("en-US")} results, load ${loadavg()[0]?.toFixed(1)}`);
  const batch = await insertResults(fresh.db, results);
  const started = await startDashboard(fresh, workroot);
  dashboard = started.process;
  for (const [name, query] of PAGES())
    await printPage(name, new URL(`batches/${batch}${query}`, started.url));
  await printPaint(new URL(`batches/${batch}`, started.url));
  await printStreams(started);
} finally {
  dashboard?.kill("SIGTERM");
  if (dashboard !== undefined) await once(dashboard, "close");
  rmSync(workroot, { recursive: true, force: true });
  if (args.includes("--keep")) console.log(`kept: ${fresh.url}`);
  else await fresh.drop();
}

function PAGES(): readonly (readonly [string, string])[] {
  const deep = Math.floor(results * 0.9);
  return [
    ["first page", ""],
    ["page at nine tenths", `?after=${deep}`],
    ["state refused (2 %)", "?state=refused"],
    ["state failed (none)", "?state=failed"],
    ["grade supported (most)", "?grade=supported"],
    ["grade unsupported (3)", "?grade=unsupported"],
    ["grade verified (none)", "?grade=verified"],
    ["code FILE_EMPTY (1 %)", "?code=FILE_EMPTY"],
    ["kind extract (a quarter)", "?kind=extract"],
    ["kind digest (one, the last)", "?kind=digest"],
    ["folder of all", "?folder=corpus"],
    ["folder of 100", "?folder=corpus/part-7"],
    ["text in all", "?text=harbour"],
    ["text in 100", "?text=lot%207%20of"],
    ["text in one, the last", `?text=item-${results}`],
    ["text in none", "?text=nowhere"],
    ["text of other letters, in none", "?text=%C3%9Cberfahrt"],
    ["text in none, grade unconfirmed", "?text=nowhere&grade=unconfirmed"],
    ["fields, as queued", "/fields"],
    ["fields, sorted by a number", "/fields?sort=/total"],
    [
      "fields, sorted by a text, last page",
      `/fields?sort=/vendor/name&dir=desc&from=${Math.max(0, Math.floor(results / 4) - 50)}`,
    ],
  ];
}

/** A batch that has ended: questions, summaries and extractions, some of which were refused. @returns its id */
async function insertResults(db: Queryable, count: number): Promise<string> {
  const { rows } = await db.query(
    `insert into nightdesk_data.batches (name, state, created_at, finished_at)
     values ('many', 'completed', now() - interval '8 hours', now()) returning batch_id`,
  );
  const [{ batch_id: batch }] = rows as [{ batch_id: string }];
  await db.query(
    `with made as materialized (
       select n, gen_random_uuid() as job_id, gen_random_uuid() as run_id, n % 50 = 0 as is_refused,
              case when n = $2 then 'digest' when n % 4 = 0 then 'extract' when n % 4 = 2 then 'summarize' else 'ask' end as kind,
              now() - interval '8 hours' + n * interval '200 ms' as at
         from generate_series(1, $2::int) n),
     runs as (
       insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id, state, answer, scope, summary, error_code, error_message,
              model_second, prompt_tokens, completion_tokens, model_ms, run_ms, started_at, finished_at, grade)
       select run_id, job_id, 1, gen_random_uuid(), case when is_refused then 'refused' else 'succeeded' end,
              case when not is_refused then $3 || ' Berth ' || n || ', lot ' || n % 1000 || ' of the quay. ' || md5(n::text) || ' ' || $3 end,
              case when not is_refused then 'Scope: 6 passages from 3 files, snapshot=' || repeat(md5(n::text), 2) end,
              case when kind = 'extract' and not is_refused
                   then jsonb_build_object('total', (n * 7919) % 100000 / 100.0, 'due', '2026-03-31',
                                           'vendor', jsonb_build_object('name', 'Chandlery ' || md5(n::text))) end,
              case when is_refused then case when n % 100 = 0 then 'FILE_EMPTY' else 'FILE_NOT_FOUND' end end,
              case when is_refused then 'The file can''t be read.' end,
              'small:1b', 900, 120, 150, 180, at, at + interval '180 ms',
              case when is_refused then null when n % 33333 = 1 then 'unsupported' when n % 10 = 3 then 'unconfirmed' else 'supported' end
         from made)
     insert into nightdesk_data.jobs (job_id, batch_id, custom_id, kind, input, input_sha256, state, run_id, attempt, error_code,
            error_message, created_at, started_at, finished_at)
     select job_id, $1, 'item-' || n, kind,
            case when kind = 'ask' then jsonb_build_object('question', 'What do the papers of part ' || n % 1000 || ' say of berth ' || n || '?')
                 else jsonb_build_object('path', 'corpus/part-' || n % 1000 || '/berth-' || n || '.md') end,
            repeat(md5(n::text), 2), case when is_refused then 'refused' else 'succeeded' end, run_id, 1,
            case when is_refused then case when n % 100 = 0 then 'FILE_EMPTY' else 'FILE_NOT_FOUND' end end,
            case when is_refused then 'The file can''t be read.' end,
            at, at, at + interval '180 ms'
       from made order by n`,
    [batch, count, ANSWER],
  );
  await db.query("vacuum analyze");
  return batch;
}

async function startDashboard(
  { url }: FreshDatabase,
  folder: string,
): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const config = join(folder, "nightdesk.yaml");
  writeFileSync(
    config,
    `extends: ${JSON.stringify(join(ROOT, "configs", "default.yaml"))}\nworkroot: .\ndashboard: { zone: UTC }\nlog: { level: warn }\n`,
  );
  const child = spawn(
    process.execPath,
    [
      ...[
        "--import",
        join(ROOT, "bench", "register.js"),
        join(ROOT, "src", "main.ts"),
        "dashboard",
      ],
      ...["--port", "0", "--config", config],
    ],
    {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: url },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let said = "";
  for await (const piece of child.stderr as AsyncIterable<Buffer>) {
    said += piece.toString();
    const [, address] = /Dashboard: (\S+)/.exec(said) ?? [];
    if (address === undefined) continue;
    child.stderr.resume();
    return { url: address, process: child };
  }
  throw new Error(`the dashboard did not start: ${said}`);
}

type Fetched = { readonly bytes: number; readonly sent: number };

/** Of a filter without an index that stopped before the end. */
async function lookedAt(url: URL): Promise<string> {
  const text = await (await fetch(url, { headers: { accept: "text/html" } })).text();
  const [, jobs] = /([\d,]+) jobs were looked at/.exec(text) ?? [];
  return jobs === undefined ? "" : `, ${jobs} looked at`;
}

/** What a browser is sent, as it lies on the wire. */
function fetchPage(url: URL, encoding: "gzip" | "identity"): Promise<number> {
  return new Promise((done, fail) => {
    get(url, { headers: { accept: "text/html", "accept-encoding": encoding } }, (response) => {
      let bytes = 0;
      response.on("data", (piece: Buffer) => (bytes += piece.length));
      response.on("end", () => {
        if (response.statusCode === 200) done(bytes);
        else fail(new Error(`${url.href} answers ${response.statusCode}`));
      });
    }).on("error", fail);
  });
}

async function printPage(name: string, url: URL): Promise<void> {
  const weight: Fetched = {
    bytes: await fetchPage(url, "identity"),
    sent: await fetchPage(url, "gzip"),
  };
  const walls: number[] = [];
  const { usage } = await measure([workroot, fresh.mark], async () => {
    for (let time = 0; time < TIMES; time += 1) {
      const startedAt = performance.now();
      await fetchPage(url, "gzip");
      walls.push(performance.now() - startedAt);
    }
  });
  const cpuOf = (role: Role): string => ((usage.get(role)?.cpuMs ?? 0) / TIMES).toFixed(0);
  walls.sort((one, other) => one - other);
  const at = (share: number): string => (walls[Math.floor((TIMES - 1) * share)] ?? 0).toFixed(0);
  console.log(
    `${name.padEnd(38)} median ${at(0.5).padStart(5)} ms, least ${at(0).padStart(5)}, most ${at(1).padStart(5)}; ` +
      `processor: database ${cpuOf("server")}, dashboard ${cpuOf("command")} ms; ${(weight.bytes / 1024).toFixed(0)} kB, sent ${(weight.sent / 1024).toFixed(1)}${await lookedAt(url)}`,
  );
}

async function printPaint(url: URL): Promise<void> {
  if (!existsSync(CHROMIUM)) {
    console.log(`first paint: not measured, ${CHROMIUM} is not there`);
    return;
  }
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  try {
    for (const how of ["first visit", "assets in the cache"]) {
      const paints: number[] = [];
      const kept = await browser.newContext();
      for (let time = 0; time < TIMES; time += 1) {
        const context = how === "first visit" ? await browser.newContext() : kept;
        const page = await context.newPage();
        await page.goto(url.href);
        paints.push(await page.evaluate<number>(FIRST_PAINT));
        await page.close();
      }
      paints.sort((one, other) => one - other);
      console.log(
        `first contentful paint, ${how}: median ${(paints[Math.floor(TIMES / 2)] ?? 0).toFixed(0)} ms, least ${(paints[0] ?? 0).toFixed(0)}`,
      );
    }
  } finally {
    await browser.close();
  }
}

/** Streams that nobody tells anything, and then one event every half a second, which each of them is told. */
async function printStreams({
  url,
  process: { pid },
}: Awaited<ReturnType<typeof startDashboard>>): Promise<void> {
  const before = residentMiB(pid);
  let told = 0;
  const open = await Promise.all(
    Array.from({ length: STREAMS }, () =>
      openStream(new URL("events", url), (events) => (told += events)),
    ),
  );
  const idle = await measure([workroot, fresh.mark], () => sleep(STREAMED_MS));
  const held = residentMiB(pid) - before;
  const ofIdle = told;
  let made = 0;
  const busy = await measure([workroot, fresh.mark], async () => {
    for (; made < STREAMED_MS / 500; made += 1) {
      await fresh.db.query(ONE_EVENT, [made]);
      await sleep(500);
    }
    await sleep(2_000);
  });
  for (const stream of open) stream.destroy();
  const ofRole = ({ usage }: typeof idle): string =>
    `dashboard ${usage.get("command")?.cpuMs ?? 0} ms, database ${usage.get("server")?.cpuMs ?? 0} ms`;
  console.log(
    `${STREAMS} streams: ${held.toFixed(1)} MiB more resident; ${STREAMED_MS / 1_000} s idle: processor ${ofRole(idle)}, ${ofIdle} events; ` +
      `${made} events: processor ${ofRole(busy)}, ${told - ofIdle} told of ${made * STREAMS}`,
  );
}

function openStream(url: URL, onEvents: (events: number) => void): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    get(url, { headers: { accept: "text/event-stream" } }, (response) => {
      response.on("data", (piece: Buffer) => {
        onEvents(piece.toString().match(/^event: step$/gm)?.length ?? 0);
      });
      done(response);
    }).on("error", fail);
  });
}

function residentMiB(pid: number | undefined): number {
  const [, kB = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kB) / 1_024;
}
