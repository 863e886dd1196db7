import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { showConfig } from "../../../src/shared/config/show-config.ts";
import { makeScratch } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

const withServers = (servers: string, presets = "{}"): string =>
  `tools: { mcp: { servers: [${servers}] }, presets: ${presets} }`;
const PROGRAM = "{ name: desk, command: x, effect: none }";

test.each([
  ["{ name: desk, command: x }", "servers.0.effect is missing"],
  ["{ name: desk, command: x, effect: some }", 'servers.0.effect is "some"; expected one of none'],
  ["{ name: Desk, command: x, effect: none }", "expected up to 32 lower-case letters"],
  ["{ name: desk, effect: none }", "has neither of command and url"],
  ["{ name: desk, command: x, url: 'http://a/', effect: none }", "has both of command and url"],
  ["{ name: desk, command: x, token_env: T, effect: none }", "token_env is of servers with a url"],
  ["{ name: desk, url: 'http://127.0.0.1/', args: [], effect: none }", "of servers with a command"],
  ["{ name: desk, url: 'ftp://a/', effect: none }", "expected http://host/path or https"],
  ["{ name: desk, url: 'http://me:hush@a/', effect: none }", "holds a user name or password"],
  ["{ name: desk, url: 'http://tickets/', token_env: T, effect: none }", "by https:// alone"],
  ["{ name: desk, url: 'https://a/', token_env: T, token_file: t, effect: none }", "keep one"],
  ["{ name: desk, command: x, effect: none, tools: {} }", "at least one tool"],
  [`${PROGRAM}, ${PROGRAM}`, 'is "desk" like an entry before'],
])("%s is refused", async (servers, message) => {
  await scratch.write("nightdesk.yaml", withServers(servers));
  const said = await scratch.loadError();
  expect(said).toContain(message);
  expect(said).not.toContain("hush");
});

describe("a preset", () => {
  const NAMED = "{ name: desk, command: x, effect: none, tools: { find: none, make: network } }";

  test("may hold tools of servers, and one that promises reading only those without an effect", async () => {
    await scratch.write(
      "nightdesk.yaml",
      withServers(NAMED, "{ readonly_a: [mcp.desk.find], b: [mcp.desk.make, search_index] }"),
    );
    await scratch.load();
  });

  test.each([
    ["{ readonly_a: [mcp.desk.make] }", "names mcp.desk.make, whose effect is network"],
    ["{ a: [mcp.desk.drop] }", "the tools of the server desk do not name it"],
    ["{ a: [mcp.other.find] }", "tools.mcp.servers has no server other, but desk"],
    ["{ a: [mcp.desk] }", "it is not of the form mcp.SERVER.TOOL"],
  ])("%s is refused", async (presets, message) => {
    await scratch.write("nightdesk.yaml", withServers(NAMED, presets));
    expect(await scratch.loadError()).toContain(message);
  });
});

test("what a program is given is not shown", async () => {
  await scratch.write(
    "nightdesk.yaml",
    withServers("{ name: desk, command: x, effect: none, env: { ANY: hush } }"),
  );
  const shown = JSON.stringify(showConfig(await scratch.load()));
  expect(shown).not.toContain("hush");
  expect(shown).toContain('"ANY":"***"');
});
