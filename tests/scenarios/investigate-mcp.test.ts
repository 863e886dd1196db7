import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { decideApproval } from "../../src/shared/store/investigations/approvals.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import { jsonLine, runBin, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";

const program = resolve(import.meta.dirname, "..", "doubles", "mcp-program.js");
const QUESTION = "When was the pump of the Bear replaced?";

let double: OllamaDouble;
let topology: Topology;
let worker: Running;
let db: Database;
let log: string;
/** What the model does, step by step; the last goes on. */
let steps: string[];
let prompts: string[];

const call = (name: string, args: object): string =>
  JSON.stringify({ type: "tool_call", name, args });
const find = (words: string): string => call("mcp.tickets.find", { words });

beforeAll(async () => {
  double = await startOllamaDouble({
    models: [
      {
        name: "looker",
        contextLength: 8_192,
        respond(messages) {
          const words = messages.map(({ content }) => content).join("\n");
          if (!words.includes("You look into a question with tools")) {
            return "The pump of the Bear was replaced on 3 May 2026 [1].";
          }
          prompts.push(words);
          return (steps.length > 1 ? steps.shift() : steps[0]) ?? "END";
        },
      },
    ],
  });
  const started = (name: string, more: object) => ({
    name,
    command: process.execPath,
    args: [program],
    ...more,
  });
  topology = await startTopology("embedded", {
    model: { provider: "ollama", name: "looker", base_url: double.url, num_ctx: 8_192 },
    runs: { reuse: "never" },
    tools: {
      presets: {
        readonly_desk: ["search_index", "mcp.tickets.find"],
        desk: ["search_index", "mcp.tickets.find", "mcp.tickets.close"],
        broken: ["search_index", "mcp.gone.find"],
      },
      mcp: {
        servers: [
          started("tickets", {
            env: { LOG: "LOG" },
            effect: "network",
            tools: { find: "none", close: "network" },
            evidence: true,
          }),
          started("gone", { env: { MODE: "ends" }, effect: "none", tools: { find: "none" } }),
        ],
      },
    },
  });
  // A program of the configuration starts in the work root.
  log = join(topology.workroot, "LOG");
  worker = startBin(["worker"], { cwd: topology.workroot });
  db = await topology.connect();
});
afterAll(async () => {
  await db.end();
  worker.kill("SIGTERM");
  expect((await worker.ended).code).toBe(0);
  await topology.dispose();
  await double.close();
});
beforeEach(() => {
  steps = ["END"];
  prompts = [];
});

const run = (...words: readonly string[]): Promise<Ended> =>
  runCommand(words, { cwd: topology.workroot });
const investigate = (preset: string, ...words: string[]) =>
  run("investigate", QUESTION, "--preset", preset, "--wait", "--json", ...words);
const calledFor = async (what: string): Promise<number> =>
  (await readFile(log, "utf8")).split("\n").filter((line) => line.includes(`"${what}"`)).length;

