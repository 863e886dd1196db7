import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";
import { startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";

let desk: Desk;
let dashboard: Running;
let url: string;
beforeAll(async () => {
  desk = await openDesk();
  const file = join(desk.workroot, "nightdesk.yaml");
  const config = readFileSync(file, "utf8").replace("level: silent", "level: info");
  writeFileSync(file, `${config}metrics: { listen: "127.0.0.1:0" }\n`);
  dashboard = startBin(["dashboard", "--port", "0"], { cwd: desk.workroot });
  const [, address = ""] = await dashboard.said(/"address":"([^"]+)"[^\n]*"metrics served"/);
  url = `http://${address}`;
  await dashboard.said(/Dashboard: /);
});
afterAll(async () => {
  dashboard.kill("SIGTERM");
  await dashboard.ended;
  await desk.dispose();
});

test("The dashboard tells Prometheus how the desk stands, also where no worker is alive", async () => {
  const answer = await fetch(`${url}/metrics`);
  expect(answer.status).toBe(200);
  const lines = (await answer.text()).split("\n");
  expect(lines).toContain("nightdesk_workers 0");
  expect(lines).toContain('nightdesk_jobs{state="queued"} 0');
  expect(lines.some((line) => line.startsWith("nodejs_eventloop_lag_seconds "))).toBe(true);
});

test("It says that it lives, and that its database answers", async () => {
  for (const page of ["healthz", "readyz"]) {
    const answer = await fetch(`${url}/${page}`);
    expect({ page, status: answer.status, text: await answer.text() }).toEqual({
      page,
      status: 200,
      text: "ok\n",
    });
  }
  expect((await fetch(`${url}/`)).status).toBe(404);
});
