import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import { createLogger } from "../../../src/shared/logger.ts";
import { DATABASE_METRICS, databaseGauges } from "../../../src/shared/metrics/database-metrics.ts";
import { boundedLabel, openMetrics, OWN_METRICS } from "../../../src/shared/metrics/metrics.ts";
import { startMetrics } from "../../../src/shared/metrics/process-metrics.ts";
import { serveMetrics } from "../../../src/shared/metrics/serve-metrics.ts";
import type { MetricsServer } from "../../../src/shared/metrics/serve-metrics.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { selectDatabaseGauges } from "../../../src/shared/views/database-gauges.ts";
import { NOT_VERIFIED } from "../../../src/shared/job/verification.ts";
import type { CheckRecord, AuditRecord } from "../../../src/shared/job/verification.ts";
import { API_METRICS } from "../../../src/serve/count-requests.ts";
import { RUN_METRICS, runMetrics } from "../../../src/worker/services/run-metrics.ts";
import { BACKUP_METRICS, MACHINE_METRICS } from "../../../src/worker/services/worker-metrics.ts";
import { openDesk } from "../../producer/desk.ts";
import type { Desk } from "../../producer/desk.ts";
import { findFreePort } from "../../services/free-port.js";

const root = join(import.meta.dirname, "..", "..", "..");
const ALL = {
  ...DATABASE_METRICS,
  ...RUN_METRICS,
  ...MACHINE_METRICS,
  ...API_METRICS,
  ...BACKUP_METRICS,
  ...OWN_METRICS,
};

