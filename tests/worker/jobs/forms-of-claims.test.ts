import { describe, expect, test } from "@jest/globals";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type { PipelineSettings } from "../../../src/worker/evidence/types.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import { digestChildren } from "../../../src/worker/jobs/digest.ts";
import type { DigestChild } from "../../../src/worker/jobs/digest-items.ts";
import { summarizeFile } from "../../../src/worker/jobs/summarize.ts";
import { claimsSchemaFor } from "../../../src/worker/verify/claims-reply.ts";
import { FACTS, scripted, SETTINGS, sha256Of, worldOf } from "../../support/pipeline-world.ts";
import type { ScriptedModel } from "../../support/pipeline-world.ts";
import { piecesIn, readingModel } from "../../support/reading-model.ts";
import type { ReadingModel } from "../../support/reading-model.ts";

/** A model whose host holds replies to schemas. */
const held = <M extends ScriptedModel | ReadingModel>(model: M): M => ({
  ...model,
  facts: { ...FACTS, toolProtocol: "schema" as const },
});

const settings: PipelineSettings = {
  ...SETTINGS,
  ask: { ...SETTINGS.ask, unsupported: "repair" },
};

const claimsOf = (...claims: readonly object[]): string =>
  JSON.stringify({ declined: false, missing: null, claims });

const { signal } = new AbortController();

describe("a summary", () => {
  const text = "# Rail\n\nTrains run every 20 minutes. The fare is 12 euro.\n";
  const footer = `Scope: full evidence from read_text_file (${text.length}/${text.length}), sha256=${sha256Of(text)}`;
  const TRAINS = {
    quote: "Trains run every 20 minutes.",
    text: "Trains run every 20 minutes.",
  };
  const FARE = { quote: null, text: "The fare is 12 euro [1]" };

  const summarize = async (model: ScriptedModel | ReadingModel, bullets = false, of = text) => {
    const trace = startTrace();
    const input = { kind: "summarize", path: "a.md", options: { bullets } } as const;
    const deps = worldOf({ files: { "a.md": of }, models: [held(model)], settings });
    const outcome = await summarizeFile({ jobId: "j", input }, deps, trace, signal);
    return { outcome, record: trace.record() };
  };

  test("is put together from claims, which need cite nothing", async () => {
    const model = scripted([claimsOf(TRAINS, FARE)]);
    const { outcome, record } = await summarize(model);
    expect(outcome).toMatchObject({
      kind: "succeeded",
      answer: `Trains run every 20 minutes. The fare is 12 euro.\n${footer}`,
    });
    expect(model.requests[0]?.format).toEqual(claimsSchemaFor({ quotes: true, cites: false }));
    expect(record.claims).toMatchObject([
      { text: TRAINS.text, quote: TRAINS.quote, grade: "supported", reason: "verbatim" },
      { text: "The fare is 12 euro.", quote: null, grade: "supported" },
    ]);
    expect(record.replies.at(-1)?.prompt).toMatchObject({ template: "summary-claims/1" });
  });

  test("has a line for each where bullets were asked for", async () => {
    const { outcome } = await summarize(scripted([claimsOf(TRAINS, FARE)]), true);
    expect(outcome).toMatchObject({
      answer: `- Trains run every 20 minutes.\n- The fare is 12 euro.\n${footer}`,
    });
  });

  test("leaves out what the file does not carry after one repair that names it", async () => {
    const wrong = { quote: null, text: "The fare is 14 euro." };
    const model = scripted([claimsOf(TRAINS, wrong), claimsOf(TRAINS, wrong)]);
    const { outcome, record } = await summarize(model);
    expect(model.requests[1]?.messages[1]?.content).toContain("The fare is 14 euro.");
    expect(outcome).toMatchObject({ answer: expect.stringContaining("1 statement was left out") });
    expect(record.claims).toMatchObject([
      { draft: 0, grade: "supported" },
      { draft: 0, grade: "unsupported", fate: "repaired" },
      { draft: 1, grade: "supported" },
      { draft: 1, grade: "unsupported", fate: "dropped" },
    ]);
  });

  test("is asked for as text where the reply is no list of claims", async () => {
    const model = scripted(['{"summary":"Trains run."}', "Trains run every 20 minutes."]);
    const { outcome } = await summarize(model);
    expect(model.requests.map(({ format }) => format === undefined)).toEqual([false, true]);
    expect(outcome).toMatchObject({ answer: `Trains run every 20 minutes.\n${footer}` });
  });

  test("of parts is claims without quotes, graded on the words of the file", async () => {
    const lines = Array.from(
      { length: 300 },
      (_, at) => `Train ${at} runs every ${at + 1} minutes.`,
    );
    const long = `${lines.join("\n")}\n`;
    const said = "Train 7 runs every 8 minutes.";
    const model = readingModel({ promptChars: 9_000 }, ({ format }) =>
      format === undefined ? said : claimsOf({ text: said, quote: said }),
    );
    const { outcome, record } = await summarize(model, false, long);
    expect(outcome).toMatchObject({ kind: "succeeded" });
    const asked = model.requests.map(({ format }) => format);
    expect(asked.slice(0, -1).every((format) => format === undefined)).toBe(true);
    expect(asked.at(-1)).toEqual(claimsSchemaFor({ quotes: false, cites: false }));
    expect(piecesIn(model.requests.at(-1)).length).toBe(record.parts.length);
    expect(record.claims).toMatchObject([
      { text: said, quote: null, grade: "supported", cites: expect.anything() },
    ]);
  });
});

