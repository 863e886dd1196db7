import { expect, test } from "@jest/globals";
import { searchKeyHint } from "../../../src/shared/config/search-key.ts";

const config = (presets: Readonly<Record<string, readonly string[]>>) =>
  ({
    tools: {
      presets,
      web: { enabled: true, search: { provider: "brave", key_env: "NO_KEY", key_file: null } },
    },
    roots: { configRoot: "/nowhere" },
  }) as unknown as Parameters<typeof searchKeyHint>[0];

test("a key of searches that is missing is told where the preset may search, and nowhere else", async () => {
  const own = config({ looking: ["search_index", "web_search"], reading: ["search_index"] });
  expect(await searchKeyHint(own, {}, ["looking"])).toBe(
    "web_search needs a key, which the worker may have; here the variable NO_KEY (tools.web.search.key_env) holds no key.",
  );
  expect(await searchKeyHint(own, { NO_KEY: "k" }, ["looking"])).toBeNull();
  expect(await searchKeyHint(own, {}, ["reading", undefined])).toBeNull();
  expect(await searchKeyHint(own, {}, [])).toBeNull();
});
