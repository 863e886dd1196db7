import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readNote } from "../../../src/producer/commands/memory.ts";
import { COMMANDS } from "../../../src/shared/commands/table.ts";
import { MEMORY_SOURCES, MEMORY_TYPES } from "../../../src/shared/store/memory.ts";
import { openDesk, rowsOf } from "../desk.ts";
import type { Desk, Ran } from "../desk.ts";

const KEYS = ["a".repeat(32), "b".repeat(32)] as const;
const GONE = "c".repeat(32);

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await desk.database.query(
    `insert into nightdesk_data.documents
       (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, metadata_state, chunk_settings)
     values ('corpus', 'allowed/corpus/a.md', repeat('e', 64), 90, 90, 1, 1, 1, 1, true, 'absent', 'x')`,
  );
  for (const [ordinal, key] of [...KEYS, GONE].entries()) {
    await desk.database.query(
      `insert into nightdesk_data.chunks
         (doc_id, chunk_key, ordinal, start_char, end_char, line_start, line_end, text, sha256, terms)
       select doc_id, $1, $2, 0, 4, 1, 1, 'Bear', repeat('e', 64), 1 from nightdesk_data.documents`,
      [key, ordinal],
    );
  }
});
afterAll(() => desk.dispose());

const memory = (...words: readonly string[]): Promise<Ran> => desk.run("memory", ...words);
const jsonOf = ({ stdout }: Ran): Record<string, unknown> => {
  expect(stdout.split("\n")).toHaveLength(2);
  return JSON.parse(stdout) as Record<string, unknown>;
};
const add = async (...words: readonly string[]) => jsonOf(await memory("add", ...words, "--json"));
const list = async (...words: readonly string[]) =>
  JSON.parse((await memory("list", ...words, "--json")).stdout) as Record<string, unknown>[];
const countNotes = async (): Promise<number> =>
  Number((await rowsOf(desk.database, "select count(*) as n from nightdesk.memory"))[0]?.["n"]);
const clear = () => desk.database.query("delete from nightdesk_data.memory");

