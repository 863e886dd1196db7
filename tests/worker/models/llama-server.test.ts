import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ReplyUnreadable, ToolCallUnreadable } from "../../../src/worker/models/model.ts";
import type { Model, ModelReply, ModelRequest } from "../../../src/worker/models/model.ts";
import { openOpenAiModel } from "../../../src/worker/models/openai-compatible.ts";
import {
  ANSWER_CLAIMS,
  claimsSchemaFor,
  readClaimsReply,
} from "../../../src/worker/verify/claims-reply.ts";
import { ENGINES } from "../../support/engines.ts";
import type { Engine, EngineOptions, RunningEngine } from "../../support/engines.ts";
import { complete, failureOf } from "../../support/model-hosts.ts";

/** A server of a describe block, and the client of its model. */
function serve(
  engine: Engine,
  options: EngineOptions = {},
): { running: RunningEngine; model: Model } {
  const world = {} as { running: RunningEngine; model: Model };
  beforeAll(async () => {
    world.running = await engine.start(options);
    world.model = await open(world.running, options.windowTokens);
  });
  afterAll(() => world.running.close());
  return world;
}

const open = ({ url }: RunningEngine, numCtx = 2048, name = "m"): Promise<Model> =>
  openOpenAiModel(
    { name, baseUrl: url },
    { num_ctx: numCtx, temperature: 0, seed: 1 },
    new AbortController().signal,
  );

async function reply(model: Model, request: Parameters<typeof complete>[1]): Promise<ModelReply> {
  const outcome = await complete(model, { timeoutMs: 20_000, ...request });
  if (outcome.kind === "reply") return outcome;
  throw new Error(`expected a reply, got ${outcome.code}: ${outcome.message}`);
}

/** Greedy, the model goes on for as long as it may; at temperature 1 it ends. */
const ENDS = { temperature: 1, seed: 2, maxTokens: 500 };
const LONG = { maxTokens: 16_000, timeoutMs: 60_000 };
/** A sign costs a token, and is taken for less by any count beforehand. */
const signs = (tokens: number): string => "!".repeat(tokens);

/** A long call that has a slot. `ended` never rejects: it is what the call threw. */
async function occupy(
  { running, model }: { readonly running: RunningEngine; readonly model: Model },
  request: Parameters<typeof complete>[1] = LONG,
): Promise<{ readonly ended: Promise<unknown>; abort(reason: Error): void }> {
  const controller = new AbortController();
  const ended = complete(model, request, controller.signal).catch((error: unknown) => error);
  await running.untilBusy(1);
  return {
    ended,
    abort: (reason) => {
      controller.abort(reason);
    },
  };
}

describe.each(ENGINES)("a model of $name", (engine) => {
  const world = serve(engine);

  test("is found by each of its names, and by no other", async () => {
    expect((await open(world.running, 2048, "second")).name).toBe("second");
    const failure = await failureOf(open(world.running, 2048, "third"));
    expect(failure.code).toBe("MODEL_NOT_FOUND");
  });

  test("has the window of a slot, the tools of its template, and a build", () => {
    expect(world.model.facts).toMatchObject({
      provider: "openai-compatible",
      windowTokens: 2048,
      toolProtocol: "native",
      serverVersion: expect.stringMatching(/^llama\.cpp b\d+/),
      quantization: expect.any(String),
      digest: null,
    });
  });

  test("replies with text, counted, and ends", async () => {
    const { text, ...counts } = await reply(world.model, ENDS);
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(counts).toMatchObject({ toolCalls: [], doneReason: "stop" });
    expect(counts.promptTokens).toBeGreaterThan(5);
    expect(counts.completionTokens).toBeGreaterThan(5);
  });

  test("is cut by maxTokens", async () => {
    const cut = await reply(world.model, { maxTokens: 20 });
    expect(cut).toMatchObject({ doneReason: "length", completionTokens: 20 });
  });

  test("says the same for a seed, also beside other calls", async () => {
    const alone = await reply(world.model, ENDS);
    const many = await Promise.all(
      [1, 2, 3, 2].map((seed) => reply(world.model, { ...ENDS, seed })),
    );
    expect(many.map(({ text }) => text).filter((text) => text === alone.text)).not.toHaveLength(0);
    expect(many[1]?.text).toBe(alone.text);
    expect(many[3]?.text).toBe(alone.text);
  });

  test("ends before a stop word", async () => {
    const { text } = await reply(world.model, ENDS);
    const word = text.slice(4, 6);
    expect((await reply(world.model, { ...ENDS, stop: [word] })).text).not.toContain(word);
  });
});

