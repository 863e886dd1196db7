import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import { originsOf } from "../../../src/shared/config/config-tree.ts";
import { parseYaml } from "../../../src/shared/config/parse-yaml.ts";
import { schemaKeys } from "../../../src/shared/config/validate-values.ts";
import { packageRoot } from "./scratch.ts";

const defaultText = readFileSync(join(packageRoot, "configs/default.yaml"), "utf8");
const load = (file: string, env: Record<string, string> = {}) =>
  loadConfig({ flags: { config: file }, env, cwd: join(packageRoot, "examples"), packageRoot });

describe("default.yaml", () => {
  test("holds every key of the schema and no other", () => {
    const written = [...originsOf(parseYaml(defaultText, "default.yaml")).keys()];
    const lists = ["model.aliases", "schedules", "windows"];
    expect(written.sort()).toEqual(["extends", ...schemaKeys()].sort());
    expect(written).toEqual(expect.arrayContaining(lists));
  });

  test("has the keys in the order of the schema", () => {
    const written = [...originsOf(parseYaml(defaultText, "default.yaml")).keys()];
    expect(written.filter((key) => key !== "extends")).toEqual(schemaKeys());
  });

  test("has a comment above or beside every key", () => {
    const lines = defaultText.split("\n");
    const keys = lines.flatMap((line, n) => (/^\s*[a-z_]+:/.test(line) ? [{ line, n }] : []));
    const bare = keys.filter(
      ({ line, n }) => !/\s#/.test(line) && !/^\s*#/.test(lines[n - 1] ?? ""),
    );
    expect(keys.length).toBeGreaterThan(schemaKeys().length);
    expect(bare.map(({ line }) => line)).toEqual([]);
  });

  test("shows every key of a schedule", () => {
    for (const key of ["name", "cron", "timezone", "command", "catch_up"]) {
      expect(defaultText).toMatch(new RegExp(`# .*\\b${key}: `));
    }
  });

  test("fits the services of the compose file and its environment", async () => {
    const config = await load("nightdesk:default", {
      NIGHTDESK_OLLAMA_BASE_URL: "http://ollama:11434",
    });
    expect(config.database.url).toBe("postgres://nightdesk@postgres:5432/nightdesk");
    expect(config.queue).toMatchObject({ backend: "redis", redis_url: "redis://redis:6379" });
    expect(config.model).toMatchObject({ provider: "ollama", base_url: "http://ollama:11434" });
    expect(config.index.sources).toEqual([
      { name: "corpus", root: "allowed/corpus" },
      { name: "scratch", root: "allowed/scratch" },
    ]);
  });
});

test("embedded.yaml needs no service and no model", async () => {
  const config = await load("nightdesk:embedded");
  expect(config.database).toEqual({
    url: "embedded",
    direct_url: null,
    directory: ".nightdesk",
  });
  expect(config.queue).toMatchObject({ backend: "postgres", redis_url: "" });
  expect(config.model.provider).toBe("extractive");
  expect(config.security.auto_create_allowed_roots).toBe(true);
});

test("the example works in its own folder, wherever it is started", async () => {
  const config = await load(join(packageRoot, "examples/nightdesk.yaml"));
  expect(config.roots.workroot).toBe(join(packageRoot, "examples"));
  expect(config.roots.databaseDirectory).toBe(join(packageRoot, "examples/.nightdesk"));
  expect(config.security.allowed_roots).toEqual(["corpus/"]);
  expect(config.index.sources).toEqual([{ name: "corpus", root: "corpus/" }]);
});

test("the example of a scan reads English in its own folder", async () => {
  const config = await load(join(packageRoot, "examples/scans/nightdesk.yaml"));
  expect(config.roots.workroot).toBe(join(packageRoot, "examples/scans"));
  expect(config.security.allowed_exts).toEqual([".webp"]);
  expect(config.index.ocr).toMatchObject({ languages: ["eng"] });
});
