import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { eventually } from "../conformance/signal.ts";
import { openDesk, rowsOf } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";
import { makeToken } from "../shared/store/programs/make-token.ts";
import { findFreePort } from "../services/free-port.js";
import { runBin, startBin } from "../support/run-bin.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

test("starts as a process of its own, says where, and ends at a signal", async () => {
  const metrics = `127.0.0.1:${await findFreePort()}`;
  const config = { extends: "./nightdesk.yaml", metrics: { listen: metrics } };
  await desk.write("metrics.yaml", stringify(config));
  const words = ["serve", "--port", "0", "--config", "metrics.yaml"];
  const running = startBin(words, { cwd: desk.workroot });
  const [, url = ""] = await running.said(/For programs: (http:\S+\/v1)/);
  const response = await fetch(`${url}/models`);
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({
    error: { code: "invalid_api_key", message: expect.stringContaining("tokens create") },
  });
  expect(await (await fetch(`http://${metrics}/metrics`)).text()).toContain(
    'nightdesk_requests_total{route="GET /v1/models",status="401"} 1',
  );
  running.kill("SIGTERM");
  expect((await running.ended).code).toBe(0);
});

test("ends what an earlier one left: batches whose lines nobody reads, and files whose time is over", async () => {
  const { tokenId } = await makeToken(desk.database);
  await desk.database.query(
    `insert into nightdesk_data.program_batches (token_id, endpoint, completion_window, metadata, request_sha256, created_at)
     values ($1, '/v1/embeddings', '24h', '{}', repeat('a', 64), now() - interval '1 hour')`,
    [tokenId],
  );
  await desk.database.query(
    `insert into nightdesk_data.program_files (token_id, name, bytes, sha256, created_at, expires_at)
     values ($1, 'a', 1, repeat('a', 64), now() - interval '2 days', now() - interval '1 day')`,
    [tokenId],
  );
  const running = startBin(["serve", "--port", "0"], { cwd: desk.workroot });
  await running.said(/For programs/);
  await eventually("the batch is failed and the file is gone", async () => {
    const rows = await rowsOf(
      desk.database,
      `select (select count(*)::int from nightdesk_data.program_files) as files,
              (select count(*)::int from nightdesk_data.program_batches where failed_at is null) as read`,
    );
    return rows[0]?.["files"] === 0 && rows[0]["read"] === 0;
  });
  running.kill("SIGTERM");
  expect((await running.ended).code).toBe(0);
});

test("starts and ends with up where the configuration says so", async () => {
  await desk.write(
    "up.yaml",
    stringify({
      extends: "nightdesk:default",
      database: { url: "embedded", directory: "embedded" },
      queue: { backend: "postgres" },
      model: { provider: "extractive" },
      security: { auto_create_allowed_roots: true },
      serve: { with_up: true, port: 0 },
      log: { level: "silent" },
    }),
  );
  const running = startBin(["up", "--no-dashboard", "--config", "up.yaml"], { cwd: desk.workroot });
  const [, url = ""] = await running.said(/For programs: (http:\S+\/v1)/);
  expect((await fetch(`${url}/models`)).status).toBe(401);
  running.kill("SIGTERM");
  const { code, stderr } = await running.ended;
  expect(code).toBe(0);
  expect(stderr).not.toContain("No worker is alive");
  await eventually("the door is closed", () =>
    fetch(`${url}/models`).then(
      () => false,
      () => true,
    ),
  );
  await stopEmbedded(join(desk.workroot, "embedded"));
});

test.each([
  [["--host", "0.0.0.0"], "without TLS tokens could be read"],
  [["--port", "70000"], "is no port"],
])("does not start with %j", async (words, expected) => {
  const ended = await runBin(["serve", ...words], { cwd: desk.workroot });
  expect(ended.code).not.toBe(0);
  expect(ended.stderr).toContain(expected);
});

test("has no desk to serve where there is none", async () => {
  const ended = await runBin(["serve", "--config", join(desk.workroot, "none.yaml")], {
    cwd: desk.workroot,
  });
  expect(ended.code).toBe(78);
});