describe.each(ENGINES)("a schema, held by $name", (engine) => {
  const world = serve(engine);
  const schema = {
    type: "object",
    properties: { answer: { type: "string", maxLength: 20 }, count: { type: "integer" } },
    required: ["answer", "count"],
    additionalProperties: false,
  };

  test.each([1, 2, 3, 4, 5])("gives a reply of its form, with seed %i", async (seed) => {
    const { text, doneReason } = await reply(world.model, { ...ENDS, seed, format: schema });
    expect(doneReason).toBe("stop");
    expect(JSON.parse(text)).toEqual({ answer: expect.any(String), count: expect.any(Number) });
  });

  test.each([1, 2, 3, 4, 5])(
    "of claims is taken, and the reply read, with seed %i",
    async (seed) => {
      const given = await reply(world.model, {
        ...ENDS,
        seed,
        format: claimsSchemaFor(ANSWER_CLAIMS),
      });
      const read = readClaimsReply(given, 3, ANSWER_CLAIMS);
      if (given.doneReason === "stop") expect(["claims", "declined"]).toContain(read.kind);
      else expect(["claims", "declined", "formless"]).toContain(read.kind);
      expect(read).not.toMatchObject({ why: "ignored" });
    },
  );

  test("that is none is refused, and the words of the host say where", async () => {
    const outcome = await complete(world.model, { format: { type: "nonsense" } });
    expect(outcome).toMatchObject({ kind: "refused", code: "MODEL_UNSUPPORTED" });
    expect(outcome.kind === "refused" && outcome.message).toContain("nonsense");
  });
});

describe.each(ENGINES)("a reply that is no text of $name", (engine) => {
  const world = serve(engine, { writes: "any_bytes" });

  test("is unreadable where a schema was to hold it, and no fault of the host", async () => {
    const failures: unknown[] = [];
    for (let seed = 1; seed <= 40 && failures.length === 0; seed += 1) {
      const request = { ...ENDS, seed, maxTokens: 200, format: "json" as const };
      await complete(world.model, request).catch((error: unknown) => failures.push(error));
    }
    expect(failures).toEqual([expect.any(ReplyUnreadable)]);
    expect(failures).toMatchObject([{ code: "MODEL_OUTPUT_INVALID" }]);
  });
});

describe.each(ENGINES)("a tool, offered to $name", (engine) => {
  const world = serve(engine);
  const path = { type: "string", maxLength: 20 };
  const tool = {
    name: "read_text_file",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path }, required: ["path"] },
  };
  const ask: Partial<ModelRequest> = { tools: [tool], ...ENDS, maxTokens: 300 };

  test.each(["required", undefined] as const)("is called, with choice %s", async (toolChoice) => {
    const choice = toolChoice === undefined ? {} : { toolChoice };
    const { toolCalls, text } = await reply(world.model, { ...ask, ...choice });
    expect(text).toBe("");
    expect(toolCalls[0]).toEqual({
      name: "read_text_file",
      args: { path: expect.any(String) },
    });
  });

  test("is called in a way that nobody can read, where the reply is cut in the call", async () => {
    const cut = { ...ask, toolChoice: "required" as const, maxTokens: 55 };
    expect(await failureOf(reply(world.model, cut))).toBeInstanceOf(ToolCallUnreadable);
  });
});

