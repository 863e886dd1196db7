import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { Failure } from "../../../src/shared/failure.ts";
import { probeQueue } from "../../../src/shared/queue/probe-queue.ts";

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, "close");
  }
});

async function listen(reply = ""): Promise<string> {
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => undefined));
    socket.on("data", () => socket.write(reply));
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `redis://:secret@127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const failureOf = (url: string): Promise<unknown> =>
  probeQueue({ backend: "redis", url, prefix: "probe" }, 100).then(
    () => null,
    (error: unknown) => error,
  );

test("a server that takes the connection and says nothing is told as one that does not answer", async () => {
  const failure = await failureOf(await listen());
  expect(failure).toBeInstanceOf(Failure);
  expect(failure).toMatchObject({ code: "QUEUE_UNREACHABLE" });
  expect(String(failure)).not.toContain("secret");
});

test("a port where nobody listens is named, with what to do", async () => {
  const url = await listen();
  servers[0]?.close();
  expect(await failureOf(url)).toMatchObject({
    code: "QUEUE_UNREACHABLE",
    message: expect.stringContaining("queue.redis_url"),
  });
});

test("a server that refuses the password is told as one that does, and not as one that is silent", async () => {
  const url = await listen("-WRONGPASS invalid username-password pair\r\n");
  expect(await failureOf(url)).toMatchObject({
    code: "QUEUE_UNREACHABLE",
    message: expect.stringContaining("refuses the login (WRONGPASS"),
  });
});
