import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { modelHostsOf } from "../../src/shared/config/hosts.ts";
import { sharedConfigOf } from "../../src/shared/config/config-fingerprint.ts";
import type { Config } from "../../src/shared/config/schema.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { removeWorker } from "../../src/shared/store/jobs/workers.ts";
import { selectSchedules, switchSchedule } from "../../src/shared/store/schedules/schedules.ts";
import { checkQueue } from "../../src/worker/doctor/check-installation.ts";
import { pacingSettingsOf } from "../../src/worker/hosts/pacing-settings.ts";
import { sharedConfigKeeper } from "../../src/worker/services/shared-config.ts";
import type { SharedConfigKeeper } from "../../src/worker/services/shared-config.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const NIGHT = "22:00-06:00 Europe/Berlin";
const EVENING = "18:00-22:00 Europe/Berlin";
const HOST = "http://127.0.0.1:11434";
const SCHEDULE = { name: "nightly", cron: "@daily", timezone: "UTC", command: ["index"] };

describe.each(databases)("the configuration that all workers share, on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    await db.query("delete from nightdesk_data.workers");
    await db.query("delete from nightdesk_data.applied_config");
    await db.query("delete from nightdesk_data.schedules");
    await db.query("delete from nightdesk_data.hosts");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  type Started = SharedConfigKeeper & {
    readonly workerId: string;
    readonly said: readonly Record<string, unknown>[];
  };

  /** A worker of this configuration that has started, as far as its configuration goes. */
  async function start(changes: Partial<Config>): Promise<Started> {
    const config = configOf(changes);
    const said: Record<string, unknown>[] = [];
    const worker = {
      workerId: randomUUID(),
      host: "here",
      pid: 1,
      version: "test",
      concurrency: 1,
      modelHosts: [],
      embedderHosts: [],
      documentsFrom: "files" as const,
      configFile: config.file,
      sharedConfig: sharedConfigOf(config, modelHostsOf(config)),
    };
    const logger = pino(
      {},
      {
        write: (line: string) => {
          said.push(JSON.parse(line) as Record<string, unknown>);
        },
      },
    );
    const clock = () => "database" as const;
    const pacing = pacingSettingsOf(config);
    const keeper = sharedConfigKeeper({ database: db, worker, config, pacing, clock, logger });
    await keeper.reconcile();
    return { ...keeper, workerId: worker.workerId, said };
  }
  const configOf = (changes: Partial<Config>): Config => {
    const { config } = topology.context;
    const model = { ...config.model, provider: "ollama" as const, base_url: HOST };
    return { ...config, model, ...changes };
  };
  const rows = async (sql: string) => (await db.query(sql)).rows as Record<string, unknown>[];
  const windows = async () =>
    (await rows("select windows from nightdesk_data.installation"))[0]?.["windows"];
  const age = (workerId: string) =>
    db.query(
      "update nightdesk_data.workers set heartbeat_at = now() - interval '16 s' where worker_id = $1",
      [workerId],
    );

  test("the windows of a second worker that differ wait until the first has stopped, and both say so", async () => {
    const first = await start({ windows: [NIGHT], file: "/first.yaml" });
    const second = await start({ windows: [EVENING], file: "/second.yaml" });
    expect(await windows()).toEqual([NIGHT]);
    expect([first.agrees("windows"), second.agrees("windows")]).toEqual([true, false]);
    await first.reconcile();
    const differs = (file: string) =>
      expect.objectContaining({ keys: ["windows"], config_file: file });
    expect(first.said).toContainEqual(differs("/second.yaml"));
    expect(second.said).toContainEqual(differs("/first.yaml"));
    await second.reconcile();
    expect(second.said.filter(({ level }) => level === 40)).toHaveLength(1);

    await removeWorker(db, first.workerId);
    await second.reconcile();
    expect(await windows()).toEqual([EVENING]);
    expect(second.agrees("windows")).toBe(true);
    expect(second.said.at(-1)).toMatchObject({
      key: "windows",
      msg: "this worker's configuration is in force now",
    });
  });

  test("a worker whose heart does not beat decides nothing, and neither does one of the same file change anything", async () => {
    const dead = await start({ windows: [NIGHT] });
    await age(dead.workerId);
    const living = await start({ windows: [EVENING] });
    expect(await windows()).toEqual([EVENING]);
    await dead.reconcile();
    expect(await windows()).toEqual([EVENING]);
    const same = await start({ windows: [EVENING] });
    expect(same.said).toEqual([]);
    expect(living.agrees("windows")).toBe(true);
  });

  test("schedules are those of the first worker's file, and what was switched by hand stays switched", async () => {
    const first = await start({ schedules: [SCHEDULE] });
    await switchSchedule(db, "nightly", "off");
    const second = await start({ schedules: [SCHEDULE] });
    const other = await start({ schedules: [] });
    const kept = [expect.objectContaining({ name: "nightly", enabled: false })];
    expect(await selectSchedules(db)).toEqual(kept);
    await removeWorker(db, first.workerId);
    await Promise.all([second.reconcile(), other.reconcile()]);
    expect(await selectSchedules(db)).toEqual(kept);
    await removeWorker(db, second.workerId);
    await other.reconcile();
    expect(await selectSchedules(db)).toEqual([]);
  });

  test("a host gets as many calls at once as the first worker of it says, and the shortest time to keep does not win", async () => {
    const { config } = topology.context;
    const withParallel = (parallel: number, keepDays: number): Partial<Config> => ({
      model: { ...config.model, provider: "ollama", base_url: HOST, parallel },
      runs: { ...config.runs, keep_days: keepDays },
    });
    await start(withParallel(4, 30));
    const second = await start(withParallel(9, 1));
    expect(await rows("select capacity from nightdesk_data.hosts")).toEqual([{ capacity: 4 }]);
    expect(second.agrees("runs.keep_days")).toBe(false);
  });

  test("doctor and the view name who differs in what, and a file that no worker has read yet", async () => {
    await start({ windows: [NIGHT], file: "/first.yaml" });
    await start({ windows: [NIGHT], budgets: { ...budgets(), calls: 7 }, file: "/second.yaml" });
    expect(
      await rows("select config_file, differs_in from nightdesk.workers order by started_at"),
    ).toEqual([
      { config_file: "/first.yaml", differs_in: [] },
      { config_file: "/second.yaml", differs_in: ["budgets"] },
    ]);
    const codes = async (changes: Partial<Config>) =>
      (await checkQueue({ ...topology.context, config: configOf(changes) }, db))
        .filter(({ code }) => code === "DOCTOR_WORKER_CONFIG_DIFFERS")
        .map(({ message }) => message);
    expect(await codes({ windows: [NIGHT] })).toEqual([
      "Workers differ: the worker 1 on here (/second.yaml) has other values of budgets than those in force, which are of the worker that has been there longest.",
    ]);
    await db.query("delete from nightdesk_data.workers where config_file = '/second.yaml'");
    expect(await codes({ windows: [NIGHT] })).toEqual([]);
    expect(await codes({ windows: [EVENING], file: "/changed.yaml" })).toEqual([
      "The workers go by other values of windows than /changed.yaml has.",
    ]);
  });
  const budgets = () => topology.context.config.budgets;
});