describe("memory add", () => {
  test("keeps a note with its type, trimmed, and gives its id", async () => {
    const added = await add("  Use Celsius.\n", "--type", "preference");
    expect(added).toEqual({
      ok: true,
      memory_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: "preference",
      source: "manual",
      content: "Use Celsius.",
      chunk_keys: [],
      dangling_keys: [],
      created_at: expect.stringMatching(/Z$/),
      in_prompts: "yes",
    });
    const rows = await rowsOf(desk.database, "select content from nightdesk.memory");
    expect(rows).toEqual([{ content: "Use Celsius." }]);
  });

  test("prints the id alone, and says whether prompts show the note", async () => {
    const rule = await memory("add", "Name the file first.", "--type", "workflow_rule");
    expect(rule.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    expect(rule.stderr).toContain("joins the prompts");
    const fact = await memory("add", "Ann keeps the hut.", "--type", "user_fact");
    expect(fact.stderr).toContain("A user_fact joins no prompt.");
  });

  test("takes chunk keys one by one and several at once, each once", async () => {
    const added = await add(
      ...["The Bear burns diesel.", "--type", "constraint", "--source", "derived_from_evidence"],
      ...["--chunk-key", KEYS[1], KEYS[0], "--chunk-key", KEYS[1]],
    );
    expect(added).toMatchObject({
      source: "derived_from_evidence",
      chunk_keys: [KEYS[1], KEYS[0]],
    });
  });

  test("refuses keys that the index does not hold, by name, and writes nothing", async () => {
    const before = await countNotes();
    const { code, stdout } = await memory(
      ...["add", "Bears.", "--type", "constraint", "--json"],
      ...["--chunk-key", KEYS[0], "dddd", `${KEYS[1]} or true`],
    );
    expect(code).toBe(1);
    const failure = JSON.parse(stdout) as Record<string, unknown>;
    expect(failure).toMatchObject({ ok: false, error_code: "INPUT_INVALID" });
    expect(failure["error_message"]).toContain(`no chunk "dddd", "${KEYS[1]} or true"`);
    expect(failure["error_message"]).not.toContain(KEYS[0]);
    expect(await countNotes()).toBe(before);
  });

  test("wants the evidence of a note that is derived from it", async () => {
    const { code, stderr } = await memory(
      ...["add", "Bears.", "--type", "constraint", "--source", "derived_from_evidence"],
    );
    expect(stderr).toContain("Give at least one --chunk-key");
    expect(code).toBe(1);
  });

  test("wants a type", async () => {
    const { code, stderr } = await memory("add", "Bears.");
    expect(stderr).toContain("--type is missing. Give one of: preference, project_state");
    expect(code).toBe(2);
  });

  test.each([
    ["blanks", " \n\t ", "holds no words"],
    ["what nobody sees", "\u200b\u2060", "holds no words"],
    ["a terminal's escape", "red \u001b[31m", "holds the control character U+001B"],
    ["NUL", "a\0b", "holds the control character U+0000"],
    ["half of a pair", "a\ud800b", "holds half of a surrogate pair"],
    ["4,001 characters", "🚋".repeat(4_001), "has 4,001 characters, and at most 4,000"],
    ["101 lines", "a\n".repeat(100) + "a", "has 101 lines, and at most 100"],
  ])("refuses %s, and does not repeat the text", async (_, text, words) => {
    const before = await countNotes();
    const { code, stdout, stderr } = await memory("add", text, "--type", "preference");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`INPUT_INVALID: The text of the note ${words}`);
    expect(stderr).not.toContain("🚋");
    expect(await countNotes()).toBe(before);
  });

  test("keeps 4,000 characters beyond the basic plane, and what looks like SQL or a template", async () => {
    const long = "🚋".repeat(4_000);
    expect(await add(long, "--type", "user_fact")).toMatchObject({ content: long });
    const odd = "'); drop table x; -- {{footer}} $1 \\ %s\r\nsecond\tline";
    const kept = odd.replace("\r\n", "\n");
    expect(await add(odd, "--type", "user_fact")).toMatchObject({ content: kept });
  });
});

describe("a note on stdin", () => {
  const read = (...chunks: readonly (string | Uint8Array)[]) =>
    readNote("-", Readable.from(chunks.map((chunk) => Buffer.from(chunk))));

  test("is taken whole, also where a character is cut between two reads", async () => {
    const bytes = Buffer.from(" The Bär\r\nburns diesel.\n");
    const cut = bytes.indexOf(0xa4);
    expect(await read(bytes.subarray(0, cut), bytes.subarray(cut))).toBe("The Bär\nburns diesel.");
  });

  test.each([
    ["nothing", [], "holds no words"],
    ["what is not UTF-8", [Buffer.from([0x61, 0xe4, 0x62])], "is not UTF-8"],
    ["more than a note", ["x".repeat(4_001)], "has 4,001 characters"],
  ] as const)("is refused when it is %s", async (_, chunks, words) => {
    await expect(read(...chunks)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(words),
    });
  });

  test("is not read to an end that does not come", async () => {
    let chunks = 0;
    const endless = Readable.from(
      (function* () {
        for (;;) {
          chunks += 1;
          yield Buffer.alloc(100_000, "x");
        }
      })(),
    );
    await expect(readNote("-", endless)).rejects.toThrow("over 1,000,000 bytes");
    expect(chunks).toBeLessThan(40);
  });
});

