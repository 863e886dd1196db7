import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { refuse } from "../../../src/shared/failure.ts";
import {
  detectToolCall,
  fromNativeCalls,
  grammarOf,
  parseToolCall,
} from "../../../src/worker/tools/parse-tool-call.ts";
import { READ_TEXT_FILE } from "../../../src/worker/tools/read-text-file.ts";
import { TOOLS } from "../../../src/worker/tools/all-tools.ts";
import { registryOf } from "../../../src/worker/tools/registry.ts";
import { SEARCH_INDEX } from "../../../src/worker/tools/search-index.ts";
import { TOOL_EFFECTS } from "../../../src/shared/config/tool-presets.ts";
import { defineTool, outputOf, parseArgs, unknownTool } from "../../../src/worker/tools/tool.ts";
import { readingOf } from "../../support/pipeline-world.ts";
import { toolReach } from "../../support/tool-reach.ts";

const countWords = defineTool({
  name: "count_words",
  description: "Counts how often a word stands in a file.",
  args: z.strictObject({
    path: z.string("a text"),
    word: z.string("a text"),
    limit: z.int("a whole number").optional(),
  }),
  effect: "none",
  move: "count",
  isEvidence: false,
  limits: { callsPerRun: 2 },
  async run({ path, word }, { readFile }) {
    const reading = await readFile(path);
    if (reading.kind === "refused") return reading;
    return outputOf(`${reading.text.split(word).length - 1} times`);
  },
});
const registry = registryOf([READ_TEXT_FILE, countWords]);
const grammar = grammarOf(registry);
const args = { path: "a.md", word: "rail" };
const called = { kind: "call", name: "count_words", args, trailingText: "" };

describe("the registry", () => {
  test("has tools whose query and place are among their arguments, and each search says what it looks for", () => {
    for (const { move, query, place, argNames } of TOOLS.tools) {
      for (const named of [query, place]) {
        if (named !== undefined) expect(argNames).toContain(named.argument);
      }
      expect(query !== undefined).toBe(move === "search");
    }
  });

  test("gives tools by their names, in the order in which they were given", () => {
    expect(registry.names).toEqual(["read_text_file", "count_words"]);
    expect(registry.find("count_words")).toBe(countWords);
    expect(registry.find("toString")).toBeUndefined();
  });

  test.each([
    ["two tools of one name", [READ_TEXT_FILE, { ...countWords, name: "read_text_file" }]],
    ["a name that is a pattern", [{ ...countWords, name: "a.*b" }]],
    ["no name", [{ ...countWords, name: "" }]],
  ])("takes no tools with %s", (_, tools) => {
    expect(() => registryOf(tools)).toThrow(RangeError);
  });

  test("ships the tools that configurations may name, with the effects that they are told of", () => {
    expect(Object.fromEntries(TOOLS.tools.map(({ name, effect }) => [name, effect]))).toEqual(
      TOOL_EFFECTS,
    );
  });
});

describe("a tool", () => {
  test("has the JSON schema of its arguments", () => {
    expect(countWords.parameters).toEqual({
      type: "object",
      properties: {
        path: { type: "string" },
        word: { type: "string" },
        limit: { type: "integer" },
      },
      required: ["path", "word"],
      additionalProperties: false,
    });
  });

  test("says of a day its format alone, and refuses a day that is none all the same", () => {
    expect(JSON.stringify(SEARCH_INDEX.parameters)).toContain('"format":"date"');
    expect(JSON.stringify(SEARCH_INDEX.parameters)).not.toContain("pattern");
    expect(parseArgs(SEARCH_INDEX, { query: "pump", until: "2026-02-30" })).toMatchObject({
      code: "INVALID_ARGS",
    });
  });

  test("reaches the world by what its run hands it", async () => {
    const reading = readingOf("a.md", "rail by rail");
    const reach = toolReach({ readFile: async () => reading });
    await expect(countWords.run(args, reach)).resolves.toEqual(outputOf("2 times"));
    const refusal = refuse("FILE_NOT_FOUND", "There is no file a.md.");
    const refused = toolReach({ readFile: async () => refusal });
    await expect(countWords.run(args, refused)).resolves.toBe(refusal);
  });

  test("takes the arguments of its schema", () => {
    expect(parseArgs(countWords, args)).toEqual({ kind: "args", args });
  });

  test.each([
    [{ path: "a.md" }, `count_words needs "word", a text.`],
    [{ ...args, limit: "3" }, `count_words needs "limit", a whole number.`],
    [
      { ...args, Path: "b.md" },
      `count_words has no argument "Path"; there are "path", "word", "limit".`,
    ],
  ])("refuses %j with what it takes", (given, message) => {
    expect(parseArgs(countWords, given)).toEqual(refuse("INVALID_ARGS", message));
  });

  test("that is not there is refused with those that are", () => {
    expect(unknownTool("run_shell", registry.tools)).toEqual(
      refuse(
        "INVALID_ARGS",
        `There is no tool "run_shell"; there are read_text_file, count_words.`,
      ),
    );
  });
});

describe("a call of any tool of a registry is read", () => {
  const json = JSON.stringify({ type: "tool_call", name: "count_words", args });
  const native = JSON.stringify({ name: "count_words", arguments: args });
  test.each([
    ["in our own form", json],
    ["in a native spelling that nothing announces", native],
    ["behind a tag", `<tool_call>\n${native}\n</tool_call>`],
  ])("%s", (_, reply) => {
    expect(parseToolCall(reply, grammar)).toEqual(called);
    expect(detectToolCall(reply, grammar)).toBe(true);
  });

  test.each([
    ["as Python with its arguments by name", 'count_words(path="a.md", word="rail")'],
    ["as Python with its arguments by place", 'count_words("a.md", "rail")'],
    ["as name and JSON", `count_words\n${JSON.stringify(args)}`],
    ["in a function tag", `<function=count_words>${JSON.stringify(args)}</function>`],
    ["by ReAct", `Action: count_words\nAction Input: ${JSON.stringify(args)}`],
  ])("and malformed %s", (_, reply) => {
    expect(parseToolCall(reply, grammar)).toMatchObject({ kind: "malformed" });
    expect(detectToolCall(reply, grammar)).toBe(true);
  });

  test("from a host's own protocol", () => {
    expect(fromNativeCalls([{ name: "count_words", args }], "", grammar)).toEqual(called);
  });

  test.each([native, 'count_words("a.md", "rail")', `count_words\n${JSON.stringify(args)}`])(
    "and %s is none where its tool is not there",
    (reply) => {
      expect(parseToolCall(reply)).toBeNull();
      expect(detectToolCall(reply)).toBe(false);
    },
  );

  test("and no JSON is one of a registry without tools", () => {
    const none = grammarOf(registryOf([]));
    expect(parseToolCall('{"type":"end"}', none)).toBeNull();
    expect(detectToolCall(`Trains run [1]. {"type":"end"}`, none)).toBe(false);
  });
});
