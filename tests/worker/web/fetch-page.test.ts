import type { LookupAddress } from "node:dns";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { fetchBytes } from "../../../src/worker/web/fetch-page.ts";
import type { FetchLimits } from "../../../src/worker/web/fetch-page.ts";
import type { UrlRules } from "../../../src/worker/web/url-rules.ts";
import { page, redirect, startPages } from "./page-server.ts";
import type { PageServer } from "./page-server.ts";

const BYTES = 100_000;
const HTML = "<p>The ferry Bear leaves at 7:40.</p>";

let server: PageServer;
/** What answers nothing but that it was reached. */
let inside: PageServer;
const open = new Set<NodeJS.Timeout>();

beforeAll(async () => {
  inside = await startPages({ "/": page("inside") });
  server = await startPages({
    "/": page(HTML),
    "/gzip": page(gzipSync(HTML), { "content-encoding": "gzip" }),
    "/deflate": page(deflateSync(HTML), { "content-encoding": "deflate" }),
    "/br": page(brotliCompressSync(HTML), { "content-encoding": "br" }),
    "/bomb": page(gzipSync(Buffer.alloc(200_000_000)), { "content-encoding": "gzip" }),
    "/twice": page(gzipSync(gzipSync(HTML)), { "content-encoding": "gzip, gzip" }),
    "/broken": page(Buffer.from("no gzip"), { "content-encoding": "gzip" }),
    "/declared": page("x".repeat(BYTES + 1)),
    "/pdf": page("%PDF-1.7", { "content-type": "application/pdf" }),
    "/untyped": (_, response) => response.writeHead(200).end("?"),
    "/gone": (_, response) => response.writeHead(410).end(),
    "/header": (_, response) =>
      response.writeHead(200, { "x-long": "x".repeat(100_000) }).end("long"),
    "/endless": (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = (): void => {
        while (!response.destroyed && response.write("more and more of it. ".repeat(100)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    },
    "/drip": (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const drip = setInterval(() => response.write("."), 20);
      open.add(drip);
      response.once("close", () => {
        clearInterval(drip);
      });
    },
    "/silent": () => undefined,
    "/moved": redirect("/"),
    "/loop": redirect("/loop"),
    "/to-inside": (_, response) => {
      redirect(`${inside.url}/`)(_, response);
    },
    "/to-metadata": redirect("http://169.254.169.254/latest/meta-data/"),
    "/to-file": redirect("file:///etc/passwd"),
    "/to-user": redirect("http://user:secret@example.org/"),
    "/nowhere": redirect("http://["),
  });
});
beforeEach(() => {
  server.asked.length = 0;
  inside.asked.length = 0;
});
afterAll(async () => {
  for (const drip of open) clearInterval(drip);
  await server.close();
  await inside.close();
});

const rules = (given: Partial<UrlRules> = {}): UrlRules => ({
  ports: [80, 443],
  onlyHosts: null,
  denyHosts: [],
  allowHosts: [server.place],
  ...given,
});
const limits = (given: Partial<FetchLimits> = {}): FetchLimits => ({
  userAgent: "nightdesk-test",
  maxBytes: BYTES,
  timeoutMs: 20_000,
  ...given,
});
const fetched = (path: string, given: Partial<FetchLimits> = {}, allow: Partial<UrlRules> = {}) =>
  fetchBytes(
    path.startsWith("/") ? `${server.url}${path}` : path,
    rules(allow),
    limits(given),
    new AbortController().signal,
  );
const named = (...addresses: string[]): Pick<Required<FetchLimits>, "lookup"> => ({
  lookup: (_name, _options, callback) => {
    const found = addresses.map((address): LookupAddress => ({
      address,
      family: address.includes(":") ? 6 : 4,
    }));
    callback(null, found);
  },
});

describe("a page", () => {
  test.each(["/", "/gzip", "/deflate", "/br", "/moved"])(
    "%s comes as its bytes are",
    async (path) => {
      expect(await fetched(path)).toMatchObject({
        kind: "fetched",
        bytes: Buffer.from(HTML),
        mediaType: "text/html",
        charset: "utf-8",
      });
    },
  );

  test("is asked for without anything that says who asks", async () => {
    await fetched("/");
    const headers = server.requests.at(-1)?.headers ?? {};
    expect(Object.keys(headers).sort()).toEqual([
      ...["accept", "accept-encoding", "connection", "host", "user-agent"],
    ]);
    expect(headers["user-agent"]).toBe("nightdesk-test");
  });

  test("that moved is known by where it was in the end, without a fragment", async () => {
    const found = await fetched("/moved#part");
    expect(found.kind === "fetched" && found.url.href).toBe(`${server.url}/`);
  });

  test.each([
    ["/bomb", "WEB_UNREADABLE", "more than 100000 bytes"],
    ["/declared", "WEB_UNREADABLE", "more than 100000 bytes"],
    ["/endless", "WEB_UNREADABLE", "more than 100000 bytes"],
    ["/twice", "WEB_UNREADABLE", "packed in an unknown way"],
    ["/pdf", "WEB_UNREADABLE", "application/pdf"],
    ["/untyped", "WEB_UNREADABLE", "of no type"],
    ["/broken", "WEB_UNAVAILABLE", "broke off"],
    ["/gone", "WEB_UNAVAILABLE", "410"],
    ["/header", "WEB_UNAVAILABLE", "HPE_HEADER_OVERFLOW"],
    ["/loop", "WEB_UNAVAILABLE", "more than 5 times"],
    ["/nowhere", "WEB_UNAVAILABLE", "without a Location"],
    ["/to-inside", "WEB_DENIED", "Port"],
    ["/to-metadata", "WEB_DENIED", "169.254.169.254 is a link-local address"],
    ["/to-file", "INVALID_ARGS", "http://"],
    ["/to-user", "WEB_DENIED", "a user or a password"],
    ["ftp://example.org/", "INVALID_ARGS", "http://"],
    ["no url", "INVALID_ARGS", "http://"],
    [`http://example.org/${"x".repeat(3_000)}`, "INVALID_ARGS", "2048 characters"],
  ])("%s is %s, because: %s", async (path, code, message) => {
    expect(await fetched(path)).toMatchObject({
      kind: "refused",
      code,
      message: expect.stringContaining(message),
    });
    expect(inside.asked).toEqual([]);
  });

  test.each(["/drip", "/silent"])("%s ends when its time is over", async (path) => {
    const startedAt = performance.now();
    expect(await fetched(path, { timeoutMs: 300 })).toMatchObject({
      code: "WEB_UNAVAILABLE",
      message: expect.stringContaining("within 0.3 s"),
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test("is given up with the run that wants it", async () => {
    const controller = new AbortController();
    const waiting = fetchBytes(`${server.url}/silent`, rules(), limits(), controller.signal);
    controller.abort(new Error("the run is over"));
    await expect(waiting).rejects.toThrow("the run is over");
  });
});

describe("a name that leads inside", () => {
  const anyPort = (): Partial<UrlRules> => ({
    allowHosts: [],
    ports: [Number(server.place.split(":")[1])],
  });
  const port = (): string => server.place.split(":")[1] ?? "";

  test.each([
    ["127.0.0.1", "loopback"],
    ["10.1.2.3", "private"],
    ["100.64.0.1", "private"],
    ["169.254.169.254", "link-local"],
    ["224.0.0.1", "multicast"],
    ["0.0.0.0", "reserved"],
    ["::1", "loopback"],
    ["fd00::1", "private"],
    ["fe80::1", "link-local"],
    ["::ffff:127.0.0.1", "loopback"],
    ["64:ff9b::7f00:1", "loopback"],
    ["2002:7f00:1::", "reserved"],
  ])("%s is refused as %s", async (address, kind) => {
    const refused = await fetched(`http://inside.example:${port()}/`, named(address), anyPort());
    expect(refused).toMatchObject({
      code: "WEB_DENIED",
      message: expect.stringContaining(`${kind} address`),
    });
    expect(server.asked).toEqual([]);
  });

  test("is refused where an allowed name is another, and taken where it is the one", async () => {
    const allow = { allowHosts: [`pages.example:${port()}`] };
    expect(
      await fetched(`http://pages.example:${port()}/`, named("127.0.0.1"), allow),
    ).toMatchObject({ kind: "fetched" });
    expect(
      await fetched(`http://evil.example:${port()}/`, named("127.0.0.1"), allow),
    ).toMatchObject({
      code: "WEB_DENIED",
    });
  });

  test("is refused at a redirect, too, and nothing is sent there", async () => {
    const names: Record<string, string> = {
      "outside.example": "127.0.0.1",
      "rebound.example": "127.0.0.1",
    };
    const moving = await startPages({ "/": redirect(`http://rebound.example:${port()}/`) });
    const [, movingPort = ""] = moving.place.split(":");
    const found = await fetched(
      `http://outside.example:${movingPort}/`,
      {
        lookup: (name, _options, callback) => {
          callback(null, [{ address: names[name] ?? "", family: 4 }]);
        },
      },
      { allowHosts: [`outside.example:${movingPort}`], ports: [Number(port())] },
    );
    expect(found).toMatchObject({
      code: "WEB_DENIED",
      message: "rebound.example leads to the loopback address 127.0.0.1.",
    });
    expect(server.asked).toEqual([]);
    await moving.close();
  });
});

describe("however an address is spelled", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const spelled = (value: number, style: string): string =>
    style === "hex"
      ? `0x${value.toString(16)}`
      : style === "octal"
        ? `0${value.toString(8)}`
        : `${value}`;
  const style = fc.constantFrom("decimal", "hex", "octal");
  const inner = fc.oneof(
    fc.tuple(fc.constant(127), byte, byte, byte),
    fc.tuple(fc.constant(10), byte, byte, byte),
    fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
    fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
    fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
    fc.constant([0, 0, 0, 0] as const),
  );
  const host = fc
    .tuple(inner, fc.tuple(style, style, style, style), fc.integer({ min: 0, max: 6 }))
    .map(([bytes, styles, form]) => {
      const [a = 0, b = 0, c = 0, d = 0] = bytes;
      const whole = ((a * 256 + b) * 256 + c) * 256 + d;
      const parts = bytes.map((value, at) => spelled(value, styles[at] ?? "decimal"));
      const hex = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(":");
      const dotted = bytes.join(".");
      return (
        [
          parts.join("."),
          spelled(whole, styles[0]),
          `${parts[0] ?? ""}.${spelled((b * 256 + c) * 256 + d, styles[1])}`,
          `[::ffff:${dotted}]`,
          `[64:ff9b::${hex}]`,
          parts.join("。"),
          Array.from(dotted, (char) =>
            char === "." ? "．" : String.fromCodePoint(char.charCodeAt(0) + 0xfee0),
          ).join(""),
        ][form] ?? dotted
      );
    });

  test("no request goes to a private one", async () => {
    const looked: string[] = [];
    const lookup: NonNullable<FetchLimits["lookup"]> = (name, _options, callback) => {
      looked.push(name);
      callback(null, [{ address: "127.0.0.1", family: 4 }]);
    };
    const [, port = ""] = server.place.split(":");
    const given = { allowHosts: [], ports: [Number(port)] };
    await fc.assert(
      fc.asyncProperty(
        host,
        fc.constantFrom("", "."),
        fc.constantFrom("", "user@", "example.org@"),
        async (spelling, dot, user) => {
          const url = `http://${user}${spelling}${dot}:${port}/`;
          const found = await fetched(url, { lookup, timeoutMs: 2_000 }, given);
          expect([url, found.kind]).toEqual([url, "refused"]);
        },
      ),
      { numRuns: 400 },
    );
    expect(server.asked).toEqual([]);
    expect(looked).toEqual([]);
  });

  test.each(["localhost", "LOCALHOST", "localhost.", "x.localhost"])(
    "%s is refused",
    async (name) => {
      const [, port = ""] = server.place.split(":");
      const given = { allowHosts: [], ports: [Number(port)] };
      const found = await fetched(`http://${name}:${port}/`, {}, given);
      expect(found.kind).toBe("refused");
      expect(server.asked).toEqual([]);
    },
  );
});

describe("hosts", () => {
  test.each([
    [{ denyHosts: ["127.0.0.1"] }, "WEB_DENIED", "deny_hosts"],
    [{ allowHosts: [], ports: [8080] }, "WEB_DENIED", "Port"],
    [{ onlyHosts: ["example.org"] }, "fetched", ""],
  ])("by %j: %s", async (given, end, why) => {
    const found = await fetched("/", {}, given);
    expect(found.kind === "fetched" ? found.kind : found.code).toBe(end);
    if (found.kind === "refused") expect(found.message).toContain(why);
  });

  test("that are none of the only ones are refused, and those below one are taken", async () => {
    const only = { onlyHosts: ["*.example.org"], allowHosts: [] };
    const denied = await fetched("http://example.net/", named("127.0.0.1"), only);
    expect(denied).toMatchObject({ message: expect.stringContaining("only_hosts") });
    const below = await fetched("http://a.example.org/", named("127.0.0.1"), only);
    expect(below).toMatchObject({ message: expect.stringContaining("loopback") });
  });
});
