import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { eventually } from "../conformance/signal.ts";
import { COMMIT, startHubDouble } from "../doubles/model-hub.ts";
import type { HubDouble, HubFile } from "../doubles/model-hub.ts";
import { jsonLine, startBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";
import { writeTinyCausalModel } from "../support/tiny-causal-model.ts";
import { writeTinyClassifier, writeTinyModel, writeTinyReranker } from "../support/tiny-model.ts";

const BIN = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");
const MODEL = "somebody/tiny";
const OPTIONAL = ["chat_template.jinja", "generation_config.json"];
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
    runCommand(["models", "fetch", MODEL, "--host", hub.url, ...flags], { cwd: workroot });
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

  test("downloads the template of prompts and what is said of generating where the model has files of them", async () => {
    for (const name of OPTIONAL) files[name] = { content: Buffer.from(`{"of": "${name}"}`) };
    files["additional_chat_templates/tool_use.jinja"] = { content: Buffer.from("tools") };
    expect((await fetchModel("--yes")).code).toBe(0);
    expect(kept().sort()).toEqual([...NEEDED, ...OPTIONAL].sort());
    for (const name of OPTIONAL)
      expect(readFileSync(join(folder(), name))).toEqual(files[name]?.content);
  });

  test("says that a template is used that the model does not have where it comes from", async () => {
    expect((await fetchModel("--yes")).stderr).not.toContain("chat_template");
    writeFileSync(join(folder(), "chat_template.jinja"), "mine");
    const said =
      "chat_template.jinja  is there, and not at the host: a language model is used with it";
    expect((await fetchModel("--yes")).stderr).toContain(said);
    expect(readFileSync(join(folder(), "chat_template.jinja"), "utf8")).toBe("mine");
    await serve("chat_template.jinja", { content: Buffer.from("theirs") });
    expect((await fetchModel("--yes")).stderr).not.toContain("is there, and not at the host");
    expect(readFileSync(join(folder(), "chat_template.jinja"), "utf8")).toBe("theirs");
  });

  test("says what a model is for: vectors, comparing statements with their evidence, ordering passages, or answers", async () => {
    expect((await fetchModel("--yes")).stderr).toContain("embed.provider: transformers");
    const made = join(workroot, "made");
    const usage = (keys: string) =>
      `${keys}: { provider: transformers, model_id: ${MODEL} }; then run: nightdesk doctor`;
    for (const [said, write] of [
      [usage("verify.entailment"), writeTinyClassifier],
      [
        usage("retrieve.rerank"),
        (folder: string) => {
          writeTinyReranker(folder, { weights: { a: 1 } });
        },
      ],
      [`model: { provider: transformers, name: ${MODEL} }`, writeTinyCausalModel],
    ] as const) {
      write(made);
      for (const name of NEEDED) files[name] = { content: readFileSync(join(made, name)) };
      await hub.close();
      hub = await startHubDouble(MODEL, files);
      expect((await fetchModel("--yes")).stderr).toContain(said);
    }
  });

  test.each([
    ["compares statements with", "verify", "entailment"],
    ["orders passages with", "retrieve", "rerank"],
  ])("takes precision and folder of the model that the configuration %s", async (_, part, name) => {
    const model = { model_id: MODEL, dtype: "q8", local_model_path: "models/other" };
    writeFileSync(join(workroot, "nightdesk.yaml"), JSON.stringify({ [part]: { [name]: model } }));
    expect((await fetchModel("--yes")).code).toBe(0);
    const weights = join(workroot, "models", "other", "onnx", "model_quantized.onnx");
    expect(existsSync(weights)).toBe(true);
    expect(kept()).toEqual([]);
  });

  test("takes the precision of the model that the configuration answers with", async () => {
    const model = { provider: "transformers", name: MODEL, transformers: { dtype: "q8" } };
    writeFileSync(join(workroot, "nightdesk.yaml"), JSON.stringify({ model }));
    expect((await fetchModel("--yes")).code).toBe(0);
    expect(kept()).toContain("onnx/model_quantized.onnx");
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
    ["Ctrl-C", "SIGINT", 130],
    ["a kill", "SIGKILL", 137],
  ] as const)("after %s the next call goes on where this one had come to", async (_, by, code) => {
    const file = files["onnx/model.onnx"] as HubFile;
    const stallsAt = Math.floor(file.content.length / 2);
    await serve("onnx/model.onnx", { ...file, stallsAt });
    const fetching = startBin(["models", "fetch", MODEL, "--host", hub.url, "--yes"], {
      cwd: workroot,
    });
    const part = join(folder(), "onnx", ".model.onnx.part");
    await eventually("half of the file is there", async () => {
      return existsSync(part) && statSync(part).size === stallsAt;
    });
    fetching.kill(by);
    const stopped = await fetching.ended;
    expect(stopped.code).toBe(code);
    if (by === "SIGINT") {
      expect(stopped.stderr).toContain("of onnx/model.onnx are kept beside its place");
      expect(stopped.stderr).toContain("give the same command again to go on");
    }
    expect(existsSync(join(folder(), "onnx", "model.onnx"))).toBe(false);
    await serve("onnx/model.onnx", file);
    const ended = await fetchModel("--yes", "--json");
    expect(ended.stderr).toMatch(/onnx\/model\.onnx {2}.* are there/);
    expect(jsonLine(ended)).toMatchObject({
      files: expect.arrayContaining([
        expect.objectContaining({ path: "onnx/model.onnx", kept_bytes: stallsAt }),
      ]),
    });
    expect(hub.rests).toMatchObject([{ name: "onnx/model.onnx", from: stallsAt }]);
    expect(kept().sort()).toEqual(NEEDED);
    expect(readFileSync(join(folder(), "onnx/model.onnx")).equals(file.content)).toBe(true);
  });

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
      runCommand(["models", "fetch", ...words, "--yes", "--json"], { cwd: workroot });
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

  describe("from a hub that is hostile", () => {
    const weights: HubFile = { content: Buffer.from("planted") };
    /** Everything below the work root's parent that is no part of the model, with its content. */
    const outside = () => readFileSync(join(workroot, "outside", "file"), "utf8");
    beforeEach(() => {
      mkdirSync(join(workroot, "outside"));
      writeFileSync(join(workroot, "outside", "file"), "mine");
    });
    const errorOf = async () => {
      const ended = await fetchModel("--yes", "--json");
      expect(ended.code).not.toBe(0);
      return jsonLine(ended) as { error_code: string; error_message: string };
    };

    test.each([
      "onnx/model.onnx_data/../../../../../outside/file",
      "onnx/model.onnx_data/../../outside",
      "onnx/model.onnx_data/./x",
      "onnx/model.onnx_data//x",
      "onnx/model.onnx_data/",
      "onnx/model.onnx_data\\..\\..\\x",
      "onnx/model.onnx_data\u0000x",
      "onnx/model.onnx_data\n",
      "onnx/model.onnx_data:stream",
      `onnx/model.onnx_data${"x".repeat(300)}`,
    ])("a list with %j is refused as a whole", async (name) => {
      await serve(name, weights);
      const { error_code, error_message } = await errorOf();
      expect(error_code).toBe("MODEL_OUTPUT_INVALID");
      expect(error_message).toContain("which is no name of a file in a folder");
      expect(kept()).toEqual([]);
      expect(outside()).toBe("mine");
      expect(hub.asked.some((address) => address.includes("/resolve/"))).toBe(false);
    });

    test.each(["models", "models/somebody", "models/somebody/tiny", "models/somebody/tiny/onnx"])(
      "a link that stands at %s is not followed",
      async (place) => {
        mkdirSync(dirname(join(workroot, place)), { recursive: true });
        symlinkSync(join(workroot, "outside"), join(workroot, place));
        const { error_code, error_message } = await errorOf();
        expect(error_code).toBe("INPUT_INVALID");
        expect(error_message).toContain(`${join(workroot, place)} is a link`);
        expect(readdirSync(join(workroot, "outside"))).toEqual(["file"]);
      },
    );

    test("a link in the place of a file is replaced, and what it leads to stays as it is", async () => {
      mkdirSync(folder(), { recursive: true });
      symlinkSync(join(workroot, "outside", "file"), join(folder(), "config.json"));
      expect((await fetchModel("--yes")).code).toBe(0);
      expect(outside()).toBe("mine");
      expect(lstatSync(join(folder(), "config.json")).isFile()).toBe(true);
      expect(lstatSync(join(folder(), "config.json")).mode & 0o777).toBe(0o600);
      expect(kept().filter((name) => name.includes("part"))).toEqual([]);
    });

    test.each([
      ["to the metadata of a cloud", "http://169.254.169.254/latest", "link-local address"],
      ["into the network around", "http://10.0.0.1/", "10.0.0.1 is a private address"],
      ["to a file", "file:///etc/passwd", "leads to file://"],
      ["in a circle", `/${MODEL}/resolve/${COMMIT}/tokenizer.json`, "more than 5 times"],
    ])("a redirection %s is not followed", async (_, location, why) => {
      await serve("tokenizer.json", { ...(files["tokenizer.json"] as HubFile), location });
      const { error_code, error_message } = await errorOf();
      expect(error_code).toBe("MODEL_UNREACHABLE");
      expect(error_message).toContain(why);
    });

    test.each([
      ["less than it sends", 10, "more than 10 bytes"],
      ["more than it sends", 1e6, "instead of 1000000"],
      ["what no disk holds", 1e15, "with 1000000000000000 bytes"],
    ])("a file whose size is listed as %s is not kept", async (_, listedBytes, why) => {
      await serve("tokenizer.json", { ...(files["tokenizer.json"] as HubFile), listedBytes });
      const { error_code, error_message } = await errorOf();
      expect(error_code).toBe("MODEL_OUTPUT_INVALID");
      expect(error_message).toContain(why);
      expect(kept().filter((name) => /tokenizer\.json|part/.test(name))).toEqual([]);
    });
  });
});
