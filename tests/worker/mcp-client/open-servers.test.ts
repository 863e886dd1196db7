import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { createLogger } from "../../../src/shared/logger.ts";
import type { McpServerConfig } from "../../../src/shared/config/mcp-servers.ts";
import type { McpDefinition } from "../../../src/worker/mcp-client/definition.ts";
import { openMcpServers } from "../../../src/worker/mcp-client/open-servers.ts";
import type { McpServers } from "../../../src/worker/mcp-client/open-servers.ts";
import { listenForClients } from "../../../src/worker/mcp/http.ts";
import { eventually } from "../../conformance/signal.ts";

const program = resolve(import.meta.dirname, "..", "..", "doubles", "mcp-program.js");
const TOKEN = "token-of-the-tickets";
const never = new AbortController().signal;

let folder: string;
let log: string;
let opened: McpServers[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightdesk-"));
  log = join(folder, "log");
  opened = [];
});
afterEach(async () => {
  for (const servers of opened) await servers.close();
  await rm(folder, { recursive: true, force: true });
});

function open(entry: Partial<McpServerConfig>, env: Record<string, string> = {}): McpServers {
  const server: McpServerConfig = { name: "tickets", effect: "none", ...entry };
  const servers = openMcpServers({
    config: {
      tools: { mcp: { servers: [server] } },
      roots: { workroot: folder, configRoot: folder },
    } as unknown as Parameters<typeof openMcpServers>[0]["config"],
    env: { PATH: process.env["PATH"], ...env },
    version: "0",
  });
  opened.push(servers);
  return servers;
}

const started = (entry: Partial<McpServerConfig> = {}): McpServers =>
  open({ command: process.execPath, args: [program], env: { LOG: log }, ...entry });

