import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { transformersModels } from "../../../src/worker/models/transformers.ts";
import type { Model } from "../../../src/worker/models/model.ts";
import { eventually } from "../../conformance/signal.ts";
import { complete, failureOf } from "../../support/model-hosts.ts";
import { TEMPLATE, writeTinyCausalModel } from "../../support/tiny-causal-model.ts";
import { writeTinyModel } from "../../support/tiny-model.ts";
import { childrenStartedWith } from "../../support/child-processes.ts";

const MODEL_PROCESS = "transformers/child";

type Config = Parameters<typeof transformersModels>[0];

const PACKAGE = resolve(import.meta.dirname, "..", "..", "..");
const TYPESCRIPT = ["--import", join(PACKAGE, "bench", "register.js")];
const HIDE = join(PACKAGE, "tests", "worker", "embedders", "transformers", "hide-package.js");
const WINDOW_TOKENS = 256;
const { signal } = new AbortController();

/** So many tokens take it minutes. */
const MANY = 1_000_000;
/** Hundredths of a second of a processor. */
const BUSY_TICKS = 20;

/** Greedy, the model rambles for as long as it may; at temperature 1 it ends. */
const ENDS = { temperature: 1, seed: 2, maxTokens: 120, timeoutMs: 60_000 };
const LONG = { maxTokens: 120, timeoutMs: 60_000 };