describe("the metrics of a process", () => {
  test("have a help and a type, and leave out a group that can't be read, which they count", async () => {
    const metrics = openMetrics(RUN_METRICS);
    const definitions = { g: { kind: "gauge", help: "G.", labels: [] } } as const;
    metrics.addGauges({ name: "good", definitions, read: async () => [{ name: "g", value: 3 }] });
    const broken = { b: { kind: "gauge", help: "B.", labels: [] } } as const;
    metrics.addGauges({
      name: "broken",
      definitions: broken,
      read: () => Promise.reject(new Error("away")),
    });
    const text = await metrics.text();
    expect(text).toMatch(/^# HELP g G\.\n# TYPE g gauge\ng 3$/m);
    expect(text).not.toMatch(/^b\b/m);
    expect(text).toContain('nightdesk_metrics_unreadable_total{group="broken"} 1');
    expect(text).toContain("nodejs_eventloop_lag_seconds");
  });

  test("have labels of a bounded number of values", () => {
    const label = boundedLabel(2);
    expect(["a", "b", "c", "a"].map(label)).toEqual(["a", "b", "other", "a"]);
  });

  test("count what runs come to", async () => {
    const metrics = openMetrics(RUN_METRICS);
    const trace = startTrace();
    await trace.step("classify", () => undefined);
    await trace.step("look_around", () => undefined);
    trace.detail("look_around", { hints: { same_query: 2, notes: 1 } });
    const check = { expects: "yes" } as CheckRecord;
    const score = (points: number | null) => ({ score: points }) as AuditRecord;
    trace.verification({
      ...NOT_VERIFIED,
      state: "passed",
      checks: [
        { ...check, state: "yes" },
        { ...check, state: "no" },
        { ...check, state: "unknown" },
        { ...check, state: "open" },
      ],
      audits: [score(3), score(1), score(null)],
    });
    const job = { input: { kind: "ask" } } as Parameters<
      ReturnType<typeof runMetrics>["ended"]
    >[0]["job"];
    const settlement = { kind: "refused", code: "FILE_NOT_FOUND", message: "?" } as const;
    const run = { job, runMs: 1_200, settlement, record: trace.record() };
    const counted = runMetrics(metrics);
    counted.ended(run, "settled");
    counted.ended(run, "lost");
    const text = await metrics.text();
    expect(text).toContain(
      'nightdesk_runs_total{kind="ask",outcome="refused",code="FILE_NOT_FOUND",grade="none"} 1',
    );
    expect(text).toContain('nightdesk_runs_lost_total{kind="ask"} 1');
    expect(text).toContain('nightdesk_step_seconds_count{step="classify"} 1');
    expect(text).toContain('nightdesk_run_seconds_sum{kind="ask"} 1.2');
    for (const verdict of ["confirmed", "contradicted", "unknown", "open"])
      expect(text).toContain(`nightdesk_checks_total{verdict="${verdict}"} 1`);
    expect(text).toContain('nightdesk_policy_hints_total{rule="same_query"} 2');
    expect(text).toContain('nightdesk_policy_hints_total{rule="notes"} 1');
    expect(text).toContain('nightdesk_audit_points_bucket{le="1"} 1');
    expect(text).toContain('nightdesk_audit_points_bucket{le="3"} 2');
    expect(text).toContain("nightdesk_audit_points_count 2");
  });
});

describe("the gauges of the desk", () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.dispose());

  test("come from one statement that is asked once for all who look within five seconds", async () => {
    let asked = 0;
    let now = 0;
    const group = databaseGauges(
      () => {
        asked += 1;
        return selectDatabaseGauges(desk.database);
      },
      () => now,
    );
    const [samples] = await Promise.all([group.read(), group.read()]);
    expect(asked).toBe(1);
    now = 6_000;
    await group.read();
    expect(asked).toBe(2);
    expect(samples.filter(({ name }) => !(name in DATABASE_METRICS))).toEqual([]);
    expect(samples).toContainEqual({
      name: "nightdesk_batches_held",
      labels: { reason: "window" },
      value: 0,
    });
  });

  test("tell what share of each limit is used, whatever the number of batches", async () => {
    const { database } = desk;
    expect((await selectDatabaseGauges(database)).budgets).toEqual([
      { scope: "batch", tokens: null, calls: null, seconds: null, money: null },
      { scope: "night", tokens: null, calls: null, seconds: null, money: null },
    ]);
    await database.query(
      `with made as (insert into nightdesk_data.batches (name, state) values ('a', 'open'), ('b', 'open') returning batch_id, name)
       insert into nightdesk_data.batch_budgets (batch_id, money_limit, money_used, calls_limit, calls_used)
       select batch_id, 4, case name when 'a' then 1 else 3 end, case name when 'a' then 10 end, 10 from made`,
    );
    await database.query(
      `insert into nightdesk_data.nights (night, ends_at, money_limit, money_used)
       values (current_date - 1, clock_timestamp() - interval '1 h', 5, 5), (current_date, clock_timestamp() + interval '9 h', 5, 1.25)`,
    );
    const samples = await databaseGauges(() => selectDatabaseGauges(database)).read();
    const money = samples.filter(({ name }) => /_(night_money|budget_used_ratio)$/.test(name));
    expect(
      money.map(({ name, labels = {}, value }) => [name, Object.values(labels), value]),
    ).toEqual([
      ["nightdesk_night_money", [], 1.25],
      ["nightdesk_budget_used_ratio", ["batch", "calls"], 1],
      ["nightdesk_budget_used_ratio", ["batch", "money"], 0.75],
      ["nightdesk_budget_used_ratio", ["night", "money"], 0.25],
    ]);
  });
});

type Reply = { readonly status: number; readonly text: string };

const ask = (address: string, path: string, options: object = {}): Promise<Reply> =>
  new Promise((resolve, reject) => {
    request(`http://${address}${path}`, options, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
    })
      .on("error", reject)
      .end();
  });