test("an answer from notes on parts is claims without quotes, graded on the words of the file", async () => {
  const path = "corpus/minutes.md";
  const lines = Array.from({ length: 600 }, (_, at) => `Item ${at}: nothing was decided.`);
  lines[17] = "The fare rises to 5 EUR in May.";
  const model = readingModel({ promptChars: 9_000 }, (request) => {
    const at = piecesIn(request).findIndex((piece) => piece.includes("5 EUR"));
    if (at < 0) return "INSUFFICIENT_EVIDENCE";
    const cites = [at + 1];
    return request.format === undefined
      ? `The fare rises to 5 EUR in May [${at + 1}].`
      : claimsOf(
          { text: "The fare rises to 5 EUR in May.", cites },
          { text: "The fare rises to 9 EUR in May.", cites },
        );
  });
  const trace = startTrace();
  const deps = worldOf({ files: { [path]: lines.join("\n") }, models: [held(model)], settings });
  const question = `Give a thorough answer: what happens to the fare in ${path}?`;
  const input = { kind: "ask", question } as const;
  const outcome = await answerQuestion({ jobId: "j", input }, deps, trace, signal);
  expect(outcome).toMatchObject({
    answer: expect.stringMatching(/^The fare rises to 5 EUR in May \[1\]\.\n\n\(1 statement was/),
    citations: [{ path }],
  });
  expect(model.requests.at(-1)?.format).toEqual(claimsSchemaFor({ quotes: false, cites: true }));
  const { claims, replies } = trace.record();
  expect(replies.at(-1)?.prompt).toMatchObject({ template: "notes-claims/1" });
  expect(claims.filter(({ draft }) => draft === 1)).toMatchObject([
    { grade: "supported", reason: "verbatim" },
    { grade: "unsupported", fate: "dropped" },
  ]);
});

describe("a digest", () => {
  const childOf = (path: string, words: string): DigestChild => ({
    jobId: `job of ${path}`,
    kind: "summarize",
    state: "succeeded",
    errorCode: null,
    path,
    words,
    leftOut: [],
  });
  const CHILDREN = [
    childOf("rail/a.md", "Trains run hourly."),
    childOf("rail/c.md", "Tickets cost 4 EUR."),
  ];
  const digest = async (model: ScriptedModel) => {
    const trace = startTrace();
    const job = { input: { kind: "digest", title: "rail/", level: "folder" } as const };
    const deps = worldOf({ models: [held(model)], settings });
    const outcome = await digestChildren(job, CHILDREN, deps, { trace, signal });
    return { outcome, record: trace.record() };
  };

  test("has a line for each claim, with the numbers that it cites", async () => {
    const model = scripted([
      claimsOf(
        { text: "Trains run hourly", cites: [1] },
        { text: "- Tickets cost 4 EUR.", cites: [2] },
      ),
    ]);
    const { outcome, record } = await digest(model);
    expect(outcome).toMatchObject({
      answer: expect.stringMatching(
        /^- Trains run hourly \[1\]\.\n- Tickets cost 4 EUR \[2\]\.\nScope:/,
      ),
      citations: [
        { number: 1, path: "rail/a.md" },
        { number: 2, path: "rail/c.md" },
      ],
    });
    expect(model.requests[0]?.format).toEqual(claimsSchemaFor({ quotes: false, cites: true }));
    expect(record.claims).toMatchObject([{ grade: "supported" }, { grade: "supported" }]);
    expect(record.replies.at(-1)?.prompt).toMatchObject({ template: "digest-claims/1" });
  });

  test("is told of a claim that cites nothing, and then is without it", async () => {
    const uncited = { text: "Tickets cost 4 EUR.", cites: [] };
    const cited = { text: "Trains run hourly.", cites: [1] };
    const { outcome, record } = await digest(
      scripted([claimsOf(cited, uncited), claimsOf(cited, uncited)]),
    );
    expect(outcome).toMatchObject({
      answer: expect.stringMatching(/^- Trains run hourly \[1\]\.\n\n\(1 statement was left out/),
    });
    expect(record.claims.filter(({ draft }) => draft === 1)).toMatchObject([
      { grade: "supported", stands: true },
      { reason: "uncited", fate: "dropped" },
    ]);
  });

  test("is asked for as text where the reply is no list of claims", async () => {
    const model = scripted(["{}", "- Trains run hourly [1]."]);
    const { outcome } = await digest(model);
    expect(outcome).toMatchObject({ answer: expect.stringContaining("- Trains run hourly [1].") });
    expect(model.requests.map(({ format }) => format === undefined)).toEqual([false, true]);
  });
});
