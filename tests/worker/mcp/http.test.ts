import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createLogger } from "../../../src/shared/logger.ts";
import { listenForClients } from "../../../src/worker/mcp/http.ts";
import type { McpListener } from "../../../src/worker/mcp/http.ts";
import { offeredTools } from "../../../src/worker/mcp/offered-tools.ts";
import { mcpServers } from "../../../src/worker/mcp/server.ts";
import type { McpContext } from "../../../src/worker/mcp/tool.ts";
import { toolReach } from "../../support/tool-reach.ts";

const TOKEN = "a-token-of-some-length";
const ORIGIN = "http://127.0.0.1:3000";
const logger = createLogger("silent", "json");

const SECRET = "password hunter2 in an error that nobody foresaw";
const desk: McpContext = {
  config: {
    mcp: {
      tools: ["get_document", "queue_stats", "submit_job"],
      roots: [],
      submit_preset: null,
      submit_kinds: [],
      http: { port: 1, token_env: "T", allowed_origins: [], max_body_bytes: 5_000 },
    },
  } as unknown as McpContext["config"],
  env: {},
  database: () => Promise.reject(new Error(SECRET)),
  reach: async () => toolReach({ files: { "a.md": "One line.\n" } }),
};

let listener: McpListener;
beforeAll(async () => {
  listener = await listenForClients(
    mcpServers({ offered: offeredTools(desk.config), context: desk, version: "0", logger }),
    { port: 0, token: TOKEN, allowedOrigins: [ORIGIN], maxBodyBytes: 5_000 },
    logger,
  );
});
afterAll(() => listener.close());

type Sent = {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const bearer = { authorization: `Bearer ${TOKEN}` };
const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });

/** The status of a request by plain HTTP, and what was said. */
function send({ method = "POST", path = "/mcp", body = LIST, headers = {} }: Sent) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(new URL(path, listener.url), {
      method,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
    });
    sent.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    sent.end(body);
  });
}

test.each<[string, Sent, number]>([
  ["no token", {}, 401],
  ["a wrong token", { headers: { authorization: "Bearer a-token-of-some-lengtH" } }, 401],
  ["a token that is not a bearer's", { headers: { authorization: TOKEN } }, 401],
  ["a Host of another name", { headers: { ...bearer, host: "evil.example:80" } }, 421],
  ["a page of another origin", { headers: { ...bearer, origin: "https://evil.example" } }, 403],
  ["the origin null", { headers: { ...bearer, origin: "null" } }, 403],
  ["another path", { headers: bearer, path: "/" }, 404],
  ["GET", { headers: bearer, method: "GET", body: "" }, 405],
  ["DELETE", { headers: bearer, method: "DELETE", body: "" }, 405],
  ["more than may be sent", { headers: bearer, body: " ".repeat(5_001) }, 413],
  [
    "more than may be sent, without saying how much",
    { headers: { ...bearer, "transfer-encoding": "chunked" }, body: " ".repeat(5_001) },
    413,
  ],
  ["what is no JSON", { headers: bearer, body: "{" }, 400],
  ["a token", { headers: bearer }, 200],
  ["a token, from a page that may call", { headers: { ...bearer, origin: ORIGIN } }, 200],
])("a request with %s gets its status", async (_, sent, status) => {
  expect((await send(sent)).status).toBe(status);
});

test("who has no token is told nothing of the tools", async () => {
  expect((await send({})).text).toBe("give the token: Authorization: Bearer TOKEN\n");
});

test("the official client lists what is offered, and errors come typed", async () => {
  const client = new Client({ name: "test", version: "0" });
  const transport = new StreamableHTTPClientTransport(new URL(listener.url), {
    requestInit: { headers: bearer },
  });
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["get_document", "queue_stats"]);
    expect(client.getInstructions()).toContain(
      "submit_job is disabled: set mcp.submit_preset or mcp.submit_kinds.",
    );

    const read = await client.callTool({ name: "get_document", arguments: { path: "a.md" } });
    expect(read.structuredContent).toMatchObject({
      ok: true,
      pieces: [{ path: "a.md", chars: 10, cut: false, untrusted_text: "One line.\n" }],
    });

    const refused = await client.callTool({ name: "get_document", arguments: { path: "b.md" } });
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { ok: false, error_code: "FILE_NOT_FOUND" },
    });
    const wrong = await client.callTool({ name: "get_document", arguments: { file: "a.md" } });
    expect(wrong).toMatchObject({
      isError: true,
      structuredContent: { error_code: "INVALID_ARGS" },
    });

    const broke = await client.callTool({ name: "queue_stats", arguments: {} });
    expect(broke.structuredContent).toMatchObject({ error_code: "INTERNAL_ERROR" });
    expect(JSON.stringify(broke)).not.toContain("hunter2");

    // One that is there and disabled is told apart from one that is hidden.
    const call = (name: string) => client.callTool({ name, arguments: {} });
    await expect(call("submit_job")).rejects.toThrow("submit_job disabled");
    await expect(call("list_batches")).rejects.toThrow("list_batches not found");
  } finally {
    await client.close();
  }
});
