import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { startProxy } from "./proxy.ts";
import type { Proxy } from "./proxy.ts";

describe("a proxy between a client and a server", () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function proxyOfEcho(): Promise<Proxy> {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.pipe(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => server.close());
    const proxy = await startProxy({ port: (server.address() as AddressInfo).port });
    closers.push(() => proxy.close());
    return proxy;
  }

  async function clientOf({ port }: Proxy): Promise<Socket> {
    const client = connect(port, "127.0.0.1");
    client.on("error", () => undefined);
    closers.push(() => client.destroy());
    await once(client, "connect");
    return client;
  }

  async function ask(client: Socket, text: string): Promise<string> {
    client.write(text);
    const [answer] = (await once(client, "data")) as [Buffer];
    return answer.toString();
  }

  test("that goes silent keeps its connections open and lets new ones pass", async () => {
    const proxy = await proxyOfEcho();
    const old = await clientOf(proxy);
    expect(await ask(old, "one")).toBe("one");
    proxy.muteExisting();
    old.write("two");
    let heard = "";
    old.on("data", (data) => (heard += data.toString()));
    expect(await ask(await clientOf(proxy), "three")).toBe("three");
    expect([heard, old.destroyed, proxy.count()]).toEqual(["", false, 2]);
  });

  test("that cuts ends its connections, and one that refuses ends new ones, too", async () => {
    const proxy = await proxyOfEcho();
    const client = await clientOf(proxy);
    expect(await ask(client, "one")).toBe("one");
    const ended = once(client, "close");
    proxy.cut();
    await ended;
    proxy.refuse();
    await once(
      connect(proxy.port, "127.0.0.1").on("error", () => undefined),
      "close",
    );
    proxy.pass();
    expect(await ask(await clientOf(proxy), "two")).toBe("two");
  });

  test("that delays answers later, and in order", async () => {
    const proxy = await proxyOfEcho();
    const client = await clientOf(proxy);
    proxy.delay(50);
    const startedAt = performance.now();
    expect(await ask(client, "late")).toBe("late");
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(95);
  });
});
