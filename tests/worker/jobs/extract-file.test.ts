import { describe, expect, test } from "@jest/globals";
import type { ExtractInput } from "../../../src/shared/job.ts";
import { schemaCompiler } from "../../../src/shared/json-schema.ts";
import type { Outcome, RunResult } from "../../../src/shared/run-result.ts";
import { startTrace } from "../../../src/shared/run-trace.ts";
import { extractFile } from "../../../src/worker/jobs/extract.ts";
import type { Model } from "../../../src/worker/models/model.ts";
import {
  FACTS,
  scripted,
  SETTINGS,
  sha256Of,
  userText,
  worldOf,
} from "../../support/pipeline-world.ts";
import type { World } from "../../support/pipeline-world.ts";
import { piecesIn, readingModel } from "../../support/reading-model.ts";
import { testSchemaThread } from "../offload/test-offload.ts";

const compileSchema = schemaCompiler();
const offloadSchema = testSchemaThread();

type Done = { readonly outcome: Outcome; readonly record: Omit<RunResult, "outcome"> };

async function extract(world: World, fields: Partial<ExtractInput>): Promise<Done> {
  const trace = startTrace();
  const input: ExtractInput = { kind: "extract", path: "a.md", ...fields };
  const deps = { ...worldOf(world), compileSchema, offloadSchema };
  const outcome = await extractFile({ input }, deps, trace, new AbortController().signal);
  return { outcome, record: trace.record() };
}

const BILL = "# Bill 17\n\nFor Ada Lind, 3 ropes.\n\nTotal 240 EUR, payable by 30 June 2026.\n";
const TOTAL = {
  type: "object",
  properties: { total: { type: "number" }, quote: { type: "string" } },
  required: ["total", "quote"],
  additionalProperties: false,
};
const GOOD = '{"total":240,"quote":"Total 240 EUR, payable by 30 June 2026."}';
const bill = (...replies: Parameters<typeof scripted>[0]) => {
  const model = scripted(replies);
  return { model, world: { files: { "a.md": BILL }, models: [model] } };
};
const codeOf = ({ outcome }: Done) => (outcome.kind === "refused" ? outcome.code : outcome.kind);

describe("fields of a schema", () => {
  test("are the answer as JSON with the footer, the summary, and quotes with their places", async () => {
    const { model, world } = bill(GOOD);
    const { outcome, record } = await extract(world, { schema: TOTAL });
    const footer = `Scope: full evidence from read_text_file (${BILL.length}/${BILL.length}), sha256=${sha256Of(BILL)}`;
    expect(outcome).toEqual({
      kind: "succeeded",
      answer: `${GOOD}\n${footer}`,
      scope: footer,
      citations: [
        {
          path: "a.md",
          heading: null,
          chunkKey: null,
          lineStart: 5,
          lineEnd: 5,
          quote: "Total 240 EUR, payable by 30 June 2026.",
        },
      ],
      summary: JSON.parse(GOOD) as unknown,
    });
    expect(record.checks.quotes).toMatchObject([{ class: "verbatim", span: { lineStart: 5 } }]);
    expect(model.requests[0]?.task).toMatchObject({ purpose: "extract", preset: null });
    expect(model.requests[0]?.messages[0]?.content).toContain(JSON.stringify(TOTAL));
  });

  test.each([
    ["in a code fence", `\`\`\`json\n${GOOD}\n\`\`\``],
    ["behind thinking", `<think>A bill {of some kind}.</think>\n${GOOD}`],
    ["behind a sentence", `Here are the fields:\n\n${GOOD}\n\nI hope that this helps.`],
  ])("are taken %s", async (_, reply) => {
    const { outcome } = await extract(bill(reply).world, { schema: TOTAL });
    expect(outcome).toMatchObject({ kind: "succeeded", summary: { total: 240 } });
  });

  test("that do not fit get one more try, which is shown where and not the document", async () => {
    const { model, world } = bill('{"total":"240 EUR"}', GOOD);
    expect(codeOf(await extract(world, { schema: TOTAL }))).toBe("succeeded");
    const retry = userText(model.requests[1]).split("Your previous reply was rejected:")[1] ?? "";
    expect(retry).toContain("/: must have required property 'quote'.");
    expect(retry).toContain("/total: must be number.");
    expect(retry).not.toContain("payable");
  });

  test("that do not fit twice are refused with the place, and the record has both tries", async () => {
    const { world } = bill('{"total":"much","quote":"x"}', "no JSON at all");
    const done = await extract(world, { schema: TOTAL });
    expect(done.outcome).toMatchObject({
      code: "SECOND_PASS_FORMAT_VIOLATION",
      message: expect.stringContaining("it held no JSON object"),
    });
    expect(done.record.replies.map(({ pass }) => pass)).toEqual(["second", "retry"]);
  });

  test.each([
    [
      "a tool call",
      '{"type":"tool_call","name":"read_text_file","args":{"path":"b.md"}}',
      "UNEXPECTED_TOOL_CALL_SECOND_PASS",
    ],
    ["JSON without an end", '{"total":240,', "SECOND_PASS_FORMAT_VIOLATION"],
    ["a list", `[${GOOD}]`, "SECOND_PASS_FORMAT_VIOLATION"],
    [
      "a number that no row holds",
      '{"total":1e999,"quote":"Total"}',
      "SECOND_PASS_FORMAT_VIOLATION",
    ],
    ["a NUL in a text", '{"total":1,"quote":"Total\\u0000"}', "SECOND_PASS_FORMAT_VIOLATION"],
  ])("%s is refused after the second try", async (_, reply, code) => {
    expect(codeOf(await extract(bill(reply, reply).world, { schema: TOTAL }))).toBe(code);
  });

  test("a model that declines is a refusal at once", async () => {
    const done = await extract(bill("INSUFFICIENT_EVIDENCE").world, { schema: TOTAL });
    expect(codeOf(done)).toBe("EVIDENCE_NOT_ACQUIRED");
  });

  test("a host that can hold a reply to a schema is asked to, in its own words", async () => {
    const { model, world } = bill(GOOD);
    const able: Model = { ...model, facts: { ...FACTS, toolProtocol: "native" } };
    const schema = {
      ...TOTAL,
      properties: {
        ...TOTAL.properties,
        quote: { type: "string", pattern: "^T", "x-quote": true },
      },
    };
    await extract({ ...world, models: [able] }, { schema });
    expect(model.requests[0]?.format).toEqual(TOTAL);
  });

  test("a model without language says that it can't, and knows the presets", async () => {
    const settings = { ...SETTINGS, model: { ...SETTINGS.model, provider: "extractive" as const } };
    const done = await extract(
      { files: { "a.md": BILL }, models: [], settings },
      { schema: TOTAL },
    );
    expect(done.outcome).toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("classify, actions and people"),
    });
  });
});

