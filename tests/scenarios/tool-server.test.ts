import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { indexFolder } from "../../bench/index-folder.ts";
import { openDesk } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";
import { jsonLine, jsonLines, runBin } from "../support/run-bin.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await mkdir(join(desk.workroot, "corpus"));
  await desk.write("corpus/pay.md", "# Crew\n\nThe pay day is the fifth.\n");
  await indexFolder(desk.database, desk.workroot, false);
});
afterAll(() => desk.dispose());

const ask = (lines: readonly (object | string)[]) =>
  runBin(["tool-server"], {
    cwd: desk.workroot,
    stdin: lines
      .map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`)
      .join(""),
  });

const codesOf = (result: object): unknown =>
  "checks" in result
    ? (result.checks as object[]).map((check) => ({ ...check, message: "" }))
    : result;

test("gives what query and doctor print, types what is wrong, and ends with its stdin", async () => {
  const ended = await ask([
    { id: 1, method: "search", params: { text: "pay day", limit: 3 } },
    { id: "d", method: "doctor", params: { ollama: false } },
    { id: 2, method: "approve" },
    { id: 3, method: "search", params: { text: "?!" } },
    { id: 4, method: "search", params: { text: "pay", source: "nowhere" } },
    { id: 5, method: "search", params: { text: "pay", limit: 0 } },
    "nonsense",
  ]);
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
  const answers = new Map(jsonLines(ended).map(({ id, ...answer }) => [id, answer]));

  const query = await runBin(["query", "pay day", "--limit", "3", "--explain", "--json"], {
    cwd: desk.workroot,
  });
  expect(answers.get(1)).toEqual({ ok: true, result: jsonLine(query) });
  const doctor = await runBin(["doctor", "--no-ollama", "--json"], { cwd: desk.workroot });
  // How much of the disk is free changes meanwhile.
  const asked = answers.get("d") as { readonly result: object };
  expect(codesOf(asked.result)).toEqual(codesOf(jsonLine(doctor)));

  expect(answers.get(2)).toMatchObject({ ok: false, error_code: "INPUT_INVALID" });
  expect(answers.get(3)).toMatchObject({ ok: false, error_code: "INVALID_QUERY" });
  expect(answers.get(4)).toMatchObject({ ok: false, error_code: "NOT_FOUND" });
  expect(answers.get(5)).toMatchObject({
    ok: false,
    error_code: "INPUT_INVALID",
    error_message: expect.stringContaining("params.limit"),
  });
  expect(answers.get(null)).toMatchObject({ ok: false, error_code: "INPUT_INVALID" });
});

test("looks again for a database that was not there", async () => {
  const ended = await runBin(["tool-server"], {
    cwd: desk.workroot,
    env: { DATABASE_URL: "postgres://127.0.0.1:1/none" },
    stdin: '{"id":1,"method":"search","params":{"text":"pay"}}\n',
  });
  expect(jsonLines(ended)).toMatchObject([{ ok: false, error_code: "DATABASE_UNREACHABLE" }]);
  expect(ended.code).toBe(0);
});