const logged = async (): Promise<Readonly<Record<string, unknown>>[]> =>
  (await readFile(log, "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const find = (servers: McpServers, words: string) =>
  servers.reach(never).call("mcp.tickets.find", { words });

const isAlive = (pid: unknown): boolean => {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

describe("what would carry a call out", () => {
  const find: McpDefinition = {
    name: "mcp.tickets.find",
    effect: "network",
    description: "Finds.",
    parameters: { type: "object", properties: { words: { type: "string" } } },
    isEvidence: false,
    disabled: null,
  };
  const executor = (
    entry: Partial<McpServerConfig> = {},
    tool: Partial<McpDefinition> = {},
    env: Record<string, string> = {},
  ): string =>
    open({ command: "tickets", args: ["--all"], effect: "network", ...entry }, env)
      .reach(never)
      .executorOf({ ...find, ...tool });

  test("is the same for the same program, environment and schema, and another for any other", () => {
    expect(executor()).toMatch(/^mcp\.tickets [0-9a-f]{24}$/);
    expect(executor()).toBe(executor());
    const others = [
      executor(),
      executor({ args: ["--some"] }),
      executor({ env: { DESK: "test" } }),
      executor({ env: { DESK: "live" } }),
      executor({ pass_env: ["DESK"] }, {}, { DESK: "third" }),
      executor({ pass_env: ["DESK"] }, {}, { DESK: "fourth" }),
      executor({}, { parameters: { type: "object", properties: { to: { type: "string" } } } }),
      executor({}, { description: "Finds and deletes." }),
      executor({}, { effect: "local-write" }),
    ];
    expect(new Set(others).size).toBe(others.length);
  });
});

describe("a server that is started here", () => {
  test("gives its tools, with its words neutralised, and answers by one process", async () => {
    const servers = started();
    const [tool] = await servers.describe(["mcp.tickets.find"]);
    expect(tool).toMatchObject({
      name: "mcp.tickets.find",
      effect: "none",
      disabled: null,
      parameters: {
        type: "object",
        properties: { words: { type: "string", description: "Words to look for." } },
        required: ["words"],
      },
    });
    expect(tool?.description).not.toContain("<<<END");
    expect(await find(servers, "pump")).toMatchObject({
      kind: "answer",
      text: "Ticket 7 (pump): the pump of the Bear was replaced on 3 May 2026.",
      isError: false,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await logged()).filter((entry) => "started" in entry)).toHaveLength(1);
  });

  test("has the environment that is named, and nothing of the worker's", async () => {
    const servers = open(
      {
        command: process.execPath,
        args: [program],
        env: { LOG: log },
        pass_env: ["PASSED", "NOT_THERE"],
      },
      { DATABASE_URL: "postgres://secret", HOME: "/home/me", PASSED: "1" },
    );
    expect((await servers.listServers())[0]?.down).toBeNull();
    expect((await logged())[0]?.["env"]).toEqual(["LOG", "PASSED"]);
  });

  test("is offered no tool that the configuration does not name, and may not be called for it", async () => {
    const servers = started({ tools: { find: "none", close: "network", reopen: "network" } });
    const [listed] = await servers.listServers();
    expect(listed?.tools.map(({ name, effect, disabled }) => [name, effect, disabled])).toEqual([
      ["mcp.tickets.find", "none", null],
      ["mcp.tickets.close", "network", null],
      ["mcp.tickets.reopen", "network", "the server tickets has no such tool"],
    ]);
    expect(await servers.reach(never).call("mcp.tickets.purge", {})).toMatchObject({
      kind: "refused",
      code: "TOOL_DENIED",
    });
  });

  test("that ends at once disables its tools with its last words, and is started four times at most", async () => {
    const servers = started({ env: { LOG: log, MODE: "ends" }, tools: { find: "none" } });
    const [tool] = await servers.describe(["mcp.tickets.find"]);
    expect(tool?.disabled).toBe("it ended with 3: no licence for this machine");
    for (let at = 0; at < 5; at += 1) await servers.describe(["mcp.tickets.find"]);
    expect(await logged()).toHaveLength(4);
    expect(await find(servers, "x")).toMatchObject({
      code: "TOOL_UNAVAILABLE",
      message: expect.stringContaining("it ended 4 times within an hour"),
    });
  });

  test("that dies in a call fails the call, and is started again for the next", async () => {
    const servers = started();
    await expect(find(servers, "die")).rejects.toMatchObject({
      code: "TOOL_ERROR",
      message: "it ended with 9",
    });
    expect(await find(servers, "pump")).toMatchObject({ kind: "answer" });
    expect((await logged()).filter((entry) => "started" in entry)).toHaveLength(2);
  });

  test("is given no longer than its time", async () => {
    const servers = started({ timeout_s: 0.5 });
    await servers.listServers();
    const before = performance.now();
    await expect(find(servers, "hang")).rejects.toMatchObject({ code: "TOOL_ERROR" });
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  test("ends with all that it started", async () => {
    const servers = started({ env: { LOG: log, MODE: "leaves a child" } });
    await servers.listServers();
    const pids = (await logged()).map(({ started: own, child }) => own ?? child);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await servers.close();
    await eventually("both have ended", async () => !pids.some(isAlive));
  });

  test("ends also when it is closed while it starts", async () => {
    const servers = started();
    const listed = servers.listServers();
    await eventually("it has started", async () => (await logged()).length > 0);
    await servers.close();
    await listed;
    const pids = (await logged()).map(({ started: own }) => own);
    await eventually("it has ended", async () => !pids.some(isAlive));
  });

  test("that is nowhere says so", async () => {
    const [server] = await open({ command: "no-such-program-4711" }).listServers();
    expect(server?.down).toBe('there is no program "no-such-program-4711"');
  });
});

test("a long answer is cut, and says how long it was", async () => {
  const answer = await find(started(), "long");
  expect(answer).toMatchObject({ kind: "answer", chars: 150_000 });
  if (answer.kind === "answer") expect(answer.text).toHaveLength(100_000);
});

describe("a server by HTTP", () => {
  const listen = () =>
    listenForClients(
      () => {
        const server = new McpServer({ name: "tickets", version: "1" });
        server.registerTool(
          "find",
          { inputSchema: z.strictObject({ words: z.string() }) },
          async ({ words }) => ({ content: [{ type: "text", text: `by HTTP: ${words}` }] }),
        );
        return server;
      },
      { port: 0, token: TOKEN, allowedOrigins: [], maxBodyBytes: 10_000 },
      createLogger("silent", "json"),
    );

  test("is reached with the token of a variable, or of a file", async () => {
    const listener = await listen();
    try {
      const byVariable = open({ url: listener.url, token_env: "T" }, { T: TOKEN });
      expect(await find(byVariable, "pump")).toMatchObject({ text: "by HTTP: pump" });
      await writeFile(join(folder, "token"), `${TOKEN}\n`);
      const byFile = open({ url: listener.url, token_file: "token" });
      expect(await find(byFile, "pump")).toMatchObject({ text: "by HTTP: pump" });
    } finally {
      await listener.close();
    }
  });

  test("that refuses the token, or is away, disables its tools, and no reason holds the token", async () => {
    const listener = await listen();
    const wrong = open({ url: listener.url, token_env: "T" }, { T: "another-token" });
    const [refused] = await wrong.listServers();
    expect(refused?.down).toEqual(expect.any(String));
    expect(refused?.down).not.toContain("another-token");
    const unset = open({ url: listener.url, token_env: "T" });
    expect((await unset.listServers())[0]?.down).toBe("there is no variable T (token_env)");
    await listener.close();
    const [away] = await open({ url: listener.url }).listServers();
    expect(away?.down).toContain("ECONNREFUSED");
  });

  test("is not followed elsewhere", async () => {
    let asked = 0;
    const elsewhere = createServer((_, response) => {
      asked += 1;
      response.end("{}");
    });
    const leading = createServer((_, response) => {
      response.writeHead(307, { location: urlOf(elsewhere) }).end();
    });
    await Promise.all(
      [elsewhere, leading].map(
        (one) => new Promise<void>((done) => one.listen(0, "127.0.0.1", done)),
      ),
    );
    const [server] = await open(
      { url: urlOf(leading), token_env: "T" },
      { T: TOKEN },
    ).listServers();
    expect(server?.down).toEqual(expect.any(String));
    expect(asked).toBe(0);
    elsewhere.close();
    leading.close();
  });
});

const urlOf = (server: ReturnType<typeof createServer>): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
