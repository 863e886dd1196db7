import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { callWebhook } from "../../../src/worker/jobs/webhook.ts";

let server: Server;
let host: string;
let answer: RequestListener;
beforeAll(async () => {
  server = createServer((asked, response) => {
    answer(asked, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const call = (isAllowed = true, limitMs = 10_000, password = "secret") =>
  callWebhook(
    `http://ada:${password}@${host}/hook`,
    {
      ...{ key: "k", body: "{}", signature: { "webhook-id": "k" }, timeoutS: 10 },
      isAllowed: () => isAllowed,
    },
    AbortSignal.timeout(limitMs),
  );

test.each([
  ["told", [200, 202, 204]],
  ["may_try_again", [408, 425, 429, 500, 502, 503]],
  ["refused", [301, 302, 307, 308, 400, 401, 404, 410]],
])("a batch is %s by status %j", async (kind, statuses) => {
  for (const status of statuses) {
    let asked = 0;
    answer = (_, response) => {
      asked += 1;
      response.writeHead(status, { location: `http://${host}/elsewhere` }).end();
    };
    expect(await call()).toMatchObject({ kind, status });
    expect(asked).toBe(1);
  }
});

test("a post carries its key and its signature, and a failure says nothing of the user", async () => {
  let headers: IncomingHttpHeaders = {};
  answer = (asked, response) => {
    headers = asked.headers;
    response.writeHead(500).end();
  };
  const { error } = await call();
  expect(headers).toMatchObject({
    ...{ "idempotency-key": "k", "webhook-id": "k", "content-type": "application/json" },
    authorization: `Basic ${Buffer.from("ada:secret").toString("base64")}`,
  });
  expect(error).not.toContain("secret");
});

test.each([
  ["50%off", "50%off"],
  ["a%2Fb", "a/b"],
])("the password %s of the URL arrives as %s", async (written, sent) => {
  let given: string | undefined;
  answer = (asked, response) => {
    given = asked.headers.authorization;
    response.writeHead(200).end();
  };
  expect(await call(true, 10_000, written)).toMatchObject({ kind: "told" });
  expect(given).toBe(`Basic ${Buffer.from(`ada:${sent}`).toString("base64")}`);
});

test("an address that is not allowed is not called, and one that says nothing may be tried again", async () => {
  let asked = 0;
  answer = () => {
    asked += 1;
  };
  expect(await call(false)).toMatchObject({ kind: "refused", status: null });
  expect(asked).toBe(0);
  expect(await call(true, 300)).toMatchObject({ kind: "may_try_again", status: null });
});