describe.each(ENGINES)("the window of $name", (engine) => {
  const world = serve(engine, { windowTokens: 512 });

  test("refuses a prompt that is longer, which no count beforehand found", async () => {
    const outcome = await complete(world.model, { content: signs(700) });
    expect(outcome).toMatchObject({ kind: "refused", code: "CONTEXT_OVERFLOW" });
  });

  test("cuts a reply, and says so", async () => {
    const cut = await reply(world.model, { content: signs(440) });
    expect(cut).toMatchObject({ doneReason: "window" });
    expect(cut.completionTokens).toBeLessThan(100);
  });
});

describe.each(ENGINES)("prompts that together fill the one window of $name", (engine) => {
  const world = serve(engine, { windowTokens: 1024, pool: "shared", slots: 4 });

  test("find it busy, and each of them fits alone", async () => {
    const [one = "", other = ""] = ["!", "?"].map((sign) => sign.repeat(600));
    const long = await occupy(world, { ...LONG, content: one });
    const second = await complete(world.model, { content: other }).catch((error: unknown) => error);
    long.abort(new Error("enough"));
    // Which of them the server gives up, or both, is its own affair.
    const outcomes = [await long.ended, second];
    expect(outcomes).toContainEqual(expect.objectContaining({ code: "MODEL_OVERLOADED" }));
    expect(outcomes).not.toContainEqual(expect.objectContaining({ code: "CONTEXT_OVERFLOW" }));
    for (const content of [one, other]) {
      expect(await reply(world.model, { content, maxTokens: 5 })).toMatchObject({ kind: "reply" });
    }
  });
});

describe.each(ENGINES)("the one slot of $name", (engine) => {
  const world = serve(engine, { slots: 1, windowTokens: 32_768 });
  test("is free again when a call is aborted, for the one that waits", async () => {
    const long = await occupy(world);
    const next = reply(world.model, ENDS);
    const reason = new Error("cancelled");
    long.abort(reason);
    expect(await long.ended).toBe(reason);
    expect(await next).toMatchObject({ doneReason: "stop" });
  });

  test("keeps others waiting without a byte, who find it busy when their time is up", async () => {
    const long = await occupy(world);
    const failure = await failureOf(complete(world.model, { ...ENDS, timeoutMs: 200 }));
    expect(failure.code).toBe("MODEL_OVERLOADED");
    long.abort(new Error("enough"));
    await long.ended;
  });

  test("is late where it took a call and did not end in time", async () => {
    const failure = await failureOf(complete(world.model, { ...LONG, timeoutMs: 1_500 }));
    expect(failure.code).toBe("MODEL_TIMEOUT");
  });

  test("breaks off when its server dies, and works when that is back", async () => {
    const long = await occupy(world);
    await world.running.goDown();
    expect(await long.ended).toMatchObject({ code: "MODEL_UNREACHABLE", brokeOff: true });
    const absent = await failureOf(complete(world.model));
    expect(absent).toMatchObject({ code: "MODEL_UNREACHABLE", brokeOff: false });
    await world.running.comeBack();
    expect(await reply(world.model, ENDS)).toMatchObject({ doneReason: "stop" });
  });
});

describe.each(ENGINES)("a model of $name behind a path", (engine) => {
  const world = serve(engine, { below: "/team/llm" });

  test("is asked, counted and replies below it", async () => {
    expect(world.running.url).toMatch(/\/team\/llm$/);
    expect(world.model.facts.serverVersion).toContain("llama.cpp");
    expect(world.model.counting).toBe("chat");
    expect(await reply(world.model, ENDS)).toMatchObject({ doneReason: "stop" });
  });

  test("is not looked for elsewhere on its server", async () => {
    const url = new URL(world.running.url).origin;
    const failure = await failureOf(open({ ...world.running, url }));
    expect(failure.code).toBe("MODEL_UNREACHABLE");
    expect(failure.message).toContain(`answers at ${url} (HTTP 404)`);
    expect(failure.message).toContain("with what stands before /v1 and without it");
  });
});
