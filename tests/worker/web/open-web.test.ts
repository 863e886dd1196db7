import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { Config } from "../../../src/shared/config/schema.ts";
import { openWeb } from "../../../src/worker/web/open-web.ts";
import type { WebDoor } from "../../../src/worker/web/open-web.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";
import { json, page, startPages } from "./page-server.ts";
import type { PageServer } from "./page-server.ts";

const KEY = "k-3f9a-secret";
const XML_DECLARATION = '<?xml version="1.0" encoding="ISO-8859-1"?>';
const FOUND = {
  title: "Ferry  <strong>Bear</strong>\nnow",
  url: "https://ferries.example/bear#top",
  words: "Leaves at 7:40.",
};
type WebConfig = Config["tools"]["web"];
type SearchKeys = Partial<WebConfig["search"]>;

describeOnPostgres("the web of a worker", () => {
  let store: TestDatabase;
  let server: PageServer;
  let folder: string;
  let status = 200;
  let headers: Record<string, string> = {};
  beforeAll(async () => {
    store = await openPostgres();
    folder = await mkdtemp(join(tmpdir(), "nightdesk-web-"));
    await writeFile(join(folder, "key.txt"), `${KEY}\n`);
    const { title, url, words } = FOUND;
    const others = [
      { title: "bad", url: "javascript:alert(1)", content: "" },
      { title: null, url: "http://b.example/" },
    ];
    const searxng = {
      query: "?",
      results: [{ title, url, content: words, engine: "x" }, ...others],
    };
    const brave = { type: "search", web: { results: [{ title, url, description: words }] } };
    server = await startPages({
      "/search": (request, response) => {
        if (status === 200) json(searxng)(request, response);
        else response.writeHead(status, headers).end("busy");
      },
      "/res/v1/web/search": json(brave),
      "/api/web_search": json({ results: [{ title, url, content: words.repeat(1_000) }] }),
      "/bear": page(
        `<title>Bear</title><main><p>${"The Bear leaves at 7:40. ".repeat(12)}</p></main>`,
      ),
      "/empty": page("<script>render()</script>"),
      "/deep": page("<div>".repeat(5_000)),
      "/latin": page(Buffer.from("<p>F\xe4hre</p>", "latin1"), { "content-type": "text/html" }),
      "/meta": page(Buffer.from('<meta charset="iso-8859-1"><p>F\xe4hre</p>', "latin1"), {
        "content-type": "text/html",
      }),
      "/feed": page(Buffer.from(`${XML_DECLARATION}<a>F\xe4hre</a>`, "latin1"), {
        "content-type": "application/rss+xml",
      }),
      "/plain": page("one\r\ntwo", { "content-type": "text/plain" }),
      "/zero": page("a\0b", { "content-type": "text/plain" }),
      "/long": page("x".repeat(60_000), { "content-type": "text/plain" }),
    });
  });
  beforeEach(async () => {
    status = 200;
    headers = {};
    await store.db.query("delete from nightdesk_data.hosts");
  });
  afterEach(() => {
    server.asked.length = 0;
  });
  afterAll(async () => {
    await server.close();
    await store.close();
    await rm(folder, { recursive: true });
  });

  const open = (
    search: SearchKeys = {},
    given: Partial<Omit<WebConfig, "search">> = {},
  ): WebDoor => {
    const web: WebConfig = {
      enabled: true,
      ask: "unknown",
      user_agent: "nightdesk",
      ports: [80, 443],
      only_hosts: null,
      deny_hosts: [],
      allow_hosts: [server.place],
      max_bytes: 1_000_000,
      timeout_s: 10,
      fetches_per_minute: 6_000,
      ...given,
      search: {
        provider: "searxng",
        base_url: server.url,
        key_env: null,
        key_file: null,
        per_minute: 6_000,
        breaker_failures: 2,
        ...search,
      },
    };
    const config = {
      tools: { web },
      ask: { max_chars_full_read: 50_000 },
      roots: { configRoot: folder },
    };
    return openWeb({
      config: config as unknown as Config,
      env: { SEARCH_KEY: KEY },
      database: store.db,
    });
  };
  const signal = new AbortController().signal;
  const search = (door: WebDoor, limit = 5) => door.search("ferry bear", limit, signal);
  const fetchPage = (path: string, door = open()) => door.fetchPage(`${server.url}${path}`, signal);
  const host = async () =>
    (await store.db.query("select * from nightdesk.hosts where host = $1", [server.url]))
      .rows[0] as Readonly<Record<string, unknown>>;

  test("finds pages by SearXNG, each on a line, and none that can't be fetched", async () => {
    expect(await search(open())).toEqual({
      kind: "results",
      provider: "searxng",
      pages: [
        {
          title: "Ferry Bear now",
          url: "https://ferries.example/bear",
          snippet: "Leaves at 7:40.",
        },
        { title: "", url: "http://b.example/", snippet: "" },
      ],
    });
    expect(server.asked).toEqual(["/search?q=ferry+bear&format=json"]);
  });

  test("finds pages by Brave, with the key of an environment variable", async () => {
    const found = await search(open({ provider: "brave", key_env: "SEARCH_KEY" }), 3);
    expect(found).toMatchObject({
      kind: "results",
      pages: [{ url: "https://ferries.example/bear" }],
    });
    expect(server.asked).toEqual(["/res/v1/web/search?q=ferry+bear&count=3"]);
    expect(server.requests.at(-1)?.headers["x-subscription-token"]).toBe(KEY);
  });

  test("finds pages by Ollama, with the key of a file, and cuts what it gives of them", async () => {
    const found = await search(open({ provider: "ollama", key_file: "key.txt" }));
    expect(found.kind === "results" && found.pages[0]?.snippet).toHaveLength(400);
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test.each([
    [{ provider: "brave", key_env: "NOT_THERE" }, "NOT_THERE"],
    [{ provider: "brave", key_file: "none.txt" }, "key_file holds no key"],
  ] as const)("asks nobody with %j", async (keys, why) => {
    expect(await search(open(keys))).toMatchObject({
      code: "WEB_UNAVAILABLE",
      message: expect.stringContaining(why),
    });
    expect(server.asked).toEqual([]);
  });

  test("is refused where it is off", async () => {
    const off = open({}, { enabled: false });
    expect(await search(off)).toMatchObject({ code: "WEB_DENIED" });
    expect(await fetchPage("/bear", off)).toMatchObject({
      code: "WEB_DENIED",
      message: "web_fetch is disabled: set tools.web.enabled.",
    });
    expect(await search(open({ provider: null }))).toMatchObject({ code: "WEB_DENIED" });
    expect(server.asked).toEqual([]);
  });

  test("is told when the provider is offline, and gives it up after some failures", async () => {
    const gone = await startPages({});
    await gone.close();
    const door = open({ base_url: gone.url });
    for (const answer of [await search(door), await search(door)]) {
      expect(answer).toMatchObject({
        code: "WEB_UNAVAILABLE",
        message: expect.stringContaining("ECONNREFUSED"),
      });
    }
    expect(await search(door)).toMatchObject({
      code: "WEB_UNAVAILABLE",
      message: expect.stringContaining("paused for another 5 s"),
    });
  });

  test("leaves a provider alone that asks for it, as long as it asks, in all workers", async () => {
    status = 429;
    headers = { "retry-after": "1800" };
    const [one, other] = [open(), open()];
    expect(await search(one)).toMatchObject({ message: expect.stringContaining("answered 429") });
    expect(await search(other)).toMatchObject({
      code: "WEB_UNAVAILABLE",
      message: expect.stringMatching(/another 1(?:800|79\d) s/),
    });
    expect(server.asked).toHaveLength(1);
    expect(await host()).toMatchObject({ state: "open", provider: "web" });
    expect(JSON.stringify(await host())).not.toContain(KEY);
  });

  test("asks again with one call when the pause is over, and goes on when that is answered", async () => {
    status = 503;
    const door = open();
    await search(door);
    const pauseOver = () =>
      store.db.query(
        "update nightdesk_data.hosts set next_probe_at = clock_timestamp() where state = 'open'",
      );
    await pauseOver();
    await search(door);
    const { next_try_at: next } = await host();
    // Each try that fails makes the pause longer: 5 s, then 10.
    expect((next as Date).getTime() - Date.now()).toBeGreaterThan(7_000);
    await pauseOver();
    status = 200;
    server.asked.length = 0;
    const all = await Promise.all([search(door), search(open()), search(open())]);
    expect(all.filter(({ kind }) => kind === "results").length).toBeGreaterThan(0);
    expect(await host()).toMatchObject({ state: "closed", failures: 0 });
    expect(await search(door)).toMatchObject({ kind: "results" });
  });

  test("lets one call alone find out whether a provider is back", async () => {
    await search(open());
    await store.db.query(
      `update nightdesk_data.hosts set state = 'open', opened_at = clock_timestamp(), next_probe_at = clock_timestamp(),
              prober = gen_random_uuid(), probing_until = clock_timestamp() + interval '20 s'`,
    );
    server.asked.length = 0;
    expect(await search(open())).toMatchObject({ code: "WEB_UNAVAILABLE" });
    expect(server.asked).toEqual([]);
  });

  test("makes no more calls a minute than are allowed, all workers together", async () => {
    const doors = [open({ per_minute: 240 }), open({ per_minute: 240 })];
    const startedAt = performance.now();
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, at) => search(doors[at % 2] ?? open())),
    );
    expect(all.every(({ kind }) => kind === "results")).toBe(true);
    // Eight turns, a quarter of a second apart.
    expect(performance.now() - startedAt).toBeGreaterThan(1_700);
  });

  test("tells of a turn that is too far away, without waiting for it", async () => {
    const door = open({ per_minute: 1 });
    expect(await search(door)).toMatchObject({ kind: "results" });
    const startedAt = performance.now();
    expect(await search(door)).toMatchObject({
      code: "WEB_UNAVAILABLE",
      message: expect.stringContaining("the next turn is in 60 s"),
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test.each([403, 500])("is told what is wrong where the provider answers %d", async (code) => {
    status = code;
    const hint = code === 403 ? 'need "json" under search.formats' : "answered 500";
    expect(await search(open())).toMatchObject({ message: expect.stringContaining(hint) });
  });

  test("gives a page as evidence, with its hashes and when it was fetched", async () => {
    const before = Date.now();
    const fetched = await fetchPage("/bear");
    if (fetched.kind === "refused") throw new Error(fetched.message);
    const { reading } = fetched;
    expect(reading).toMatchObject({
      path: `${server.url}/bear`,
      extractor: "web/2",
      truncated: false,
      page: { title: "Bear" },
      text: expect.stringMatching(/^The Bear leaves at 7:40\./),
    });
    expect(reading.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(reading.sha256).not.toBe(reading.textSha256);
    expect(Date.parse(reading.page?.retrievedAt ?? "")).toBeGreaterThanOrEqual(before - 1);
  });

  test.each([
    ["/meta", "Fähre"],
    ["/feed", `${XML_DECLARATION}<a>Fähre</a>`],
    ["/latin", "F�hre"],
    ["/plain", "one\ntwo"],
  ])("reads %s in its own letters", async (path, text) => {
    const fetched = await fetchPage(path);
    expect(fetched.kind === "page" && fetched.reading.text).toBe(text);
  });

  test.each([
    ["/empty", "holds no text"],
    ["/deep", "nested too deeply"],
    ["/zero", "no text"],
    ["/long", "60000 characters"],
  ])("refuses %s, which %s", async (path, why) => {
    expect(await fetchPage(path)).toMatchObject({
      code: "WEB_UNREADABLE",
      message: expect.stringContaining(why),
    });
  });
});
