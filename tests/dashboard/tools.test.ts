import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openCommands } from "../../src/dashboard/command-child.ts";
import { openTools } from "../../src/dashboard/tools.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { openRealDesk } from "./real-desk.ts";
import type { RealDesk } from "./real-desk.ts";

/** Serves MCP; `die` ends it, `die once` the first time alone, by a word on its command line. */
const DOUBLE = `
const born = process.argv[1];
const answer = ({ method, params }) => {
  if (method === "initialize") {
    const serverInfo = { name: "double", version: "0" };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  const { text } = params.arguments;
  if (text === "die" || (text === "die once" && born === "1")) process.exit(1);
  return { content: [], structuredContent: { ok: true, said: text + " by " + born } };
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, ...request } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: answer(request) }) + "\\n");
});`;

test("one child is kept, and another takes over what it took down with it, once", async () => {
  const children: ChildProcess[] = [];
  const server = openTools(() => {
    const child = spawn(process.execPath, ["-e", DOUBLE, String(children.length + 1)]);
    children.push(child);
    return child;
  });
  const ask = (text: string) => server.ask("search", { text });
  expect(await ask("a")).toMatchObject({ result: { said: "a by 1" } });
  expect(await ask("b")).toMatchObject({ result: { said: "b by 1" } });
  const [again, beside] = await Promise.all([ask("die once"), ask("c")]);
  expect(again).toMatchObject({ result: { said: "die once by 2" } });
  expect(beside).toMatchObject({ ok: true });
  await expect(ask("die")).rejects.toThrow("ended twice");
  expect(await ask("d")).toMatchObject({ result: { said: "d by 4" } });
  const many = await Promise.allSettled(Array.from({ length: 30 }, (_, at) => ask(`m${at}`)));
  expect(many.filter(({ status }) => status === "rejected")).toHaveLength(19);
  server.close();
});

test("an output that is too long for a page is no output", async () => {
  const print = "process.stdout.write('x'.repeat(Number(process.argv[1])))";
  const run = openCommands(
    ([count = ""]) => spawn(process.execPath, ["-e", print, count]),
    1,
    "it",
  );
  const limits = { timeMs: 20_000 };
  expect((await run(["8000000"], limits)).stdout).toHaveLength(8_000_000);
  expect(await run(["8000001"], limits)).toMatchObject({
    ...{ code: null, stdout: "" },
    stderr: expect.stringContaining("over 8,000,000 characters"),
  });
});

describeOnPostgres("pages that ask for search and doctor", () => {
  let desk: RealDesk;
  beforeAll(async () => {
    desk = await openRealDesk();
    await desk.write("allowed/corpus/brakes.md", "# Brakes\n\nBleed the brakes in May.\n");
  });
  afterAll(() => desk.dispose());

  test("search, doctor and SQL give what their commands give", async () => {
    const found = await desk.browse("/index?q=brakes");
    expect(found.text).toContain(">0 passages</h2>");
    const health = await desk.browse("/health", {});
    expect(health.text).toContain('class="state s-');
    const rows = await desk.browse("/sql", { statement: "select 41 + 1 as n", form: "table" });
    expect(rows.text).toContain('<td class="n" data-title="n">42</td>');
  });
});
