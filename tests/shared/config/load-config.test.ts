import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { makeScratch, packageRoot } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

const seed = (value: number) => `model: { seed: ${String(value)} }\n`;

describe("which file is read", () => {
  test.each([
    ["the flag wins over everything", ["flag", "env", "here", "parent"], 1],
    ["the environment wins over what is found", ["env", "here", "parent"], 2],
    ["the current folder wins over its parents", ["here", "parent"], 3],
    ["a parent's file is found", ["parent"], 4],
    ["the shipped embedded.yaml is left", [], 42],
  ])("%s", async (_name, present, expected) => {
    const cwd = join(scratch.folder, "a", "b");
    await mkdir(cwd, { recursive: true });
    if (present.includes("here")) await scratch.write("a/b/nightdesk.yaml", seed(3));
    if (present.includes("parent")) await scratch.write("nightdesk.yaml", seed(4));
    const flags = present.includes("flag")
      ? { config: await scratch.write("flag.yaml", seed(1)) }
      : {};
    const env = present.includes("env")
      ? { NIGHTDESK_CONFIG: await scratch.write("env.yaml", seed(2)) }
      : {};
    const config = await scratch.load({ flags, env, cwd });
    expect(config.model.seed).toBe(expected);
  });

  test("relative names count from the current folder, and blank ones count as not given", async () => {
    await scratch.write("conf/my.yaml", seed(7));
    const named = await scratch.load({ env: { NIGHTDESK_CONFIG: "conf/my.yaml" } });
    expect(named.file).toBe(join(scratch.folder, "conf/my.yaml"));
    const blank = await scratch.load({ flags: { config: "" }, env: { NIGHTDESK_CONFIG: " " } });
    expect(blank.file).toBe(join(packageRoot, "configs/embedded.yaml"));
  });

  test("a named file that is not there is an error that says who named it", async () => {
    expect(await scratch.loadError({ flags: { config: "no.yaml" } })).toMatch(
      /^flag --config: the configuration file "no\.yaml" does not exist; expected a YAML file/,
    );
    expect(await scratch.loadError({ env: { NIGHTDESK_CONFIG: "no.yaml" } })).toMatch(
      /^environment NIGHTDESK_CONFIG: /,
    );
  });

  test("a folder of that name is an error, not a missing file", async () => {
    await mkdir(join(scratch.folder, "nightdesk.yaml"));
    expect(await scratch.loadError()).toMatch(/"nightdesk\.yaml" is a folder/);
  });

  test("a file with nothing but comments changes nothing", async () => {
    await scratch.write("nightdesk.yaml", "# later\n");
    expect((await scratch.load()).database.url).toBe("embedded");
  });
});

describe("extends", () => {
  test("mappings merge, lists and scalars replace, over several files", async () => {
    await scratch.write(
      "base/one.yaml",
      "extends: nightdesk:default\nmodel: { seed: 1, num_ctx: 4096 }\n",
    );
    await scratch.write(
      "two.yaml",
      "extends: base/one.yaml\nask: { full_evidence_triggers: [whole] }\n",
    );
    await scratch.write("nightdesk.yaml", "extends: two.yaml\nmodel: { seed: 3 }\n");
    const config = await scratch.load();
    expect(config.model).toMatchObject({ seed: 3, num_ctx: 4096, provider: "ollama" });
    expect(config.ask.full_evidence_triggers).toEqual(["whole"]);
    expect(config.ask.top_n).toBe(8);
  });

  test("without it a file lies over the embedded configuration, so a server's URL is enough", async () => {
    await scratch.write("nightdesk.yaml", "database: { url: 'postgres://nd@db/nd' }\n");
    const config = await scratch.load();
    expect(config.queue.backend).toBe("postgres");
    expect(config.model.provider).toBe("extractive");
  });

  test("null stands alone, and then every key is demanded", async () => {
    await scratch.write("nightdesk.yaml", "extends: null\nlog: { level: info }\n");
    const message = await scratch.loadError();
    expect(message).toContain("nightdesk.yaml:1:1: workroot is missing; expected text");
    expect(message).toContain(
      "nightdesk.yaml:1:1: security is missing; expected a mapping of keys",
    );
  });

  test("a cycle is an error that shows it", async () => {
    await scratch.write("nightdesk.yaml", "extends: b.yaml\n");
    await scratch.write("b.yaml", "log: { level: warn }\nextends: ./nightdesk.yaml\n");
    expect(await scratch.loadError()).toBe(
      "b.yaml:2:1: extends itself: nightdesk.yaml → b.yaml → nightdesk.yaml; take one extends away",
    );
  });

  test("eight files are enough, also where links hide a cycle", async () => {
    await scratch.write("nightdesk.yaml", "extends: loop/nightdesk.yaml\n");
    await symlink(scratch.folder, join(scratch.folder, "loop"));
    expect(await scratch.loadError()).toMatch(/extends more than 7 files: /);
  });

  test.each([
    ["extends: 5", "extends is no file name"],
    ["extends: [a.yaml]", "extends is no file name"],
    ["extends: ''", "extends is no file name"],
    ["extends: gone.yaml", '"gone.yaml" does not exist'],
    ["extends: nightdesk:other", '"nightdesk:other" does not exist'],
  ])("%s is refused at its line", async (line, expected) => {
    await scratch.write("nightdesk.yaml", `# hello\n${line}\n`);
    const message = await scratch.loadError();
    expect(message).toMatch(/^nightdesk\.yaml:2:1: /);
    expect(message).toContain(expected);
  });
});

describe("the loaded value", () => {
  test("is frozen to the last part", async () => {
    const config = await scratch.load();
    expect(() => Object.assign(config.model, { seed: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.index.sources[0] ?? {}, { name: "x" })).toThrow(TypeError);
    expect(() => Object.assign(config.security.allowed_exts, { 0: ".exe" })).toThrow(TypeError);
    expect(() => Object.assign(config.roots, { workroot: "/" })).toThrow(TypeError);
    const origins = config.origins as Map<string, string>;
    expect(() => origins.set("log.level", "me")).toThrow(TypeError);
    expect(() => {
      origins.clear();
    }).toThrow(TypeError);
  });

  test("knows where each value came from", async () => {
    await scratch.write("nightdesk.yaml", "model: { seed: 3 }\n");
    const { origins } = await scratch.load({
      flags: { logLevel: "debug" },
      env: { DATABASE_URL: "postgres://nd@db/nd" },
    });
    expect(origins.get("model.seed")).toBe("nightdesk.yaml");
    expect(origins.get("log.level")).toBe("flag --log-level");
    expect(origins.get("database.url")).toBe("environment DATABASE_URL");
    expect(origins.get("queue.backend")).toBe(join(packageRoot, "configs/embedded.yaml"));
    expect(origins.get("ask.top_n")).toBe(join(packageRoot, "configs/default.yaml"));
    expect(origins.get("model.aliases")).toBe(join(packageRoot, "configs/default.yaml"));
  });
});
