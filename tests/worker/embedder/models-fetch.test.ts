import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { jsonLine, runBin } from "../../cli/run-bin.ts";
import type { Ended } from "../../cli/run-bin.ts";
import { COMMIT, startHubDouble } from "./model-hub-double.ts";
import type { HubDouble, HubFile } from "./model-hub-double.ts";
import { writeTinyModel } from "./tiny-model.ts";

const BIN = resolve(import.meta.dirname, "..", "..", "..", "bin", "nightdesk.js");
const MODEL = "somebody/tiny";
const NEEDED = ["config.json", "onnx/model.onnx", "tokenizer.json", "tokenizer_config.json"];

describe("nightdesk models fetch", () => {
  let workroot: string;
  let files: Record<string, HubFile>;
  let hub: HubDouble;
  beforeEach(async () => {
    workroot = mkdtempSync(join(tmpdir(), "nightdesk-fetch-"));
    const made = join(workroot, "made");
    writeTinyModel(made);
    const read = (name: string) => readFileSync(join(made, name));
    files = {
      ...Object.fromEntries(NEEDED.map((name) => [name, { content: read(name) }])),
      "onnx/model.onnx": { content: read("onnx/model.onnx"), large: true },
      "onnx/model_quantized.onnx": { content: Buffer.from("other weights") },
      "modeling_tiny.py": { content: Buffer.from("print('run me')") },
    };
    rmSync(made, { recursive: true });
    hub = await startHubDouble(MODEL, files);
  });
  afterEach(async () => {
    await hub.close();
    rmSync(workroot, { recursive: true, force: true });
  });

  const folder = () => join(workroot, "models", MODEL);
  const fetchModel = (...flags: string[]): Promise<Ended> =>
    runBin(["models", "fetch", MODEL, "--host", hub.url, ...flags], { cwd: workroot });
  const kept = () =>
    existsSync(folder())
      ? readdirSync(folder(), { recursive: true, encoding: "utf8" }).filter(
          (name) => name !== "onnx",
        )
      : [];
  const serve = async (name: string, file: HubFile) => {
    await hub.close();
    hub = await startHubDouble(MODEL, { ...files, [name]: file });
  };

  test("downloads what the model needs and nothing else, says what and where to, and tells it as JSON", async () => {
    const ended = await fetchModel("--yes", "--json");
    expect(ended.stderr).toContain(`${MODEL} at ${COMMIT.slice(0, 12)} from ${hub.url}`);
    expect(ended.code).toBe(0);
    expect(kept().sort()).toEqual(NEEDED);
    for (const name of NEEDED) {
      expect(readFileSync(join(folder(), name))).toEqual(files[name]?.content);
    }
    expect(jsonLine(ended)).toMatchObject({
      ok: true,
      model: MODEL,
      commit: COMMIT,
      files: expect.arrayContaining([
        expect.objectContaining({ path: "config.json", downloaded: true }),
      ]),
    });
    expect(hub.asked.some((address) => address.endsWith(".py"))).toBe(false);
  });

  test("what is there already is not downloaded again, what differs is", async () => {
    await fetchModel("--yes");
    writeFileSync(join(folder(), "config.json"), "{}");
    hub.asked.length = 0;
    const ended = await fetchModel("--yes");
    expect(ended.code).toBe(0);
    expect(hub.asked.filter((address) => address.includes("/resolve/"))).toEqual([
      `/${MODEL}/resolve/${COMMIT}/config.json`,
    ]);
    expect(readFileSync(join(folder(), "config.json"))).toEqual(files["config.json"]?.content);
  });

  test("asks nobody where there is no terminal, and downloads nothing without --yes", async () => {
    const ended = await fetchModel();
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("--yes");
    expect(kept()).toEqual([]);
    expect(hub.asked.some((address) => address.includes("/resolve/"))).toBe(false);
  });

  test.each([
    ["y\r", 0, NEEDED],
    ["n\r", 1, []],
    ["\r", 1, []],
    ["\u0004", 1, []],
    ["\u0003", 1, []],
  ])("asks on a terminal; %j ends with %d", async (typed, code, names) => {
    expect(await answerOnTerminal(`models fetch ${MODEL} --host ${hub.url}`, typed)).toBe(code);
    expect(kept().sort()).toEqual(names);
  });

  /** Runs the bin in a pseudo terminal, and types when it asks. @returns its status */
  async function answerOnTerminal(words: string, typed: string): Promise<number | null> {
    const command = `exec '${process.execPath}' '${BIN}' ${words}`;
    const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
      cwd: workroot,
      env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let screen = "";
    let hasTyped = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      screen += text;
      if (hasTyped || !screen.includes("[y/N]")) return;
      hasTyped = true;
      child.stdin.write(typed);
    });
    await once(child, "close");
    return child.exitCode;
  }

  test.each([
    ["cut short", (content: Buffer) => content.subarray(0, content.length - 1)],
    ["without an end", (content: Buffer) => Buffer.concat([content, content])],
    ["changed", (content: Buffer) => Buffer.from(content.toString("latin1").replace("n", "m"))],
  ])("a file that comes %s is not kept", async (_, change) => {
    const file = files["tokenizer.json"] as HubFile;
    await serve("tokenizer.json", { ...file, sent: change(file.content) });
    const ended = await fetchModel("--yes", "--json");
    expect(jsonLine(ended)).toMatchObject({ ok: false, error_code: "MODEL_OUTPUT_INVALID" });
    expect(kept().filter((name) => name.includes("tokenizer.json"))).toEqual([]);
  });

  test("a precision that the model does not have is said with those that it has", async () => {
    const ended = await fetchModel("--yes", "--json", "--dtype", "q4");
    expect(jsonLine(ended)).toMatchObject({
      error_code: "NOT_FOUND",
      error_message: expect.stringContaining("onnx/model_quantized.onnx"),
    });
    expect((await fetchModel("--yes", "--dtype", "q8")).code).toBe(0);
    expect(kept()).toContain("onnx/model_quantized.onnx");
  });

  test("a model or a host that is not there is said in words", async () => {
    const fetchOther = (...words: string[]) =>
      runBin(["models", "fetch", ...words, "--yes", "--json"], { cwd: workroot });
    expect(jsonLine(await fetchOther("somebody/else", "--host", hub.url))).toMatchObject({
      error_code: "NOT_FOUND",
    });
    expect(jsonLine(await fetchOther(MODEL, "--host", "http://127.0.0.1:1"))).toMatchObject({
      error_code: "MODEL_UNREACHABLE",
    });
    for (const [name, host] of [
      ["../../etc", hub.url],
      ["a/b/c", hub.url],
      [MODEL, "ftp://127.0.0.1"],
      [MODEL, "http://name:secret@127.0.0.1"],
    ] as const) {
      const ended = await fetchOther(name, "--host", host);
      expect(ended.code).toBe(2);
      expect(ended.stdout + ended.stderr).not.toContain("secret");
    }
  });
});
