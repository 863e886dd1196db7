import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { bytesOf, requestPlace, withTries } from "../../../src/worker/sync/http-place.ts";
import type { HttpPlace } from "../../../src/worker/sync/http-place.ts";
import { openContent } from "../../../src/worker/sync/open-content.ts";
import { openRemote } from "../../../src/worker/sync/open-remote.ts";
import type { MirroredSource } from "../../../src/worker/sync/open-remote.ts";
import { openWebDav } from "../../../src/worker/sync/webdav.ts";
import type { ListedFile } from "../../../src/shared/store/index/remote-files.ts";

let server: Server;
let url: URL;
let answer: RequestListener;
beforeAll(async () => {
  server = createServer((asked, response) => {
    answer(asked, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/dav/`);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const PLACE: HttpPlace = { source: "cloud", timeoutMs: 200, isAllowed: () => true };
const { signal } = new AbortController();

async function read(place: Partial<HttpPlace> = {}): Promise<string> {
  const request = { url, method: "GET", headers: {} };
  const asked = { ...PLACE, ...place };
  const response = await requestPlace(asked, request, [200], signal);
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(asked, request, response, signal)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test.each([
  ["SOURCE_UNAVAILABLE", [408, 429, 500, 503]],
  ["SOURCE_DENIED", [301, 302, 307, 401, 403]],
  ["SOURCE_INVALID", [204, 400, 404, 410]],
])("an answer that was not expected is %s by status %j", async (code, statuses) => {
  for (const status of statuses) {
    answer = (_, response) => response.writeHead(status).end();
    await expect(read()).rejects.toMatchObject({ code });
  }
});

test("an answer that rests, that does not begin, or that ends too soon is SOURCE_UNAVAILABLE", async () => {
  const unavailable = { code: "SOURCE_UNAVAILABLE" };
  answer = (_, response) => response.writeHead(200, { "content-length": 4 }).write("ab");
  await expect(read()).rejects.toMatchObject(unavailable);
  answer = () => undefined;
  await expect(read()).rejects.toMatchObject(unavailable);
  answer = (_, response) => {
    response.writeHead(200, { "content-length": 4 }).write("ab", () => response.destroy());
  };
  await expect(read()).rejects.toMatchObject(unavailable);
  answer = (_, response) => response.end("abcd");
  await expect(read()).resolves.toBe("abcd");
});

test("a rest that begins elsewhere than it was asked to is no rest: all is asked for", async () => {
  const ranges: unknown[] = [];
  answer = ({ headers: { range } }, response) => {
    ranges.push(range);
    if (range === undefined) response.end("abcd");
    else response.writeHead(206, { "content-range": "bytes 1-3/4" }).end("bcd");
  };
  const request = { url, method: "GET", headers: {} };
  const begun = { bytes: 2, etag: '"1"' };
  const content = await openContent(PLACE, { request, origin: "" }, begun, signal);
  expect(content).toMatchObject({ from: 0 });
  expect(ranges).toEqual(["bytes=2-", undefined]);
});

test("an address that is not allowed is not asked", async () => {
  let asked = 0;
  answer = (_, response) => {
    asked += 1;
    response.end("abcd");
  };
  await expect(read({ isAllowed: () => false })).rejects.toMatchObject({ code: "SOURCE_DENIED" });
  expect(asked).toBe(0);
});

test("what may pass is tried four times, after rests that double", async () => {
  const askedAt: number[] = [];
  answer = (_, response) => {
    askedAt.push(performance.now());
    response.writeHead(503).end();
  };
  await expect(withTries(signal, () => read())).rejects.toMatchObject({
    code: "SOURCE_UNAVAILABLE",
  });
  const rests = askedAt.slice(1).map((at, place) => at - (askedAt[place] ?? 0));
  expect(rests).toHaveLength(3);
  [250, 500, 1_000].forEach((least, place) => {
    expect(rests[place]).toBeGreaterThanOrEqual(least - 5);
  });
});

const source = (remote: object): MirroredSource =>
  ({
    name: "cloud",
    from: "webdav",
    remote: { url: url.href, timeout_s: 60, allowed_networks: [], ...remote },
  }) as never;

test("a secret that is empty or not there is none, and the variable is named", async () => {
  const roots = { roots: { configRoot: "/" } } as never;
  const remote = { user: "ada", secret_env: "CLOUD_SECRET" };
  for (const env of [{}, { CLOUD_SECRET: "" }])
    await expect(openRemote(source(remote), roots, env)).rejects.toMatchObject({
      ...{ code: "SOURCE_DENIED", message: expect.stringContaining("CLOUD_SECRET") },
    });
  // Without a network of the configuration no address of this machine is asked.
  const opened = await openRemote(source(remote), roots, { CLOUD_SECRET: "x" });
  await expect(opened.list(signal)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "SOURCE_DENIED",
  });
});

const file = (name: string, facts: string): string =>
  `<D:response><D:href>${name}</D:href><D:propstat><D:prop>${facts}</D:prop></D:propstat></D:response>`;
const folder = (name: string): string =>
  file(name, "<D:resourcetype><D:collection/></D:resourcetype>");
const listing = (...entries: readonly string[]): string =>
  `<D:multistatus xmlns:D="DAV:">${entries.join("")}</D:multistatus>`;

async function list(): Promise<readonly ListedFile[]> {
  const remote = openWebDav({ ...PLACE, url, login: null });
  const files: ListedFile[] = [];
  for await (const some of remote.list(signal)) files.push(...some);
  return files;
}

test("a version that says nothing of the second in which it was made holds for that second alone", async () => {
  const madeAt = (secondsAgo: number) => {
    const date = new Date(Date.now() - secondsAgo * 1_000).toUTCString();
    return `<D:getlastmodified>${date}</D:getlastmodified><D:getcontentlength>2</D:getcontentlength>`;
  };
  const versions = async (facts: string) => {
    answer = (_, response) =>
      response.writeHead(207).end(listing(folder("/dav/"), file("/dav/a.txt", facts)));
    return (await list()).map(({ version }) => version);
  };
  const weak = '<D:getetag>W/"1"</D:getetag>';
  expect(await versions(weak + madeAt(0))).toEqual([expect.stringMatching(/^"1" at \d+$/)]);
  expect(await versions(madeAt(0))).toEqual([expect.stringMatching(/^2 bytes, .* at \d+$/)]);
  expect(await versions(weak + madeAt(60))).toEqual(['"1"']);
  expect(await versions(`<D:getetag>"1"</D:getetag>${madeAt(0)}`)).toEqual(['"1"']);
});

test("folders in folders without an end are given up", async () => {
  let asked = 0;
  answer = (request, response) => {
    asked += 1;
    const own = request.url ?? "";
    response.writeHead(207).end(listing(folder(own), folder(`${own}a/`)));
  };
  await expect(list()).rejects.toMatchObject({
    ...{ code: "SOURCE_INVALID", message: expect.stringContaining("60 deep") },
  });
  expect(asked).toBeLessThan(70);
});