describe("the metrics of a process on a database", () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.dispose());

  test("say within their time that a database does not answer", async () => {
    const listen = `127.0.0.1:${await findFreePort()}`;
    const config = await loadConfig({ flags: {}, env: {}, cwd: desk.workroot, packageRoot: root });
    const served = await startMetrics(
      { config: { ...config, metrics: { listen } }, logger: createLogger("silent", "json") },
      desk.database,
      { definitions: {} },
    );
    expect((await ask(listen, "/readyz")).status).toBe(200);
    // All connections of the process are busy, longer than anybody wants to wait.
    const busy = Array.from({ length: 4 }, () => desk.database.query("select pg_sleep(6)"));
    const startedAt = performance.now();
    expect((await ask(listen, "/readyz")).status).toBe(503);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await Promise.all([served?.stop(), ...busy]);
  });
});

describe("the pages of metrics", () => {
  let isReady = true;
  const servers: MetricsServer[] = [];
  const serve = async (port: number): Promise<string> => {
    const served = { metrics: openMetrics(RUN_METRICS), isReady: async () => isReady };
    const server = await serveMetrics({ host: "127.0.0.1", port }, served);
    servers.push(server);
    return server.address;
  };
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  test("are told to GET by the address alone", async () => {
    const address = await serve(0);
    expect(await ask(address, "/healthz")).toEqual({ status: 200, text: "ok\n" });
    expect((await ask(address, "/metrics")).text).toContain("# TYPE nightdesk_runs_total counter");
    expect((await ask(address, "/metrics", { method: "POST" })).status).toBe(405);
    expect((await ask(address, "/else")).status).toBe(404);
    for (const host of ["evil.example", "127.0.0.1:1", "127.0.0.1.evil.example"])
      expect((await ask(address, "/metrics", { headers: { host } })).status).toBe(421);
  });

  test("say whether the database answers", async () => {
    const address = await serve(0);
    expect((await ask(address, "/readyz")).status).toBe(200);
    isReady = false;
    expect((await ask(address, "/readyz")).status).toBe(503);
  });

  test("of two workers of a machine have ports of their own", async () => {
    const first = await serve(0);
    const second = await serve(Number(first.split(":")[1]));
    expect(second).not.toBe(first);
    expect((await ask(second, "/healthz")).status).toBe(200);
  });
});

const NAME = /\bnightdesk_[a-z_]+/g;
const definitionOf = (name: string) =>
  Object.entries(ALL).find(([known]) => known === name.replace(/_(bucket|sum|count)$/, ""))?.[1];

/** The expressions of each panel and of each rule, with what it is called. */
function expressionsOf(file: string): readonly (readonly [string, string])[] {
  const text = readFileSync(join(root, file), "utf8");
  if (file.endsWith(".json")) {
    const { panels } = JSON.parse(text) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    return panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => [title, expr] as const),
    );
  }
  const { groups } = parse(text) as { groups: { rules: { alert: string; expr: string }[] }[] };
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const));
}

test.each(["examples/nightdesk-dashboard.json", "examples/nightdesk-alerts.yaml"])(
  "%s asks by labels that the metrics have",
  (file) => {
    const unknown = expressionsOf(file).flatMap(([title, expr]) => {
      const definitions = (expr.match(NAME) ?? []).map(definitionOf);
      const has = new Set(["le", ...definitions.flatMap((each) => each?.labels ?? [])]);
      const asked = [
        ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = ""]) => names.split(/,\s*/)),
        ...[...expr.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"/g)].map(([, name = ""]) => name),
      ];
      return asked.filter((name) => !has.has(name)).map((name) => `${title}: ${name}`);
    });
    expect(unknown).toEqual([]);
  },
);

test.each([
  "examples/nightdesk-dashboard.json",
  "examples/nightdesk-alerts.yaml",
  "docs/metrics.md",
])("%s names only metrics that there are", (file) => {
  const text = readFileSync(join(root, file), "utf8");
  const named = [...new Set(text.match(NAME))].map((name) =>
    name.replace(/_(bucket|sum|count)$/, ""),
  );
  expect(named.filter((name) => !Object.hasOwn(ALL, name))).toEqual([]);
  if (file.endsWith(".md") || file.endsWith(".json"))
    expect(Object.keys(ALL).filter((name) => !named.includes(name))).toEqual([]);
});
