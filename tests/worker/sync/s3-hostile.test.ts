import { createHash } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { describeOn } from "../../support/describe-on.ts";
import { listen } from "../../support/http-relay.ts";
import { startSyncedSource } from "../../support/synced-source.ts";
import type { SyncedSource } from "../../support/synced-source.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const WHOLE = "<IsTruncated>false</IsTruncated>";
const object = (key: string, etag = "1", size = 2): string =>
  `<Contents><Key>${key}</Key><ETag>&quot;${etag}&quot;</ETag><Size>${size}</Size></Contents>`;
const listing = (contents: string, head = WHOLE): string =>
  `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType>${head}${contents}</ListBucketResult>`;
const problem = (code: string, more = ""): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code>${more}<StringToSign>what was signed</StringToSign></Error>`;
const KEPT = object("docs/a.txt") + object("docs/b.txt");

type Given = { readonly status?: number; readonly body: string; readonly bytes?: number };

describeOn("postgres", "a server of S3 that means harm", () => {
  let server: Server;
  let cloud: SyncedSource;
  let asked: IncomingMessage[] = [];
  let list: (token: string | null) => Given;
  let give: (key: string, request: IncomingMessage, response: ServerResponse) => void;

  beforeAll(async () => {
    const listening = await listen((request, response) => {
      asked.push(request);
      const url = new URL(request.url ?? "", "http://host");
      if (!url.searchParams.has("list-type")) {
        give(decodeURIComponent(url.pathname), request, response);
        return;
      }
      const { status = 200, body, bytes } = list(url.searchParams.get("continuation-token"));
      response.writeHead(status, {
        date: "Thu, 01 Jan 1970 00:00:00 GMT",
        "content-length": bytes ?? Buffer.byteLength(body),
      });
      response.write(body, () => (bytes === undefined ? response.end() : response.destroy()));
    });
    server = listening.server;
    const remote = {
      ...{ url: `${listening.url}/docs`, bucket: "night", user: "me", secret_env: "S3_SECRET" },
      ...{ region: "eu-central-1", allowed_networks: ["127.0.0.1"] },
    };
    cloud = await startSyncedSource("s3", remote, { S3_SECRET: "top-secret" });
    list = () => ({ body: listing(KEPT) });
    give = (_, __, response) => response.end("ok");
    await cloud.sync();
  });
  beforeEach(() => {
    asked = [];
    give = (_, __, response) => response.end("ok");
  });
  afterAll(async () => {
    server.close();
    await cloud.stop();
  });

  test.each([
    ["a key outside of the folder", listing(object("other/a.txt"))],
    ["a folder of a like name", listing(object("docs-secret/a.txt"))],
    ["more to come, and not where", listing("", "<IsTruncated>true</IsTruncated>")],
    ["nothing, and not whether that is all", listing("", "")],
    ["a page for people", "<html><body><p>Log in to this network</p></body></html>"],
    ["an entity", listing(KEPT).replace("<List", '<!DOCTYPE x [<!ENTITY a "b">]><List')],
    ["elements in elements", listing(`${"<a>".repeat(60)}${"</a>".repeat(60)}`)],
    ["half of itself", listing(KEPT).slice(0, -30)],
    ["more keys than it was asked for", listing(object("docs/x.exe").repeat(10_001))],
  ])("is not believed where it lists %s", async (_, body) => {
    list = () => ({ body });
    await expect(cloud.sync({ accept_deletions: true })).resolves.toBe("SOURCE_INVALID");
    expect(await cloud.names()).toEqual(["a.txt", "b.txt"]);
  });

  test("is not asked for the same page for ever", async () => {
    const truncated = (token: string): string =>
      `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;
    list = () => ({ body: listing(KEPT, truncated("same")) });
    await expect(cloud.sync()).resolves.toBe("SOURCE_INVALID");
    expect(asked).toHaveLength(2);
  });

  test("is read page by page, with tokens of all characters, and each of its pages tried again", async () => {
    const token = "a+/=&?ü ";
    let tries = 0;
    list = (given) => {
      if (given === null)
        return {
          body: listing(
            object("docs/a.txt"),
            `<IsTruncated>true</IsTruncated><NextContinuationToken>${token.replace("&", "&amp;")}</NextContinuationToken>`,
          ),
        };
      tries += 1;
      if (given !== token) return { status: 400, body: problem("InvalidArgument") };
      return tries < 3
        ? { status: 503, body: problem("SlowDown") }
        : { body: listing(object("docs/b.txt")) };
    };
    await expect(cloud.sync()).resolves.toMatchObject({ listed: 2, unchanged: 2, deleted: 0 });
    expect(tries).toBe(3);
  });

  test.each([
    ["SOURCE_DENIED", "s3:ListBucket", 403, problem("AccessDenied")],
    ["SOURCE_DENIED", "access key", 403, problem("InvalidAccessKeyId")],
    ["SOURCE_DENIED", "secret", 403, problem("SignatureDoesNotMatch")],
    ["SOURCE_DENIED", "expired", 400, problem("ExpiredToken")],
    ["SOURCE_DENIED", "01 Jan 1970", 403, problem("RequestTimeTooSkewed")],
    ["SOURCE_DENIED", "403", 403, "no XML"],
    ["SOURCE_DENIED", "403", 403, ""],
    ["SOURCE_DENIED", "401", 401, ""],
    ["SOURCE_DENIED", "leads elsewhere", 307, problem("TemporaryRedirect")],
    [
      "SOURCE_INVALID",
      "eu-west-1",
      301,
      problem("PermanentRedirect", "<Region>eu-west-1</Region>"),
    ],
    [
      "SOURCE_INVALID",
      "eu-west-1",
      400,
      problem("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"),
    ],
    ["SOURCE_INVALID", "no bucket night", 404, problem("NoSuchBucket")],
    ["SOURCE_INVALID", "400 (constructor)", 400, problem("constructor")],
    ["SOURCE_INVALID", "404", 404, "<html/>"],
    ["SOURCE_UNAVAILABLE", "503", 503, problem("SlowDown")],
  ])("ends a job with %s (%s) by status %i %s", async (code, words, status, body) => {
    list = () => ({ status, body });
    const ended = await cloud.run();
    expect(ended).toMatchObject({
      kind: code === "SOURCE_UNAVAILABLE" ? "parked" : "failed",
      ...{ code, message: expect.stringContaining(words) },
    });
    expect(JSON.stringify(ended)).not.toMatch(/top-secret|what was signed/);
    expect(asked).toHaveLength(code === "SOURCE_UNAVAILABLE" ? 4 : 1);
    expect(await cloud.names()).toEqual(["a.txt", "b.txt"]);
  });

  test("is asked no more where its refusal breaks off", async () => {
    list = () => ({ status: 403, body: problem("InvalidAccessKeyId").slice(0, 40), bytes: 900 });
    await expect(cloud.sync()).resolves.toBe("SOURCE_DENIED");
    expect(asked).toHaveLength(1);
  });

  test("loses single objects by their own answers, and all of them by that of the account", async () => {
    const answers: Readonly<Record<string, readonly [number, string]>> = {
      "/docs/denied.txt": [403, problem("AccessDenied")],
      "/docs/encrypted.txt": [400, problem("InvalidRequest")],
      "/docs/gone.txt": [404, problem("NoSuchKey")],
      "/docs/odd.txt": [403, "no XML"],
    };
    const body = listing(
      KEPT + [...Object.keys(answers), "/docs/z.txt"].map((key) => object(key.slice(1))).join(""),
    );
    list = () => ({ body });
    give = (key, _, response) => {
      const [status, text] = answers[key] ?? [200, "ok"];
      response.writeHead(status).end(text);
    };
    await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1, skipped: 4 });
    const rows = await cloud.rows("name, reason");
    expect(rows).toEqual(
      expect.arrayContaining([
        { name: "denied.txt", reason: "it may not be read (AccessDenied)" },
        { name: "encrypted.txt", reason: "its place answers 400 (InvalidRequest)" },
        { name: "gone.txt", reason: "it was gone when it was to be fetched" },
        { name: "odd.txt", reason: "its place answers 403" },
      ]),
    );
    asked = [];
    give = (_, __, response) => response.writeHead(400).end(problem("ExpiredToken"));
    await expect(cloud.sync()).resolves.toBe("SOURCE_DENIED");
    expect(asked).toHaveLength(2);
  });

  test("has keys made harmless that no address or file system takes, and none left out without a word", async () => {
    const keys = [
      ...[
        "docs/%2e%2e/up.txt",
        "docs/../up2.txt",
        "docs/x/./here.txt",
        "docs/%E4.txt",
        "docs/end/",
      ],
      ...["docs/a%00b.txt", "docs/%0D%0Alog.txt", "docs/plus%2Band+space.txt", "docs/a.txt/in.txt"],
      `docs/${"%C3%BC".repeat(120)}.txt`,
    ];
    list = () => ({ body: listing(KEPT + keys.map((key) => object(key)).join("")) });
    give = (key, _, response) => response.end(key);
    await expect(cloud.sync({ accept_deletions: true })).resolves.toMatchObject({
      ...{ listed: 12, fetched: 5, skipped: 5 },
    });
    const names = await cloud.names();
    expect(names).toEqual(
      expect.arrayContaining([
        ...["a_b.txt", "__log.txt", "plus+and space.txt"],
        expect.stringMatching(/^in~[0-9a-f]{16}\.txt$/),
        expect.stringMatching(/^ü+~[0-9a-f]{8}\.txt$/),
      ]),
    );
    const skipped = (await cloud.rows("fate, reason")) as { fate: string; reason: string }[];
    expect(
      skipped
        .filter(({ fate }) => fate === "skipped")
        .map(({ reason }) => reason)
        .sort(),
    ).toEqual([
      "its key ends in a slash",
      ...Array<string>(3).fill('its key has a name "." or "..", of which no address can be made'),
      "its key is no UTF-8",
    ]);
  });

  test("joins no two contents of an object, though it obeys no condition", async () => {
    list = () => ({ body: listing(KEPT + object("docs/large.txt", "9", 2_000_000)) });
    let gets = 0;
    give = (_, { headers }, response) => {
      gets += 1;
      const letter = gets === 1 ? "x" : "y";
      const content = Buffer.alloc(2_000_000, letter);
      const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
      response.writeHead(from === 0 ? 200 : 206, {
        ...{ etag: `"${letter}"`, "content-length": content.length - from },
        ...(from === 0 ? {} : { "content-range": `bytes ${from}-1999999/2000000` }),
      });
      if (gets > 1) response.end(content.subarray(from));
      else
        response.write(content.subarray(0, 1_200_000), () =>
          setTimeout(() => response.destroy(), 50),
        );
    };
    await expect(cloud.sync({ accept_deletions: true })).resolves.toMatchObject({ fetched: 1 });
    expect(gets).toBe(3);
    const sha256 = createHash("sha256").update(Buffer.alloc(2_000_000, "y")).digest("hex");
    await expect(cloud.rows("sha256")).resolves.toContainEqual({ sha256 });
  });

  test("takes no more memory for a large object", async () => {
    list = () => ({ body: listing(KEPT + object("docs/huge.txt", "1", 60_000_000)) });
    const chunk = Buffer.alloc(4_000_000, "z");
    let [sent, most] = [0, 0];
    collectGarbage();
    const atFirst = process.memoryUsage().arrayBuffers;
    give = (_, __, response) => {
      const next = (): void => {
        collectGarbage();
        most = Math.max(most, process.memoryUsage().arrayBuffers - atFirst);
        if ((sent += 1) > 15) response.end();
        else response.write(chunk, next);
      };
      response.writeHead(200, { "content-length": 60_000_000 });
      next();
    };
    await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1, bytes: 60_000_000 });
    expect(most).toBeLessThan(15_000_000);
  });
});