describe("a quote", () => {
  const invented = '{"total":240,"quote":"Ada owes 240 EUR to the club"}';

  test("that does not stand in the document gets one more try, then the result is refused", async () => {
    const { model, world } = bill(invented, invented);
    const done = await extract(world, { schema: TOTAL });
    expect(done.outcome).toMatchObject({
      code: "CITATION_INVALID",
      message: expect.stringContaining("/quote: it does not stand"),
    });
    expect(done.outcome.kind === "refused" ? done.outcome.message : "").not.toContain("owes");
    expect(model.requests).toHaveLength(2);
    expect(done.record.checks.quotes).toMatchObject([{ class: "not_found", span: null }]);
  });

  test("is only recorded, or not even looked up, where the configuration says so", async () => {
    const settingsOf = (quotes: "record" | "off") => ({
      ...SETTINGS,
      ask: { ...SETTINGS.ask, quotes },
    });
    const recorded = await extract(
      { ...bill(invented).world, settings: settingsOf("record") },
      { schema: TOTAL },
    );
    expect(recorded).toMatchObject({
      outcome: { kind: "succeeded", citations: [] },
      record: { checks: { quotes: [{ class: "not_found" }] } },
    });
    const unseen = await extract(
      { ...bill(invented).world, settings: settingsOf("off") },
      { schema: TOTAL },
    );
    expect(unseen).toMatchObject({
      outcome: { kind: "succeeded" },
      record: { checks: { quotes: [] } },
    });
  });

  test("is any text that the schema marks as one, wherever it is", async () => {
    const schema = {
      type: "object",
      properties: { lines: { type: "array", items: { $ref: "#/$defs/line" } } },
      $defs: {
        line: {
          anyOf: [{ type: "object", properties: { seen: { type: "string", "x-quote": true } } }],
        },
      },
    };
    const reply = '{"lines":[{"seen":"3 ropes"},{"seen":"4 ropes"}]}';
    const done = await extract(bill(reply, reply).world, { schema });
    expect(done.outcome).toMatchObject({
      code: "CITATION_INVALID",
      message: expect.stringContaining("/lines/1/seen"),
    });
    expect(done.record.checks.quotes.map(({ class: found }) => found)).toEqual([
      "verbatim",
      "not_found",
    ]);
  });

  test("that is blank is none", async () => {
    const blank = '{"total":240,"quote":" "}';
    expect(codeOf(await extract(bill(blank, blank).world, { schema: TOTAL }))).toBe(
      "SECOND_PASS_FORMAT_VIOLATION",
    );
  });
});

