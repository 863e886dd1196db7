import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { selectAliveWorkers } from "../../src/shared/store/jobs/workers.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { rowsOf } from "../producer/desk.ts";
import { startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";

let host: Server;
let topology: Topology;
let database: Database;
const sockets = new Set<Socket>();
beforeAll(async () => {
  // A model host that takes a call and never answers: the job runs for as long as the test likes.
  host = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  host.listen(0, "127.0.0.1");
  await once(host, "listening");
  const { port } = host.address() as AddressInfo;
  const base_url = `http://127.0.0.1:${port}`;
  topology = await startTopology("embedded", {
    model: { provider: "ollama", name: "silent", base_url },
    log: { level: "info" },
  });
  database = await topology.connect();
});
afterAll(async () => {
  await database.end();
  await topology.dispose();
  for (const socket of sockets) socket.destroy();
  host.close();
});

afterEach(async () => {
  for (const pid of await pidsOf()) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  await database.query("delete from nightdesk_data.batches");
  await database.query("delete from nightdesk_data.workers");
});

const startAsking = (): Running =>
  startBin(["chat", "hello", "--wait"], { cwd: topology.workroot });

const pidsOf = async (): Promise<readonly number[]> =>
  (await selectAliveWorkers(database)).map(({ pid }) => pid);

/** The worker that the command started, once it runs a job. */
async function runningWorker(): Promise<number> {
  await eventually("a worker runs a job", async () => (await stateOfJob()) === "running");
  const [pid = 0] = await pidsOf();
  return pid;
}

async function stateOfJob(): Promise<unknown> {
  const [job] = await rowsOf(database, "select state from nightdesk_data.jobs");
  return job?.["state"];
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a worker that was killed is replaced at once by the command that waits", async () => {
  const asking = startAsking();
  const killed = await runningWorker();
  process.kill(killed, "SIGKILL");
  await eventually("another worker is there", async () => {
    // By its heartbeat the killed one goes on looking alive.
    await database.query(
      "update nightdesk_data.workers set heartbeat_at = clock_timestamp() where pid = $1",
      [killed],
    );
    return (await pidsOf()).some((pid) => pid !== killed && isRunning(pid));
  });
  asking.kill("SIGINT");
  await asking.ended;
});

test("Ctrl-C ends a command that waits, which says how to go on; its worker hands the job back", async () => {
  const asking = startAsking();
  const worker = await runningWorker();
  asking.kill("SIGINT");
  const { code, stdout, stderr } = await asking.ended;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).toMatch(
    /^Stopped waiting\. The work stays queued: nightdesk batch wait "chat [^"]+"\n$/,
  );
  await eventually("its worker has ended", async () => !isRunning(worker));
  expect(await stateOfJob()).toBe("queued");
});

test("SIGTERM ends it with 143", async () => {
  const asking = startAsking();
  await runningWorker();
  asking.kill("SIGTERM");
  expect((await asking.ended).code).toBe(143);
});

test("a terminal that hangs up takes the command along, and not the worker", async () => {
  const asking = startAsking();
  const worker = await runningWorker();
  asking.kill("SIGHUP");
  await asking.ended;
  expect(isRunning(worker)).toBe(true);
  // It leads a process group of its own, so that a terminal has nothing to send it.
  expect(isRunning(-worker)).toBe(true);
});