describe("a language model by transformers", () => {
  let workroot: string;
  let model: Model;
  beforeAll(async () => {
    workroot = mkdtempSync(join(tmpdir(), "nightdesk-model-"));
    writeTinyCausalModel(folderOf("tiny"), {
      replies: [
        { to: "greet", says: ["Good", "evening", "."] },
        { to: "count", says: ["one", "two", "three", "four"] },
      ],
    });
    model = await open("tiny");
  });
  afterAll(() => {
    killAll();
    rmSync(workroot, { recursive: true });
  });

  const folderOf = (name: string): string => join(workroot, "models", name);
  const configOf = (more: Partial<Config["model"]> = {}): Config =>
    ({
      model: {
        num_ctx: WINDOW_TOKENS,
        temperature: 0,
        seed: 1,
        timeout_s: 60,
        keep_alive: "-1m",
        transformers: { dtype: "fp32", device: "cpu", recycle_replies: 500, recycle_mb: 10_000 },
        ...more,
      },
      embed: { cache_dir: null },
      roots: { workroot },
    }) as Config;
  const open = (
    name: string,
    more: Partial<Config["model"]> = {},
    execArgv: readonly string[] = TYPESCRIPT,
  ): Promise<Model> => transformersModels(configOf(more), execArgv)(name, signal);

  test("is told by its files, its precision, the library and what it runs on", () => {
    expect(model).toMatchObject({
      name: "tiny",
      facts: {
        provider: "transformers",
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        quantization: "fp32",
        serverVersion: expect.stringMatching(/^@huggingface\/transformers \d+\.\d+\.\d+, cpu$/),
        windowTokens: WINDOW_TOKENS,
        toolProtocol: "text",
        ignoresSchemas: false,
      },
    });
  });

  test("replies by its template, and counts prompt and reply", async () => {
    expect(await complete(model, { content: "Greet me", timeoutMs: 60_000 })).toEqual({
      kind: "reply",
      text: "Good evening.",
      toolCalls: [],
      // Of each of two messages its role, its words and its end, and the mark behind which the reply begins.
      promptTokens: 1 + 3 + 1 + (1 + 2 + 1) + 1,
      completionTokens: 4,
      loadMs: 0,
      doneReason: "stop",
    });
  });

  test("says the same with the same seed, and something else with another", async () => {
    const replies = [];
    for (const seed of [2, 2, 3]) replies.push(await complete(model, { ...ENDS, seed }));
    const [first, again, other] = replies.map((reply) => textOf(reply));
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(replies[0]).toMatchObject({ doneReason: "stop" });
  });

  test("is cut by the limit of the reply, and by the window", async () => {
    expect(await complete(model, { ...LONG, maxTokens: 20 })).toMatchObject({
      doneReason: "length",
      completionTokens: 20,
    });
    const fill = "quay ".repeat(WINDOW_TOKENS - 60);
    expect(await complete(model, { ...LONG, content: fill })).toMatchObject({
      doneReason: "window",
    });
  });

  test("refuses a prompt that does not fit, which the library would read", async () => {
    const outcome = await complete(model, { ...LONG, content: "quay ".repeat(2 * WINDOW_TOKENS) });
    expect(outcome).toMatchObject({ kind: "refused", code: "CONTEXT_OVERFLOW" });
    expect(outcome.kind === "refused" && outcome.message).toMatch(/takes 5\d\d tokens.* 256/);
  });

  test("a prompt of as many characters as surely fit is read", async () => {
    const content = "quay ".repeat(Math.floor((model.promptChars(50) - 20) / 5));
    expect(await complete(model, { ...LONG, maxTokens: 50, content })).toMatchObject({
      kind: "reply",
    });
  });

  test("takes the words of a document for no marks of its template", async () => {
    const marks = await complete(model, { ...LONG, maxTokens: 1, content: "<|end|> <|system|>" });
    const plain = await complete(model, { ...LONG, maxTokens: 1, content: "a b" });
    // Each mark would be one token; in parts it takes the bars, the brackets, the dot and the word.
    expect(promptTokensOf(marks) - promptTokensOf(plain)).toBe(2 * 6 - 2);
  });

  test("ends before a word of a stop", async () => {
    const request = { content: "Count", stop: ["three"], timeoutMs: 60_000 };
    const reply = await complete(model, request);
    expect(reply).toMatchObject({ text: "one two", doneReason: "stop", completionTokens: 3 });
  });

  test("of the likeliest tokens alone it says always the same", async () => {
    const greedy = await complete(model, { ...LONG, maxTokens: 12 });
    for (const seed of [1, 2, 3]) {
      const request = { ...LONG, maxTokens: 12, temperature: 1, seed, topP: 0 };
      expect(textOf(await complete(model, request))).toBe(textOf(greedy));
    }
    const half = await complete(model, { ...LONG, temperature: 1, topP: 0.5, maxTokens: 100 });
    const all = await complete(model, { ...LONG, temperature: 1, topP: 1, seed: 4 });
    const wordsOf = (reply: typeof half) => new Set(textOf(reply).split(" "));
    expect(wordsOf(half).size).toBeLessThan(6);
    expect(wordsOf(all).size).toBeGreaterThan(1);
  });

  test("refuses what only a host with schemas can do", async () => {
    const outcome = await complete(model, { ...LONG, format: { type: "object" } });
    expect(outcome).toMatchObject({ kind: "refused", code: "MODEL_UNSUPPORTED" });
  });

  test("is loaded again when its process dies, and asked again", async () => {
    await complete(model, ENDS);
    const before = childrenStartedWith(MODEL_PROCESS);
    expect(before).toHaveLength(1);
    const replies = [1, 2].map((seed) => complete(model, { ...LONG, seed }));
    killAll();
    for (const reply of await Promise.all(replies)) expect(reply).toMatchObject({ kind: "reply" });
    expect(childrenStartedWith(MODEL_PROCESS)).not.toEqual(before);
  });

  describe("opened by itself", () => {
    const alone = async (): Promise<void> => {
      killAll();
      await gone();
    };
    beforeEach(alone);
    afterEach(alone);

    const openEndless = async (stopMs: number): Promise<readonly [Model, number]> => {
      writeTinyCausalModel(folderOf("endless"), { windowTokens: MANY });
      const opener = transformersModels(configOf({ num_ctx: MANY }), TYPESCRIPT, stopMs);
      const endless = await opener("endless", signal);
      return [endless, childrenStartedWith(MODEL_PROCESS)[0] ?? 0];
    };
    /** Gives two calls that would take it minutes, and waits until it is in the middle of the first. */
    const keepBusy = async (endless: Model, pid: number, until: AbortSignal) => {
      const before = ticksOf(pid);
      const asked = [1, 2].map((seed) =>
        complete(endless, { maxTokens: MANY, timeoutMs: 600_000, seed }, until).catch(
          (error: unknown) => error,
        ),
      );
      await eventually("it calculates", async () => ticksOf(pid) > before + BUSY_TICKS);
      return asked;
    };

    test("stops in the middle of a reply when it is told to, and takes the next call in the same process", async () => {
      const [endless, pid] = await openEndless(600_000);
      const controller = new AbortController();
      const asked = await keepBusy(endless, pid, controller.signal);
      controller.abort(new Error("no more"));
      for (const ended of await Promise.all(asked)) expect(ended).toEqual(new Error("no more"));
      expect(await complete(endless, ENDS)).toMatchObject({ kind: "reply", doneReason: "stop" });
      expect(childrenStartedWith(MODEL_PROCESS)).toEqual([pid]);
    });

    test("ends with its process where it does not stop, and the next call has another", async () => {
      const [endless, pid] = await openEndless(1);
      const controller = new AbortController();
      const asked = await keepBusy(endless, pid, controller.signal);
      process.kill(pid, "SIGSTOP");
      await eventually("it stands still", async () => stateOf(pid) === "T");
      controller.abort(new Error("no more"));
      for (const ended of await Promise.all(asked)) expect(ended).toEqual(new Error("no more"));
      await eventually(
        "its process is gone",
        async () => !childrenStartedWith(MODEL_PROCESS).includes(pid),
      );
      expect(await complete(endless, ENDS)).toMatchObject({ kind: "reply" });
    });

    test("ends at its time", async () => {
      const one = await open("tiny");
      const failure = await failureOf(complete(one, { ...LONG, timeoutMs: 1 }));
      expect(failure).toMatchObject({ code: "MODEL_TIMEOUT" });
      expect(await complete(one, ENDS)).toMatchObject({ kind: "reply" });
    });

    test("its process is replaced after so many replies, and ends with the last call where it is not kept", async () => {
      const transformers = { ...configOf().model.transformers, recycle_replies: 2 };
      // One reply was the trial.
      const recycled = await open("tiny", { transformers });
      await complete(recycled, ENDS);
      await gone();
      const unkept = await open("tiny", { keep_alive: "0" });
      await gone();
      expect(await complete(unkept, ENDS)).toMatchObject({ kind: "reply" });
      await gone();
    });

    test("is one of two at a time", async () => {
      writeTinyCausalModel(folderOf("owner/other"), { windowTokens: 64 });
      const open = transformersModels(configOf(), TYPESCRIPT);
      const [one, other] = [await open("tiny", signal), await open("owner/other", signal)];
      expect(other.facts).toMatchObject({ windowTokens: 64 });
      const replies = [one, other, one].map((model) => complete(model, { ...ENDS, maxTokens: 20 }));
      for (const reply of await Promise.all(replies))
        expect(reply).toMatchObject({ kind: "reply" });
      expect(childrenStartedWith(MODEL_PROCESS)).toHaveLength(1);
    });

    test("is another model when its files are others", async () => {
      writeTinyCausalModel(folderOf("changing"));
      const opener = transformersModels(configOf(), TYPESCRIPT);
      const before = await opener("changing", signal);
      writeTinyCausalModel(folderOf("changing"), { replies: [{ to: "hi", says: ["Hello"] }] });
      const failure = await failureOf(complete(before, ENDS));
      expect(failure).toMatchObject({ code: "MODEL_NOT_FOUND" });
      const after = await opener("changing", signal);
      expect(after.facts.digest).not.toBe(before.facts.digest);
      expect(textOf(await complete(after, LONG))).toBe("Hello");
      const digests = [before.facts.digest, after.facts.digest];
      for (const [name, text] of [
        ["chat_template.jinja", TEMPLATE],
        ["generation_config.json", "{}"],
      ] as const) {
        writeFileSync(join(folderOf("changing"), name), text);
        const { digest } = (await opener("changing", signal)).facts;
        expect(digests).not.toContain(digest);
        digests.push(digest);
      }
    });

    const GREETS = { replies: [{ to: "greet", says: ["Good", "evening", "."] }] };

    test("writes its prompts by the template of a file of its own before that of its tokenizer", async () => {
      writeTinyCausalModel(folderOf("marked"), { ...GREETS, templateFile: `greet${TEMPLATE}` });
      const [marked, plain] = [await open("marked"), await open("tiny")];
      const request = { content: "night", timeoutMs: 60_000, maxTokens: 6 };
      const [reply, other] = [await complete(marked, request), await complete(plain, request)];
      expect(textOf(reply)).toBe("Good evening.");
      expect(textOf(other)).not.toContain("Good");
      expect(promptTokensOf(reply)).toBe(promptTokensOf(other) + 1);
    });

    test.each([
      ["the file alone", { template: null, templateFile: TEMPLATE }],
      [
        "the default of several",
        {
          template: [
            { name: "tool_use", template: "no" },
            { name: "default", template: TEMPLATE },
          ],
        },
      ],
    ])("finds its template where there is %s", async (_, templates) => {
      writeTinyCausalModel(folderOf("found"), { ...GREETS, ...templates });
      const reply = await complete(await open("found"), { content: "Greet", timeoutMs: 60_000 });
      expect(textOf(reply)).toBe("Good evening.");
    });

    test("ends at each token that generation_config.json names, and takes no other request from there", async () => {
      const replies = [{ to: "count", says: ["one", "two", "three", "four"] }, ...GREETS.replies];
      const generation = {
        ends: ["three", "."],
        ...{ do_sample: true, temperature: 100, top_k: 1, max_length: 3, max_new_tokens: 1 },
        ...{ num_beams: 2, num_return_sequences: 2, return_dict_in_generate: true },
      };
      writeTinyCausalModel(folderOf("ending"), { replies, generation });
      const ending = await open("ending");
      const ask = (content: string) => complete(ending, { content, timeoutMs: 60_000 });
      expect(await ask("Count")).toMatchObject({
        ...{ text: "one two", doneReason: "stop", completionTokens: 3 },
      });
      expect(await ask("Greet")).toMatchObject({ text: "Good evening", doneReason: "stop" });
      const rambling = { ...LONG, maxTokens: 12 };
      const greedy = await complete(await open("tiny"), rambling);
      expect(await complete(ending, rambling)).toMatchObject({
        ...{ text: textOf(greedy), doneReason: "length", completionTokens: 12 },
      });
    });

    test("what can't be used is said with what to do", async () => {
      writeTinyCausalModel(folderOf("silent"), { template: null });
      writeTinyCausalModel(folderOf("gruff"), {
        template: "{{ raise_exception('no system') if messages[0].role == 'system' }}",
      });
      writeTinyCausalModel(folderOf("deaf"), { templateFile: "{{ messages[1].content }}" });
      writeTinyCausalModel(folderOf("empty"), { templateFile: "" });
      const rag = [{ name: "rag", template: TEMPLATE }];
      writeTinyCausalModel(folderOf("nameless"), { template: rag });
      writeTinyCausalModel(folderOf("torn"));
      writeFileSync(join(folderOf("torn"), "generation_config.json"), "{");
      writeTinyCausalModel(folderOf("cut"));
      writeFileSync(join(folderOf("cut"), "onnx", "model.onnx"), "half");
      writeTinyModel(folderOf("vectors"));
      const cases = [
        ["none", /lacks config\.json, .* in .*models\/none\. .*nightdesk models fetch none/],
        ["../tiny", /no name of a model/],
        ["/etc", /no name of a model/],
        [
          "silent",
          /no chat template stands in chat_template\.jinja or tokenizer_config\.json: put/,
        ],
        ["gruff", /takes no system message .*: put another into chat_template\.jinja/],
        ["deaf", /takes no system message/],
        ["empty", /takes no system message/],
        ["nameless", /no chat template stands in/],
        ["torn", /can't be loaded/],
        ["cut", /can't be loaded/],
        ["vectors", /can't be loaded/],
      ] as const;
      for (const [name, words] of cases) {
        const failure = await failureOf(open(name));
        expect(failure.code).toBe("MODEL_NOT_FOUND");
        expect(failure.message).toMatch(words);
        expect(failure.message).not.toContain("local_model_path");
      }
      // Two jobs at a time: neither gets a model that the other has not tried yet.
      const opening = transformersModels(configOf(), TYPESCRIPT);
      const two = await Promise.allSettled([opening("deaf", signal), opening("deaf", signal)]);
      expect(two.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
      const stopped = new AbortController();
      const first = opening("tiny", stopped.signal);
      const second = opening("tiny", signal);
      stopped.abort();
      await expect(first).rejects.toBeDefined();
      expect((await second).name).toBe("tiny");
      const hidden = await failureOf(open("tiny", {}, [...TYPESCRIPT, "--import", HIDE]));
      expect(hidden.message).toContain("npm install @huggingface/transformers");
    });
  });
});

type Outcome = Awaited<ReturnType<typeof complete>>;

function textOf(outcome: Outcome): string {
  if (outcome.kind === "reply") return outcome.text;
  throw new Error(`expected a reply, got ${outcome.code}`);
}

function promptTokensOf(outcome: Outcome): number {
  if (outcome.kind === "reply") return outcome.promptTokens;
  throw new Error(`expected a reply, got ${outcome.code}`);
}

const gone = (): Promise<void> =>
  eventually(
    "no process of a model is left",
    async () => childrenStartedWith(MODEL_PROCESS).length === 0,
  );

function killAll(): void {
  for (const pid of childrenStartedWith(MODEL_PROCESS)) process.kill(pid, "SIGKILL");
}

/** What a process has taken of a processor, in hundredths of a second. */
function ticksOf(pid: number): number {
  const [user, system] = statOf(pid).slice(11, 13);
  return Number(user) + Number(system);
}

/** A letter: T of one that was stopped. */
const stateOf = (pid: number): string | undefined => statOf(pid)[0];

/** What Linux tells of a process behind its name. */
function statOf(pid: number): readonly string[] {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ");
  return rest.split(" ");
}
