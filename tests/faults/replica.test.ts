import { afterEach, describe, expect, test } from "@jest/globals";
import { jsonLine, runBin, startBin } from "../support/run-bin.ts";
import { createMigratedDatabase, queryServer } from "../support/templates.ts";
import { askJob, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import { findPostgres, makePostgres } from "./own-postgres.ts";

const place = topologies.includes("postgres") ? findPostgres() : undefined;

(place === undefined ? describe.skip : describe)("a replica in the place of its primary", () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  test("is told as one until it is promoted, then the worker that waits goes on", async () => {
    if (place === undefined) throw new Error("unreachable: skipped");
    const primary = await makePostgres(place);
    closers.push(() => primary.dispose());
    await primary.start();
    await createMigratedDatabase(primary.url, "night");
    const urlOf = (server: { readonly url: string }) =>
      Object.assign(new URL(server.url), { pathname: "/night" }).href;
    const topology = await startTopology("postgres", { database: { url: urlOf(primary) } });
    closers.push(() => topology.dispose());
    const db = await topology.connect();
    const { batchId, jobIds } = await openBatchOf(db, [
      askJob("a", { input: { kind: "summarize", path: "allowed/corpus/nothing.md" } }),
    ]);
    await db.end();
    const replica = await makePostgres(place, primary.url);
    closers.push(() => replica.dispose());
    await replica.start();
    await primary.kill();

    const env = { DATABASE_URL: urlOf(replica) };
    const worker = startBin(["worker"], { cwd: topology.workroot, env });
    closers.push(() => {
      worker.kill("SIGKILL");
      return worker.ended;
    });
    const doctor = async () =>
      jsonLine(await runBin(["doctor", "--no-ollama", "--json"], { cwd: topology.workroot, env }))[
        "checks"
      ] as readonly { readonly error_code: string; readonly message: string }[];
    const checks = await doctor();
    const codes = checks.map(({ error_code: code }) => code);
    expect(codes).toContain("DOCTOR_DATABASE_READ_ONLY");
    expect(codes).not.toContain("DOCTOR_NO_WORKER");
    expect(codes).not.toContain("DOCTOR_JOBS_STUCK");
    expect(JSON.stringify(checks)).toContain("The server is a replica that follows another one");

    const shown = await runBin(["batch", "show", batchId, "--json"], {
      cwd: topology.workroot,
      env,
    });
    expect(jsonLine(shown)["obstacles"]).toContainEqual(
      expect.objectContaining({ what: "database_read_only" }),
    );

    await queryServer(replica.url, "select pg_promote()");
    await eventually(
      "the job is worked",
      async () => {
        const shown = await runBin(
          ["sql", `select state from results where job_id = '${jobIds[0] ?? ""}'`, "--json"],
          { cwd: topology.workroot, env },
        );
        return shown.stdout.includes("refused");
      },
      30_000,
    );
    expect((await doctor()).map(({ error_code: code }) => code)).toContain("DOCTOR_WORKERS_OK");
  }, 90_000);
});