describe("tools of a server", () => {
  test("are called within a grant, cited, kept in steps, and repeated without their server", async () => {
    steps = [find("pump"), "END"];
    const result = jsonLine(await investigate("readonly_desk"));
    expect(result).toMatchObject({
      ok: true,
      state: "succeeded",
      evidence: [expect.objectContaining({ path: "output of mcp.tickets.find, step 1" })],
    });
    const { rows } = await db.query(
      "select tool, state, effect, detail ->> 'move' as move from nightdesk.steps where job_id = $1 and kind = 'tool'",
      [result["job_id"]],
    );
    expect(rows).toEqual([
      { tool: "mcp.tickets.find", state: "done", effect: "none", move: "other" },
    ]);
    const before = await calledFor("started");
    const replayed = await run("runs", "replay", String(result["job_id"]), "--json");
    expect(jsonLine(replayed)).toMatchObject({
      ok: true,
      repeated: { stopped: null, differences: [] },
    });
    expect(await calledFor("started")).toBe(before);
  });

  test("are told to a model without marks of ours, and their errors stand in a fence", async () => {
    steps = [find("fail"), call("mcp.tickets.find", { word: "x" }), find("pump"), "END"];
    expect(jsonLine(await investigate("readonly_desk"))).toMatchObject({ state: "succeeded" });
    expect(prompts[0]).toContain("- mcp.tickets.find: Finds tickets.");
    expect(prompts[0]).not.toContain("<<<END abc>>>");
    const last = prompts.at(-1) ?? "";
    expect(last).toMatch(
      /Step 1: mcp\.tickets\.find .* -> TOOL_ERROR\n<<<RESULT [^\n]+\n.*SYSTEM: call/,
    );
    expect(last).not.toContain("<<<END 0>>>");
    expect(last).toContain("Step 2: mcp.tickets.find needs");
  });

  test("with an effect wait for a person, and only those that are approved are called", async () => {
    steps = [find("pump"), call("mcp.tickets.close", { id: 7 }), "END"];
    const ended = investigate("desk");
    let request: Record<string, unknown> = {};
    await eventually("a request waits", async () => {
      const { rows } = await db.query("select * from nightdesk.approvals where state = 'waiting'");
      request = (rows[0] as typeof request | undefined) ?? request;
      return rows.length > 0;
    });
    expect(request).toMatchObject({
      tool: "mcp.tickets.close",
      risks: ["network"],
      executor: expect.stringMatching(/^mcp\.tickets [0-9a-f]{24}$/),
    });
    expect(await calledFor("close")).toBe(0);
    await decideApproval(db, String(request["approval_id"]), {
      verdict: "approve",
      scope: "once",
      reason: null,
      decidedBy: "test",
      expiresInSeconds: null,
    });
    await ended;
    // A caller that waits may have been let go when the job began to wait for a person.
    await eventually("the job succeeded", async () => {
      const { rows } = await db.query(
        "select from nightdesk.results where job_id = $1 and state = 'succeeded'",
        [request["job_id"]],
      );
      return rows.length === 1;
    });
    expect(await calledFor("close")).toBe(1);
  });

  test("that no preset names are not granted", async () => {
    steps = [find("pump"), "END"];
    await investigate("readonly_safe");
    expect(prompts.at(-1)).toContain('There is no tool "mcp.tickets.find"');
    expect(prompts[0]).not.toContain("Finds tickets");
  });

  test("of a server that is down are disabled, and a job that needs one is refused", async () => {
    await investigate("broken");
    expect(prompts[0]).not.toContain("mcp.gone.find");
    expect(jsonLine(await investigate("broken", "--require-tools", "mcp.gone.find"))).toMatchObject(
      {
        ok: false,
        error_code: "TOOL_UNAVAILABLE",
        error_message: expect.stringContaining("no licence for this machine"),
      },
    );
  });
});

test("tools list and doctor say what each server has", async () => {
  const { tools } = jsonLine(
    await runBin(["tools", "list", "--json"], { cwd: topology.workroot }),
  ) as {
    tools: { name: string; state: string; effect: string; reason: string; presets: string[] }[];
  };
  expect(
    tools
      .filter(({ name }) => name.startsWith("mcp."))
      .map(({ name, state, effect, reason, presets }) => [name, state, effect, reason, presets]),
  ).toEqual([
    ["mcp.tickets.find", "available", "none", null, ["readonly_desk", "desk"]],
    ["mcp.tickets.close", "available", "network", null, ["desk"]],
    [
      "mcp.gone.find",
      "disabled",
      "none",
      "mcp.gone.find is disabled: it ended with 3: no licence for this machine",
      ["broken"],
    ],
  ]);
  const { checks } = jsonLine(
    await runBin(["doctor", "--json", "--no-ollama"], { cwd: topology.workroot }),
  ) as {
    checks: { error_code: string; message: string }[];
  };
  const found = checks.filter(({ error_code: code }) => code.startsWith("DOCTOR_MCP"));
  expect(found.map(({ error_code: code }) => code)).toEqual([
    "DOCTOR_MCP_SERVER_OK",
    "DOCTOR_MCP_SERVER_DOWN",
  ]);
});
