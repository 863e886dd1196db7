import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { removeDesk } from "../support/workers-ended.ts";
import { TOYS } from "./toys.ts";
import type { Toy } from "./toys.ts";

// Each list of docs/extending.md is proved: a toy is added by changing these files and no other, and works.

const checkout = resolve(import.meta.dirname, "../..");
const COPIED = [
  ...["src", "migrations", "configs", "assets", "scripts", "bin"],
  ...["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"],
];
const document = readFileSync(join(checkout, "docs/extending.md"), "utf8");

describe("docs/extending.md", () => {
  test("has a list for each toy, and a toy for each list", () => {
    const titles = [...document.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(TOYS.map(({ title }) => title)).toEqual(titles);
  });

  test.each(TOYS)("$title is added in the files that it lists", ({ title, name, edits }) => {
    const listed = filesListed(title).map((file) => file.replace("<name>", name));
    expect(edits.map(({ file }) => file)).toEqual(listed);
  });
});

const filesListed = (title: string): string[] => {
  const section = document.split(`## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^- `([^`]+)`/gm)].map(([, file = ""]) => file);
};

describe("all toys together", () => {
  let copy: string;
  let workroot: string;
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), "nightdesk-toys-"));
    for (const name of COPIED) cpSync(join(checkout, name), join(copy, name), { recursive: true });
    symlinkSync(join(checkout, "node_modules"), join(copy, "node_modules"));
    for (const toy of TOYS) add(toy);
    await promisify(execFile)(process.execPath, ["scripts/build.js"], { cwd: copy });
    workroot = join(copy, "desk");
    mkdirSync(join(workroot, "allowed/corpus"), { recursive: true });
    writeFileSync(join(workroot, "nightdesk.yaml"), CONFIG);
    writeFileSync(join(workroot, "allowed/corpus/facts.pages"), PAGES);
    writeFileSync(join(workroot, "lines.jsonl"), '{"kind":"count","text":"four words are here"}\n');
    await nightdesk("index");
  }, 300_000);
  afterAll(async () => {
    await nightdesk("worker", "--drain").catch(() => undefined);
    await removeDesk(workroot);
    rmSync(copy, { recursive: true, force: true });
  });

  /** Writes the files of a toy, or changes them at places that must be there once. */
  function add({ title, edits }: Toy): void {
    for (const { file, ...edit } of edits) {
      const path = join(copy, file);
      if ("text" in edit) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, edit.text);
        continue;
      }
      let text = readFileSync(path, "utf8");
      for (const [before, after] of edit.changes) {
        if (text.split(before).length !== 2)
          throw new Error(`${title}: ${file} has not once: ${before}`);
        text = text.replace(before, () => after);
      }
      writeFileSync(path, text);
    }
  }

  async function nightdesk(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(copy, "bin/nightdesk.js"), ...args],
      { cwd: workroot, env: { PATH: process.env["PATH"], NODE_NO_WARNINGS: "1" } },
    );
    return stdout;
  }
  const sql = async (statement: string): Promise<unknown> =>
    JSON.parse(await nightdesk("sql", "--json", statement));

  test("a line of the new kind is run, and its column is written", async () => {
    await nightdesk("enqueue", "lines.jsonl", "--batch-name", "toys", "--wait");
    expect(
      await sql("select answer, input_chars from nightdesk.results where batch = 'toys'"),
    ).toEqual([{ answer: "4 words", input_chars: 48 }]);
  });

  test("bytes of the new format become text, with the page of each chunk", async () => {
    expect(
      await sql("select heading_path, text, locator from nightdesk.chunks order by line_start"),
    ).toEqual([
      { heading_path: "harbour", text: "harbour = Linz", locator: { page: 3 } },
      { heading_path: "ferries", text: "ferries = four", locator: { page: 7 } },
    ]);
  });

  test("bytes that are not of the new format are refused in its words", async () => {
    const cut = join(workroot, "allowed/corpus/cut.pages");
    writeFileSync(cut, PAGES.subarray(0, -1));
    await expect(nightdesk("index")).rejects.toMatchObject({
      stderr: expect.stringContaining(
        'FILE_READ_ERROR: "allowed/corpus/cut.pages" ends in the middle of page 2: copy it again.',
      ),
    });
    rmSync(cut);
    await nightdesk("index");
  });

  test("a call of the new tool is read, and run by its name", async () => {
    const dist = pathToFileURL(join(copy, "dist/worker/tools/")).href;
    const program = `
      const { grammarOf, parseToolCall } = await import("${dist}parse-tool-call.js");
      const { TOOLS } = await import("${dist}all-tools.js");
      const written = '{"tool": "count_words", "args": {"path": "facts.pages"}}';
      const call = parseToolCall(written, grammarOf(TOOLS));
      const readFile = async (path) => ({ kind: "read", text: "in " + path });
      const result = await TOOLS.find(call.name).run(call.args, { readFile });
      console.log(JSON.stringify({ call, result }));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...["--input-type=module", "--eval", program],
    ]);
    expect(JSON.parse(stdout)).toEqual({
      call: {
        kind: "call",
        name: "count_words",
        args: { path: "facts.pages" },
        trailingText: "",
      },
      result: { kind: "output", text: "2 words", facts: {}, evidence: [] },
    });
    expect(JSON.parse(await nightdesk("tools", "list", "--json"))).toMatchObject({
      tools: expect.arrayContaining([
        expect.objectContaining({ name: "count_words", effect: "none", state: "available" }),
      ]),
    });
  });

  test("the new provider answers, behind the gate like any other", async () => {
    const answer = await nightdesk("ask", "How many ferries are there?", "--wait", "--json");
    expect(JSON.parse(answer)).toMatchObject({
      ok: true,
      answer: expect.stringMatching(/^Echo: .*ferries = four.* \[\d\]\n/),
      models: { first: "echo", second: "echo" },
    });
    expect(
      await sql(
        "select locator, extractor from nightdesk.evidence where heading_path = 'ferries' and kind = 'chunk'",
      ),
    ).toEqual([{ locator: { page: 7 }, extractor: "pages 1" }]);
  });

  test("a file of the new format is read whole, and its evidence begins at its first page", async () => {
    await nightdesk("summarize", "allowed/corpus/facts.pages", "--wait");
    expect(
      await sql(
        `select locator, chars_full, text_sha256 = encode(sha256(E'harbour = Linz\\nferries = four\\n'), 'hex') as is_text,
                sha256 = text_sha256 as is_bytes
           from nightdesk.evidence where kind = 'file'`,
      ),
    ).toEqual([{ locator: { page: 3 }, chars_full: 30, is_text: true, is_bytes: false }]);
  });
});

/** A record of the new format. */
const page = (number: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([0, number, 0, text.length]), Buffer.from(text)]);
const PAGES = Buffer.concat([page(3, "harbour = Linz"), page(7, "ferries = four")]);

const CONFIG = `extends: nightdesk:embedded
model: { provider: echo }
security: { allowed_exts: [.pages] }
`;
