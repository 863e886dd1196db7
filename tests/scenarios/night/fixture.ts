import type { Database } from "../../../src/shared/store/connection/database.ts";
import { createRunJob } from "../../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../../src/worker/start.ts";
import type { RunningWorker } from "../../../src/worker/start.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology, TopologyName } from "../../conformance/topologies.ts";
import type { Body, RequestRecord } from "../../doubles/http-double.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble } from "../../doubles/ollama-server.ts";
import { manualClock } from "../../doubles/ollama/manual-clock.ts";
import type { ManualClock } from "../../doubles/ollama/manual-clock.ts";
import { jsonLine, runBin } from "../../support/run-bin.ts";
import { createFakeTime } from "./fake-time.ts";
import type { FakeTime } from "./fake-time.ts";
import { createGate } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { createNightModel } from "./night-model.ts";
import type { NightModel } from "./night-model.ts";
import { startOnlooker } from "./onlooker.ts";
import type { Onlooker } from "./onlooker.ts";
import { patiently } from "./patience.ts";
import { wakeWorkers } from "./skip-ahead.ts";
import { startWorkerProcess } from "./worker-process.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Calls that the host serves at once. */
export const AT_ONCE = 4;
/** Jobs that a worker has in hand at once: two workers want more of the host than there is. */
export const IN_HAND = 3;

/** All that a scripted night is played with. */
export type Stage = {
  readonly topology: Topology;
  readonly db: Database;
  readonly host: OllamaDouble;
  readonly model: NightModel;
  readonly gate: Gate;
  readonly time: FakeTime;
  /** Pauses that workers make after a host was busy; only the script ends them. */
  readonly pauses: ManualClock;
  readonly onlooker: Onlooker;
  /** Moves the clock, and has the workers look at it. */
  setTime(time: Date): Promise<void>;
  /** Starts a worker in this process, by the script's clock. */
  startWorker(): Promise<void>;
  /** Starts a worker as a process of its own, which goes by the real time. */
  startWorkerProcess(): Promise<void>;
  killWorkerProcess(): Promise<void>;
  /** Jobs that it had in hand when it was killed. */
  readonly killed: readonly string[];
  /** Requests that the host had begun to answer when a worker was killed, and could not finish. */
  cutByKill(): readonly RequestRecord[];
  /** Runs a command as another process, which has to succeed. @returns its line of JSON */
  nightdesk(...words: readonly string[]): Promise<Record<string, unknown>>;
  end(): Promise<void>;
};

export async function setStage(name: TopologyName): Promise<Stage> {
  const gate = createGate();
  const time = createFakeTime();
  const pauses = manualClock();
  const requests: { find?: (body: Body) => RequestRecord | undefined } = {};
  const model = createNightModel(gate, (body) => requests.find?.(body));
  const host = await startOllamaDouble({ models: [model.model], numParallel: 2 * AT_ONCE });
  requests.find = (body) => host.requests.find((request) => request.body === body);
  const topology = await startTopology(name, {
    model: {
      provider: "ollama",
      name: model.model.name,
      base_url: host.url,
      num_ctx: 4_096,
      parallel: AT_ONCE,
      breaker_failures: 3,
    },
    // This model holds no schema. A host that says it does, and does not, is asked otherwise from then on.
    ask: { answer_form: "text" },
    windows: [time.window],
  });
  const db = await topology.connect();
  const onlooker = startOnlooker(db);
  const workers: RunningWorker[] = [];
  const children: WorkerProcess[] = [];
  const killed: string[] = [];
  const answeredAtKill: RequestRecord[] = [];
  return {
    topology,
    db,
    host,
    model,
    gate,
    time,
    pauses,
    onlooker,
    async setTime(to) {
      time.set(to);
      const looks = time.looks();
      // What the second of these looks found, it found after the time was set.
      await patiently("the workers have looked at the clock", async () => {
        await wakeWorkers(db);
        return time.looks() >= looks + 2 * workers.length;
      });
    },
    async startWorker() {
      const timing = {
        sleep: (ms: number, signal: AbortSignal) => pauses.sleep(ms, signal),
        random: () => 1,
      };
      const worker = await startWorker(
        topology.context,
        IN_HAND,
        (database) => createRunJob(topology.context, database, { ...timing, clock: time.now }),
        time.clock,
      );
      workers.push(worker);
    },
    async startWorkerProcess() {
      children.push(await startWorkerProcess(db, topology.workroot, IN_HAND));
    },
    async killWorkerProcess() {
      answeredAtKill.push(...host.chats().filter(({ state }) => state === "running"));
      for (const child of children.splice(0)) killed.push(...(await child.kill()));
    },
    killed,
    cutByKill: () => answeredAtKill.filter(({ state }) => state === "aborted"),
    async nightdesk(...words) {
      const ended = await runBin([...words, "--json"], { cwd: topology.workroot });
      if (ended.code !== 0) throw new Error(`nightdesk ${words.join(" ")}: ${ended.stderr}`);
      return jsonLine(ended);
    },
    async end() {
      gate.open();
      await Promise.all(children.map((child) => child.kill()));
      await Promise.all(workers.map((worker) => worker.stop(0)));
      await onlooker.stop();
      await db.end();
      await host.close();
      await topology.dispose();
    },
  };
}