describe("a preset", () => {
  test("holds a label to those that were given", async () => {
    const reply = (label: string) =>
      JSON.stringify({ quote: "Total 240 EUR", reason: "It bills.", label, priority: "normal" });
    const labels = ["invoice", "letter"];
    const { model, world } = bill(reply("bill"), reply("invoice"));
    const { outcome } = await extract(world, { preset: "classify", labels });
    expect(outcome).toMatchObject({ summary: { label: "invoice", priority: "normal" } });
    expect(userText(model.requests[1])).toContain(
      '/label: must be equal to one of the allowed values: ["invoice","letter"]',
    );
  });

  test("reads days out of what the document spells, and out of nothing else", async () => {
    const action = (due: string | null) => ({
      quote: "payable by 30 June 2026",
      action: "Pay",
      owner: null,
      due,
    });
    const { world } = bill(
      JSON.stringify({
        actions: ["30 June 2026", "30 June", "6/7/2026", "31 February 2026", null].map(action),
      }),
    );
    const { outcome } = await extract(world, { preset: "actions" });
    const { actions } = (outcome.kind === "succeeded" ? outcome.summary : {}) as {
      actions: { due_date: string | null }[];
    };
    expect(actions.map(({ due_date: day }) => day)).toEqual(["2026-06-30", null, null, null, null]);
  });

  test("keeps the order of its lists, so that quotes are found by their place", async () => {
    const reply =
      '{"dates":[{"quote":"30 June 2026","date":"30 June 2026","what":"pay"}],"people":[{"quote":"For Ada Lind","name":"Ada Lind","role":null}]}';
    const { outcome, record } = await extract(bill(reply).world, { preset: "people" });
    expect(Object.keys((outcome.kind === "succeeded" ? outcome.summary : null) ?? {})).toEqual([
      "people",
      "dates",
    ]);
    expect(record.checks.quotes.map(({ quote }) => quote)).toEqual([
      "For Ada Lind",
      "30 June 2026",
    ]);
  });
});

describe("a file beyond the window", () => {
  const lines = Array.from(
    { length: 300 },
    (_, index) => `Line number ${index} of the file has words.`,
  );
  const text = `${lines.join("\n")}\nTotal 240 EUR.\n`;
  const PARTED = { promptChars: 7_000 };
  const firstOf = (request: Parameters<typeof piecesIn>[0]) =>
    (piecesIn(request)[0] ?? "").split("\n")[0] ?? "";

  test("is gone through part by part, and lists are put together without repeats", async () => {
    const model = readingModel(PARTED, (request) =>
      JSON.stringify({
        actions: [
          { quote: firstOf(request), action: firstOf(request), owner: null, due: null },
          { quote: firstOf(request), action: "Read  ON", owner: null, due: null },
        ],
      }),
    );
    const { outcome, record } = await extract(
      { files: { "a.md": text }, models: [model] },
      { preset: "actions" },
    );
    const parts = record.parts.length;
    expect(parts).toBeGreaterThan(2);
    expect(model.taken.flatMap(piecesIn).join("")).toBe(text);
    expect(outcome).toMatchObject({
      scope: expect.stringMatching(new RegExp(`, parts=${parts}$`)),
    });
    const { actions } = (outcome.kind === "succeeded" ? outcome.summary : {}) as {
      actions: { action: string }[];
    };
    expect(actions).toHaveLength(parts + 1);
    expect(record.checks.quotes).toHaveLength(parts + 1);
    expect(record.checks.quotes.every(({ class: found }) => found === "verbatim")).toBe(true);
    expect(record.checks.quotes.at(-1)?.span?.lineStart).toBeGreaterThan(100);
  });

  test("has the label that most of it has", async () => {
    const model = readingModel(PARTED, (request) =>
      JSON.stringify({
        quote: firstOf(request),
        reason: "So it is.",
        label: firstOf(request).includes("number 0 ") ? "letter" : "minutes",
        priority: firstOf(request).includes("number 0 ") ? "high" : "low",
      }),
    );
    const { outcome } = await extract(
      { files: { "a.md": text }, models: [model] },
      { preset: "classify", labels: ["letter", "minutes"] },
    );
    expect(outcome).toMatchObject({ summary: { label: "minutes", priority: "low" } });
  });

  test("need not have a required field in every part, but must have it in one", async () => {
    const inPart = (request: Parameters<typeof piecesIn>[0]) =>
      piecesIn(request).join("").includes("Total") ? { total: 240, quote: "Total 240 EUR." } : {};
    const found = readingModel(PARTED, (request) => JSON.stringify(inPart(request)));
    const world = { files: { "a.md": text } };
    expect((await extract({ ...world, models: [found] }, { schema: TOTAL })).outcome).toMatchObject(
      { summary: { total: 240 } },
    );
    const nowhere = readingModel(PARTED, () => "{}");
    expect(
      (await extract({ ...world, models: [nowhere] }, { schema: TOTAL })).outcome,
    ).toMatchObject({
      code: "SECOND_PASS_FORMAT_VIOLATION",
      message: expect.stringContaining("/: must have required property 'total'"),
    });
  });

  test("is refused where one part is, with its place, and where it can't be read whole", async () => {
    const model = readingModel(PARTED, () => "nothing");
    const done = await extract({ files: { "a.md": text }, models: [model] }, { schema: TOTAL });
    expect(done.outcome).toMatchObject({
      code: "SECOND_PASS_FORMAT_VIOLATION",
      message: expect.stringMatching(/^Lines 1 to \d+ of a.md: /),
    });
    const settings = { ...SETTINGS, ask: { ...SETTINGS.ask, max_chars_full_read: 100 } };
    expect(
      codeOf(
        await extract(
          { files: { "a.md": text }, models: [scripted([])], settings },
          { schema: TOTAL },
        ),
      ),
    ).toBe("EVIDENCE_TRUNCATED");
  });
});
