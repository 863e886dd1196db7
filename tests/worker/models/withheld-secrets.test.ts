import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "@jest/globals";
import { createEmbedder } from "../../../src/worker/embedders/create-embedder.ts";
import { createModels } from "../../../src/worker/models/create-model.ts";
import { embedderPlaceOf, accessOfCommand } from "../../../src/worker/settings.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import { makeScratch } from "../../shared/config/scratch.ts";

const KEY = "AKIA" + "IOSFODNN7EXAMPLE";
const FAR = "http://far.example:8080";
const signal = new AbortController().signal;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A proxy in front of a double: what reaches it was sent to a host elsewhere. */
async function startProxy(to: string): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const forward = async () => {
      const body = await text(incoming);
      bodies.push(body);
      const { pathname } = new URL(incoming.url ?? "", to);
      const { method = "GET" } = incoming;
      const init = { method, headers: { "content-type": "application/json" } };
      const answer = await fetch(to + pathname, body === "" ? init : { ...init, body });
      const type = answer.headers.get("content-type") ?? "";
      outgoing.writeHead(answer.status, { "content-type": type });
      outgoing.end(await answer.text());
    };
    void forward();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

async function world(secrets: string) {
  const double = await startOpenAiDouble({ models: [{ name: "m" }], embeds: true });
  closing.push(() => double.close());
  const proxy = await startProxy(double.url);
  const scratch = await makeScratch();
  closing.push(() => scratch.remove());
  await scratch.write(
    "nightdesk.yaml",
    `extends: nightdesk:embedded
model: { provider: hosts, name: m }
embed: { provider: hosts, model_id: m }
hosts: [{ name: far, kind: llama-server, url: "${FAR}", proxy: "${proxy.url}" }]
index: { secrets: ${secrets} }
`,
  );
  const config = await scratch.load();
  const { accessOf, choice } = accessOfCommand(config, {});
  const models = createModels(config, undefined, null, { accessOf, choice, features: null });
  const embedder = await createEmbedder(
    config.embed,
    embedderPlaceOf(config, { accessOf, choice }),
  );
  const model = await models.get("m", signal);
  return {
    bodies: proxy.bodies,
    ask: (images: readonly string[] = []) =>
      model.complete(
        {
          messages: [{ role: "user", content: `The key is ${KEY}.`, images }],
          task: { purpose: "chat" },
          maxTokens: 8,
          timeoutMs: 10_000,
        },
        signal,
      ),
    embed: () => embedder.embed([`The key is ${KEY}.`], signal),
  };
}

test("a host elsewhere is sent no key where they are withheld", async () => {
  const { bodies, ask, embed } = await world("withhold_remote");
  await ask();
  await embed();
  expect(bodies.join("\n")).not.toContain(KEY);
  expect(bodies.join("\n").match(/The key is \[withheld: aws_key\]\./g)?.length).toBeGreaterThan(1);
});

test("it is sent them where doctor alone tells of them", async () => {
  const { bodies, ask, embed } = await world("warn");
  await ask();
  await embed();
  expect(bodies.filter((body) => body.includes(KEY)).length).toBeGreaterThan(1);
});

test.each(["withhold_remote", "off"])(
  "a host is sent the pictures of a chat: %s",
  async (secrets) => {
    const { bodies, ask } = await world(secrets);
    const picture = "data:image/png;base64,iVBO";
    // The double reads text alone.
    await ask([picture]).catch(() => undefined);
    expect(bodies.at(-1)).toContain(picture);
  },
);
