import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { showConfig } from "../../../src/shared/config/show-config.ts";
import { schemaKeys } from "../../../src/shared/config/validate-values.ts";
import { makeScratch, packageRoot } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

test("every key is shown once, in the order of the schema, with its value and origin", async () => {
  await scratch.write("nightdesk.yaml", "{ log: { level: warn }, model: { seed: 7 } }");
  const shown = showConfig(await scratch.load({ flags: { logLevel: "debug" } }));
  expect(shown.map(({ key }) => key)).toEqual(schemaKeys());
  const row = (key: string) => shown.find((one) => one.key === key);
  expect(row("log.level")).toEqual({
    key: "log.level",
    value: "debug",
    origin: "flag --log-level",
  });
  expect(row("model.seed")).toMatchObject({ value: 7, origin: "nightdesk.yaml" });
  expect(row("ask.top_n")).toMatchObject({
    value: 8,
    origin: join(packageRoot, "configs/default.yaml"),
  });
});

test("an alias with a dotted name keeps its origin", async () => {
  await scratch.write("nightdesk.yaml", "model: { aliases: { small.1: 'llama3.2:1b' } }");
  expect(showConfig(await scratch.load())).toContainEqual({
    key: 'model.aliases."small.1"',
    value: "llama3.2:1b",
    origin: "nightdesk.yaml",
  });
});

test.each(["postgres:u:hush@h", "postgresql:/u:hush@h/nd"])(
  "%j, which lacks its slashes, is refused and not shown",
  async (url) => {
    const message = await scratch.loadError({ env: { DATABASE_URL: url } });
    expect(message).toContain("environment DATABASE_URL: database.url is a text that is not shown");
    expect(message).not.toContain("hush");
  },
);

test.each(["dashboard: { token: 90210 }", "on_batch_end: { secret: 90210 }"])(
  "a secret that YAML reads as a number is not shown: %s",
  async (yaml) => {
    await scratch.write("nightdesk.yaml", yaml);
    const message = await scratch.loadError();
    expect(message).toContain("is a value that is not shown; expected text");
    expect(message).not.toContain("90210");
  },
);

test("no password is shown, whatever form it has", async () => {
  await scratch.write("nightdesk.yaml", "model: { base_url: 'http://me:hush@host' }");
  const shown = showConfig(
    await scratch.load({
      env: {
        DATABASE_URL: "postgres://nd:hush@db/nd?sslpassword=hush",
        REDIS_URL: "redis://:hush@cache",
      },
    }),
  );
  expect(JSON.stringify(shown)).not.toContain("hush");
  expect(shown).toContainEqual({
    key: "database.url",
    value: "postgres://nd:***@db/nd?sslpassword=***",
    origin: "environment DATABASE_URL",
  });
});
