import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { validate } from "dockerfile-utils";
import { waitUntil } from "../services/wait-until.js";
import { findFreePort } from "../services/free-port.js";
import { checkout } from "./compose-file.ts";
import { start } from "./spawned.ts";
import type { Spawned } from "./spawned.ts";

const dockerfile = readFileSync(join(checkout, "Dockerfile"), "utf8");
const lastOf = (instruction: string): string =>
  [...dockerfile.matchAll(new RegExp(`^${instruction} (.*)$`, "gm"))].at(-1)?.[1] ?? "";
const wordsOf = (instruction: string): string[] => JSON.parse(lastOf(instruction)) as string[];

test("the Dockerfile has no error, and a mistake in one is found", () => {
  expect(validate(dockerfile)).toEqual([]);
  expect(validate(dockerfile.replace("EXPOSE 8321", "EXPOSED 8321"))).not.toEqual([]);
});

const confined = spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;
const here = confined ? describe : describe.skip;

// The image's own command in a root that holds what the image does: the checkout at /app, the two mounts, and no home.
here("the image alone, over a folder of documents", () => {
  let scratch: string;
  let container: Spawned;
  let log: string;
  let port: number;

  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), "nightdesk-container-"));
    for (const name of ["papers", "state"]) mkdirSync(join(scratch, name));
    writeFileSync(
      join(scratch, "papers/boiler.md"),
      "# Boiler\n\nThe boiler is serviced in May.\n",
    );
    port = await findFreePort();
    // Only the port changes: that of the image may be taken on this machine.
    writeFileSync(
      join(scratch, "nightdesk.yaml"),
      `extends: nightdesk:container\ndashboard: { port: ${String(port)} }\n`,
    );
    container = run(wordsOf("CMD"));
    log = "";
    await waitUntil(async () => {
      log = container.output();
      return /http:\/\/\S+/.test(log);
    }, 60_000);
  }, 90_000);

  afterAll(() => {
    container.kill("SIGKILL");
    rmSync(scratch, { recursive: true, force: true });
  });

  test("answers from the documents that are mounted", async () => {
    const asked = run(["ask", "When is the boiler serviced?", "--wait", "--json"]);
    const { exitCode, stdout, stderr } = await asked.ended;
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stdout).toContain("The boiler is serviced in May.");
    expect(stdout).toContain("boiler.md");
  });

  test("asks a browser for the token that its log names", async () => {
    const token = readFileSync(join(scratch, "state/dashboard-token"), "utf8");
    expect(log).toContain(token);
    const page = await fetch(`http://127.0.0.1:${String(port)}/`, { redirect: "manual" });
    expect(page.status).not.toBe(200);
  });

  test("ends with 0 when it is stopped, and keeps its token", async () => {
    const token = readFileSync(join(scratch, "state/dashboard-token"), "utf8");
    // What bwrap started; its own end would be no answer.
    const { pid } = container;
    const inside = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, "utf8");
    process.kill(Number(inside.trim()), "SIGTERM");
    expect((await container.ended).exitCode).toBe(0);
    expect(readFileSync(join(scratch, "state/dashboard-token"), "utf8")).toBe(token);
  });

  function run(words: readonly string[]): Spawned {
    const folders = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", dirname(process.execPath)];
    const mounts = [
      ...folders.filter((folder) => existsSync(folder)).flatMap((one) => ["--ro-bind", one, one]),
      ...["--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
      ...["--ro-bind", checkout, "/app", "--ro-bind", join(scratch, "papers"), "/papers"],
      ...["--bind", join(scratch, "state"), "/state"],
      ...["--ro-bind", join(scratch, "nightdesk.yaml"), "/nightdesk.yaml"],
    ];
    return start(
      ["bwrap", ...mounts, "--chdir", lastOf("WORKDIR"), ...wordsOf("ENTRYPOINT"), ...words],
      {
        cwd: "/",
        env: { PATH: process.env["PATH"] ?? "", NIGHTDESK_CONFIG: "/nightdesk.yaml" },
      },
    );
  }
});
