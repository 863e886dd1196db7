import type { LookupAddress } from "node:dns";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { askHost } from "../../src/worker/models/host-request.ts";
import { AddressDenied, resolveAllowed, sendRequest } from "../../src/worker/outbound-request.ts";
import type { OutboundRequest } from "../../src/worker/outbound-request.ts";

let server: Server;
let port: number;
let asked: IncomingMessage[];
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(302, { location: `http://127.0.0.1:${port}/elsewhere` }).end("moved");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  asked = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A name server that gives another answer each time; the last one stays. */
function nameServer(...answers: string[][]): {
  readonly lookup: NonNullable<OutboundRequest["lookup"]>;
  readonly asked: string[];
} {
  const names: string[] = [];
  return {
    asked: names,
    lookup(hostname, _options, callback) {
      names.push(hostname);
      const answer = answers[Math.min(names.length, answers.length) - 1] ?? [];
      const found = answer.map((address): LookupAddress => ({
        address,
        family: address.includes(":") ? 6 : 4,
      }));
      callback(null, found);
    },
  };
}
const send = (host: string, overrides: Partial<OutboundRequest> = {}) =>
  sendRequest(
    {
      url: new URL(`http://${host}:${port}/hook`),
      body: "{}",
      isAllowed: (address) => address === "127.0.0.1",
      ...overrides,
    },
    AbortSignal.timeout(30_000),
  );

describe("a request that goes out", () => {
  test("resolves a name once, and goes to the address that was checked, whatever the name leads to then", async () => {
    const names = nameServer(["127.0.0.1"], ["127.0.0.2"]);
    const response = await send("rebinds.example", { lookup: names.lookup });
    expect(response.socket.remoteAddress).toBe("127.0.0.1");
    expect(names.asked).toEqual(["rebinds.example"]);
    expect(asked[0]?.headers.host).toBe(`rebinds.example:${port}`);
    response.destroy();
  });

  test("goes to none but the allowed ones of several addresses", async () => {
    const names = nameServer(["127.0.0.2", "::1", "127.0.0.1"]);
    const response = await send("mixed.example", { lookup: names.lookup });
    expect(response.socket.remoteAddress).toBe("127.0.0.1");
    response.destroy();
  });

  test.each([
    ["a name", "inside.example", "inside.example leads to the link-local address 169.254.169.254"],
    ["an address", "169.254.169.254", "169.254.169.254 is a link-local address"],
    ["an IPv6 address", "[::ffff:169.254.169.254]", "::ffff:a9fe:a9fe is a link-local address"],
  ])(
    "is refused for %s that leads where it may not go, and sends nothing",
    async (_, host, why) => {
      const names = nameServer(["169.254.169.254"]);
      const sent = send(host, { lookup: names.lookup });
      await expect(sent).rejects.toThrow(AddressDenied);
      await expect(sent).rejects.toThrow(why);
      expect(asked).toEqual([]);
    },
  );

  test("does not follow a redirect", async () => {
    const response = await send("127.0.0.1");
    expect(response.statusCode).toBe(302);
    response.destroy();
    expect(asked).toHaveLength(1);
  });

  test("ends with its signal while a name is looked up that nobody answers for", async () => {
    const sent = sendRequest(
      {
        url: new URL("http://silent.example/"),
        isAllowed: () => true,
        lookup: () => undefined,
      },
      AbortSignal.timeout(50),
    );
    await expect(sent).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("with proxies in the environment", () => {
  let proxy: Server;
  let proxied: string[];
  const names = ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
  beforeEach(async () => {
    proxied = [];
    proxy = createServer((request, response) => {
      proxied.push(request.url ?? "");
      response.end();
    }).on("connect", (request, socket) => {
      proxied.push(request.url ?? "");
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port: at } = proxy.address() as AddressInfo;
    for (const name of names) process.env[name] = `http://127.0.0.1:${at}`;
    process.env["NODE_USE_ENV_PROXY"] = "1";
  });
  afterEach(() => {
    for (const name of names) Reflect.deleteProperty(process.env, name);
    proxy.closeAllConnections();
    proxy.close();
  });

  test("a request goes straight to its host", async () => {
    (await send("127.0.0.1")).destroy();
    expect(asked).toHaveLength(1);
    expect(proxied).toEqual([]);
  });

  test("a model host is asked itself, and a redirect of it is not followed", async () => {
    const signal = AbortSignal.timeout(30_000);
    const call = askHost(`http://127.0.0.1:${port}/api/chat`, "{}", signal);
    await expect(call).rejects.toMatchObject({ name: "HostError", status: 302 });
    expect(asked.map(({ url }) => url)).toEqual(["/api/chat"]);
    expect(proxied).toEqual([]);
  });
});

test("a name is resolved to an address that is allowed, or refused", async () => {
  await expect(resolveAllowed("localhost", () => false)).rejects.toThrow(AddressDenied);
  await expect(resolveAllowed("[::1]", () => false)).rejects.toThrow(AddressDenied);
  await expect(resolveAllowed("127.0.0.1", () => true)).resolves.toBe("127.0.0.1");
});
