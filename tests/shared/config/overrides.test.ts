import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { embedBaseUrl, modelBaseUrl } from "../../../src/shared/config/base-url.ts";
import { makeScratch } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

const URL_1 = "postgres://nd:hush-1@db/nd";

describe("secrets", () => {
  test.each([
    ["DATABASE_URL", "postgres://nd:hush@db/nd"],
    ["REDIS_URL", "redis://:hush@cache:6379"],
  ])("%s wins over the file, and its _FILE variant gives the same", async (name, url) => {
    await scratch.write("secret", `${url}\n`);
    const direct = await scratch.load({ env: { [name]: url } });
    const pointed = await scratch.load({ env: { [`${name}_FILE`]: "secret" } });
    expect([direct.database.url, direct.queue.redis_url]).toContain(url);
    expect([pointed.database.url, pointed.queue.redis_url]).toContain(url);
    expect([...pointed.origins.values()]).toContain(`environment ${name}_FILE`);
  });

  test.each([
    ["url\n", "line feed"],
    ["url\r\n", "carriage return and line feed"],
    ["url\n\n\n", "several lines"],
    ["\uFEFFurl", "byte order mark"],
  ])("%j is read without its %s", async (content) => {
    await scratch.write("secret", content.replace("url", URL_1));
    const config = await scratch.load({ env: { DATABASE_URL_FILE: "secret" } });
    expect(config.database.url).toBe(URL_1);
  });

  test("a variable and its _FILE variant together are an error", async () => {
    await scratch.write("secret", URL_1);
    const env = { DATABASE_URL: URL_1, DATABASE_URL_FILE: "secret" };
    const message = await scratch.loadError({ env });
    expect(message).toBe(
      "environment DATABASE_URL_FILE: DATABASE_URL is set as well; expected only one of the two",
    );
  });

  test.each([
    ["missing", null, "does not exist"],
    ["empty", "\n", "is empty"],
    ["binary", new Uint8Array([0xff, 0xfe, 0x00]), "is not UTF-8 text"],
    ["huge", "x".repeat(70_000), "has more than 65536 bytes"],
  ])("a %s file is an error that names it", async (name, content, reason) => {
    if (content !== null) await scratch.write(name, content);
    const message = await scratch.loadError({ env: { REDIS_URL_FILE: name } });
    expect(message).toContain(`environment REDIS_URL_FILE: the file "${name}" ${reason}`);
  });

  test.each([
    ["DATABASE_URL", "mysql://root:hush@db/x"],
    ["DATABASE_URL", "hush"],
    ["DATABASE_URL", "postgres://nd:hu#sh@db/nd"],
    ["DATABASE_URL", "postgres://nd:hush"],
    ["DATABASE_URL", "nd:hush@db/nd"],
    ["DATABASE_URL", "host=db password=hush"],
  ])("%s=%s is refused without the password in the message", async (name, value) => {
    const message = await scratch.loadError({ env: { [name]: value } });
    expect(message).toMatch(/^environment DATABASE_URL: database\.url is /);
    expect(message).not.toMatch(/hu#?sh/);
  });

  test("a password in a file's wrong place stays out of the message", async () => {
    await scratch.write("nightdesk.yaml", "database: 'postgres://nd:hush@db/nd'\nqueue: hush\n");
    const message = await scratch.loadError();
    expect(message).toContain("database is");
    expect(message).not.toContain("hush");
  });
});

describe("the log level", () => {
  test.each([
    [{ logLevel: "error" }, { NIGHTDESK_LOG_LEVEL: "warn" }, "error"],
    [{}, { NIGHTDESK_LOG_LEVEL: "warn" }, "warn"],
    [{ logLevel: " " }, { NIGHTDESK_LOG_LEVEL: "" }, "debug"],
  ])(
    "of flags %j and environment %j over a file with debug is %s",
    async (flags, env, expected) => {
      await scratch.write("nightdesk.yaml", "log: { level: debug }\n");
      expect((await scratch.load({ flags, env })).log.level).toBe(expected);
    },
  );

  test("is refused by the name of the flag that gave it", async () => {
    expect(await scratch.loadError({ flags: { logLevel: "loud" } })).toBe(
      'flag --log-level: log.level is "loud"; expected one of trace, debug, info, warn, error, silent',
    );
  });
});

describe("the model host", () => {
  const all = {
    flag: "http://flag:1",
    ours: "http://ours:2",
    theirs: "http://theirs:3",
    file: "http://file:4",
  };
  const hosts = async (given: Partial<typeof all>) => {
    const { flag, ours, theirs, file } = given;
    await scratch.write(
      "nightdesk.yaml",
      file === undefined ? "" : `model: { base_url: '${file}' }`,
    );
    return scratch.load({
      flags: flag === undefined ? {} : { ollamaBaseUrl: flag },
      env: { NIGHTDESK_OLLAMA_BASE_URL: ours, OLLAMA_BASE_URL: theirs },
    });
  };

  test.each([
    [all, "http://flag:1"],
    [{ ...all, flag: " " }, "http://ours:2"],
    [{ ...all, flag: "", ours: "\t" }, "http://theirs:3"],
    [{ ...all, flag: "", ours: "", theirs: "" }, "http://file:4"],
    [{ file: "  " }, "http://127.0.0.1:11434"],
    [{}, "http://127.0.0.1:11434"],
  ])("of %j is %s", async (given, expected) => {
    const config = await hosts(given);
    expect(modelBaseUrl(config)).toBe(expected);
    expect(embedBaseUrl(config)).toBe(expected);
  });

  test("that is not valid is an error only when it is asked for, and does not fall through", async () => {
    const config = await hosts({ theirs: "localhost:11434", file: all.file });
    expect(() => modelBaseUrl(config)).toThrow(
      /^environment OLLAMA_BASE_URL: model\.base_url is "localhost:11434", and it does not begin with http/,
    );
  });

  test("with a password never shows it", async () => {
    const config = await hosts({ ours: "http://me:hush@host" });
    expect(() => modelBaseUrl(config)).toThrow(
      /is a text that is not shown, and it holds a user name/,
    );
  });

  test("has a path where it speaks the protocol of gateways, and no other has", async () => {
    const url = "https://gw.example/team";
    const load = async (model: object, embed: object) => {
      await scratch.write("nightdesk.yaml", JSON.stringify({ model, embed }));
      return scratch.load();
    };
    const openAi = { provider: "openai-compatible", name: "m", base_url: `${url}/` };
    const ollama = { provider: "ollama", model_id: "m" };
    const config = await load(openAi, {
      ...openAi,
      base_url: null,
      name: undefined,
      model_id: "m",
    });
    expect([modelBaseUrl(config), embedBaseUrl(config)]).toEqual([url, url]);
    // The embedder takes the model's URL, and an Ollama is at none with a path.
    const mixed = await load(openAi, ollama);
    expect(modelBaseUrl(mixed)).toBe(url);
    expect(() => embedBaseUrl(mixed)).toThrow(/model\.base_url is .* and it has a path/);
    const other = await load({ ...openAi, provider: "ollama" }, {});
    expect(() => modelBaseUrl(other)).toThrow(/it has a path; expected http/);
    const ends = await load({ ...openAi, base_url: `${url}/v1` }, {});
    expect(() => modelBaseUrl(ends)).toThrow(
      /ends with \/v1, .*with what stands before \/v1, like/,
    );
  });

  test("of the embedder is its own where the file names one, and the flag's before that", async () => {
    const content = "embed: { base_url: 'http://EMBED:5/' }";
    await scratch.write("nightdesk.yaml", content);
    const env = { OLLAMA_BASE_URL: all.theirs };
    const config = await scratch.load({ env });
    expect([modelBaseUrl(config), embedBaseUrl(config)]).toEqual([all.theirs, "http://embed:5"]);
    const flagged = await scratch.load({ env, flags: { ollamaBaseUrl: all.flag } });
    expect([modelBaseUrl(flagged), embedBaseUrl(flagged)]).toEqual([all.flag, all.flag]);
  });
});
