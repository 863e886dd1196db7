import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createHostedEmbedder } from "../../../src/worker/embedders/hosted.ts";
import { askRoute } from "../../../src/worker/models/ask-route.ts";
import { withDeadline } from "../../../src/worker/models/deadline.ts";
import { signal } from "../../conformance/signal.ts";
import { ABOUT, complete, failureOf, HOSTS } from "../../support/model-hosts.ts";
import { placeOfHosts } from "../../support/embedding-hosts.ts";
import type { ModelHost } from "../../support/model-hosts.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Dripping = {
  readonly url: string;
  /** Resolves when some drops have fallen. */
  readonly begun: Promise<void>;
  /** Resolves when the client has hung up. */
  readonly gone: Promise<void>;
};

const WHOLE = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(ABOUT)}\r\nconnection: close\r\n\r\n${ABOUT}`;
const HEAD = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const DROP_MS = 10;

/**
 * A server that answers requests to one path with a beginning, and then with a drop every 10 ms for ever; any other
 * request with what a host says of itself.
 */
async function drip(path: string, beginning: string, drop: string): Promise<Dripping> {
  const sockets = new Set<Socket>();
  const [begun, gone] = [signal(), signal()];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => {
      if (!bytes.toString("latin1").includes(` ${path} `)) {
        socket.end(WHOLE);
        return;
      }
      socket.write(beginning);
      let drops = 0;
      const timer = setInterval(() => {
        drops += 1;
        socket.write(drop);
        if (drops === 3) begun.resolve();
      }, DROP_MS);
      socket.once("close", () => {
        clearInterval(timer);
        gone.resolve();
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, begun: begun.promise, gone: gone.promise };
}

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

const DRIPS: readonly (readonly [string, (host: ModelHost) => readonly [string, string]])[] = [
  ["in a header", () => ["HTTP/1.1 200 OK\r\nx-slow: ", "a"]],
  ["in a line that never ends", () => [HEAD, chunk("x")]],
  ["in blank lines", () => [HEAD, chunk("\n")]],
  ["in whole pieces of a reply", (host) => [HEAD, chunk(host.line("a "))]],
  ["in thoughts", (host) => [HEAD, chunk(host.thought("a "))]],
  ["in the text of an error", () => [HEAD.replace("200 OK", "500 Oh"), chunk("x")]],
];

describe.each(HOSTS)("a $provider that drips for ever", (host) => {
  test.each(DRIPS)("%s is left at the deadline, and hung up on", async (_, of) => {
    const { url, begun, gone } = await drip(host.chatPath, ...of(host));
    const model = await host.open(url, "m", 8192);
    const failure = await failureOf(complete(model, { timeoutMs: 500 }));
    expect(failure.code).toBe("MODEL_TIMEOUT");
    expect(failure.message).toContain("0.5 s");
    await Promise.all([begun, gone]);
  });

  test("is hung up on at once when its job is cancelled", async () => {
    const { url, begun, gone } = await drip(host.chatPath, HEAD, chunk(host.line("a ")));
    const model = await host.open(url, "m", 8192);
    const controller = new AbortController();
    const reply = complete(model, { timeoutMs: 600_000 }, controller.signal);
    await begun;
    const reason = new Error("cancelled");
    controller.abort(reason);
    await expect(reply).rejects.toBe(reason);
    await gone;
  });
});

test("an embedder that drips for ever is left at the deadline, and hung up on", async () => {
  const { url, gone } = await drip("/api/embed", HEAD, chunk(" "));
  const settings = { model_id: "m", batch_size: 8, timeout_s: 0.5 };
  const hosts = [{ host: url, provider: "ollama", parallel: null }] as const;
  const failure = await failureOf(createHostedEmbedder(settings, placeOfHosts(hosts)));
  expect(failure.code).toBe("MODEL_TIMEOUT");
  await gone;
});

/** Collects garbage as a busy worker does all the time. */
function collectGarbage(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  let timer: NodeJS.Timeout;
  const collect = () => {
    const start = performance.now();
    gc();
    // As long a pause: a heap that has grown takes seconds on a busy machine, and nothing else would run.
    timer = setTimeout(collect, Math.max(20, performance.now() - start));
  };
  timer = setTimeout(collect, 20);
  return () => {
    clearTimeout(timer);
  };
}

/** Whether the host had begun when its time was up. Expects the error of the limit, and that the host is hung up on. */
async function isLeftWhileItDrips(timeoutMs: number): Promise<boolean> {
  const { url, begun, gone } = await drip("/api/version", HEAD, chunk(" "));
  const { signal: never } = new AbortController();
  const late = () => new Error("late");
  const asked = withDeadline({ signal: never, timeoutMs, late }, (until) =>
    askRoute(`${url}/api/version`, null, until),
  );
  await expect(asked).rejects.toThrow("late");
  const hasBegun = await Promise.race([begun.then(() => true), setImmediate(false)]);
  if (hasBegun) await gone;
  return hasBegun;
}

test("a time limit outlives the collection of garbage while a host drips", async () => {
  const stopCollecting = collectGarbage();
  try {
    // Where a collection takes longer than the limit the host has not begun by then: once more, with more time.
    let limitMs = 500;
    while (!(await isLeftWhileItDrips(limitMs))) limitMs *= 4;
  } finally {
    stopCollecting();
  }
});

test("nothing waits with AbortSignal.any for a time limit that may be collected", async () => {
  const root = join(import.meta.dirname, "..", "..", "..", "src");
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith(".ts"));
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), "utf8")));
  const using = files.filter((_, index) =>
    /AbortSignal\.any\(\[[^\]]*AbortSignal\.timeout/.test(texts[index] ?? ""),
  );
  expect(using).toEqual([]);
});