describe("memory list", () => {
  test("shows the newest first, all of them or one type", async () => {
    await clear();
    await add("one", "--type", "preference");
    await add("two", "--type", "user_fact");
    await add("three", "--type", "preference");
    const texts = (notes: readonly Record<string, unknown>[]) =>
      notes.map(({ content }) => content);
    expect(texts(await list())).toEqual(["three", "two", "one"]);
    expect(texts(await list("--type", "preference"))).toEqual(["three", "one"]);
    expect(await list("--type", "constraint")).toEqual([]);
    const { stderr } = await memory("list", "--type", "constraint");
    expect(stderr).toContain("There are no notes of type constraint yet.");
  });

  test("names the evidence that is gone", async () => {
    await clear();
    const note = await add("x", "--type", "constraint", "--chunk-key", KEYS[0], GONE);
    await desk.database.query("delete from nightdesk_data.chunks where chunk_key = $1", [GONE]);
    expect(await list()).toMatchObject([
      { chunk_keys: [KEYS[0], GONE], dangling_keys: [GONE], in_prompts: "yes" },
    ]);
    const { stdout, stderr } = await memory("list");
    expect(stdout).toContain("2 passages, 1 gone");
    expect(stderr).toContain(
      `Note ${String(note["memory_id"])} rests on passages that are no longer`,
    );
    expect(stderr).toContain(GONE);
  });

  test("says which notes the newest 8,000 characters leave out", async () => {
    await clear();
    const { stderr: alone } = await memory("add", "a".repeat(3_000), "--type", "preference");
    expect(alone).not.toContain("left out");
    await add("b".repeat(4_000), "--type", "user_fact");
    await add("c".repeat(3_000), "--type", "constraint");
    const { stderr } = await memory("add", "d".repeat(3_000), "--type", "workflow_rule");
    expect(stderr).toContain("Only the newest 8,000 characters of notes do: 1 older note left out");
    const uses = (await list()).map(({ content, in_prompts: use }) => [String(content)[0], use]);
    expect(uses).toEqual([
      ["d", "yes"],
      ["c", "yes"],
      ["b", "no"],
      ["a", "left_out"],
    ]);
  });
});

describe("memory delete", () => {
  test("deletes one note, and an id that is not there is not found", async () => {
    await clear();
    const id = String((await add("x", "--type", "preference"))["memory_id"]);
    await add("y", "--type", "preference");
    expect(jsonOf(await memory("delete", id.toUpperCase(), "--json"))).toEqual({
      ok: true,
      memory_id: id,
    });
    expect(await list()).toMatchObject([{ content: "y" }]);
    const again = await memory("delete", id, "--json");
    expect({ code: again.code, ...jsonOf(again) }).toMatchObject({
      code: 1,
      error_code: "NOT_FOUND",
    });
  });

  test.each(["nonsense", "' or true --", ""])("takes %j for no id", async (id) => {
    const before = await countNotes();
    const { code, stderr } = await memory("delete", id);
    expect(stderr).toContain("NOT_FOUND: There is no note");
    expect(code).toBe(1);
    expect(await countNotes()).toBe(before);
  });
});

describe("memory.enabled: false", () => {
  test.each([
    [["add", "x", "--type", "preference"]],
    [["list"]],
    [["delete", "5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11"]],
    [["export", "notes.json"]],
  ])("ends memory %j with MEMORY_ERROR and the key", async (words) => {
    await desk.write("off.yaml", "extends: nightdesk.yaml\nmemory: { enabled: false }\n");
    const { code, stdout } = await memory(...words, "--config", "off.yaml", "--json");
    expect(code).toBe(1);
    const failure = JSON.parse(stdout) as Record<string, unknown>;
    expect(failure).toMatchObject({ ok: false, error_code: "MEMORY_ERROR" });
    expect(failure["error_message"]).toContain("memory.enabled is false");
  });
});

test("the command line offers the types and sources that the table takes", () => {
  const choicesOf = (name: string, flag: string) =>
    COMMANDS.find((command) => command.name === name)?.options.find(({ flags }) =>
      flags.startsWith(flag),
    )?.choices;
  expect(choicesOf("memory add", "--type")).toEqual(MEMORY_TYPES);
  expect(choicesOf("memory list", "--type")).toEqual(MEMORY_TYPES);
  expect(choicesOf("memory add", "--source")).toEqual(MEMORY_SOURCES);
});
