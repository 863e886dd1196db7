import { describe, expect, test } from "@jest/globals";
import { refuse } from "../../../src/shared/failure.ts";
import type { Refusal } from "../../../src/shared/failure.ts";
import type { RunResult } from "../../../src/shared/job/run-result.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type { PipelineSettings } from "../../../src/worker/evidence/types.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import type { ModelFacts, ModelReply } from "../../../src/worker/models/model.ts";
import { ANSWER_CLAIMS, claimsSchemaFor } from "../../../src/worker/verify/claims-reply.ts";
import {
  callFor,
  FACTS,
  scripted,
  SETTINGS,
  sha256Of,
  userText,
  worldOf,
} from "../../support/pipeline-world.ts";
import type { ScriptedModel } from "../../support/pipeline-world.ts";

const text = "# Rail\n\nTrains run every 20 minutes. The fare is 12 euro.\n";
const footer = `Scope: full evidence from read_text_file (${text.length}/${text.length}), sha256=${sha256Of(text)}`;
const question = "What does corpus/rail.md say of trains?";

type Asked = {
  readonly outcome: RunEnd;
  readonly record: Omit<RunResult, "outcome">;
  /** The requests of pass 2. */
  readonly asked: ScriptedModel["requests"];
  /** How often the model was noted as one that ignores schemas. */
  readonly noted: number;
};

type Draft = string | Partial<ModelReply> | Refusal;
type Setting = {
  readonly facts?: Partial<ModelFacts>;
  readonly ask?: Partial<PipelineSettings["ask"]>;
};

async function ask(drafts: readonly Draft[], { facts, ask: own }: Setting = {}): Promise<Asked> {
  const trace = startTrace();
  const model = scripted([callFor("corpus/rail.md"), ...drafts]);
  let noted = 0;
  const able = {
    ...model,
    facts: { ...FACTS, toolProtocol: "schema" as const, ...facts },
    noteIgnoredSchema: async (): Promise<void> => {
      noted += 1;
    },
  };
  const deps = worldOf({
    files: { "corpus/rail.md": text },
    models: [able],
    settings: { ...SETTINGS, ask: { ...SETTINGS.ask, unsupported: "repair", ...own } },
  });
  const input = { kind: "ask", question } as const;
  const { signal } = new AbortController();
  const outcome = await answerQuestion({ jobId: "j", input }, deps, trace, signal);
  return { outcome, record: trace.record(), asked: model.requests.slice(1), noted };
}

const claimsOf = (...claims: readonly object[]): string =>
  JSON.stringify({ declined: false, missing: null, claims });
const TRAINS = {
  quote: "Trains run every 20 minutes.",
  text: "Trains run every 20 minutes.",
  cites: [1],
};
const INVENTED = { quote: null, text: "Penguins swim at 40 km/h.", cites: [1] };
const PROSE = "Trains run every 20 minutes [1].";

const formsOf = ({ asked }: Asked): readonly string[] =>
  asked.map(({ format, messages }) => {
    const isForClaims = messages[0]?.content.includes('{"declined"') === true;
    return `${isForClaims ? "claims" : "text"}${format === undefined ? "" : " by schema"}`;
  });

describe("a model whose host holds schemas is asked for claims", () => {
  test("of which the answer is put together", async () => {
    const found = await ask([claimsOf(TRAINS)]);
    expect(found.outcome).toMatchObject({
      kind: "succeeded",
      answer: `${PROSE}\n${footer}`,
      citations: [{ number: 1, path: "corpus/rail.md" }],
    });
    expect(found.asked).toMatchObject([{ format: claimsSchemaFor(ANSWER_CLAIMS) }]);
    expect(userText(found.asked[0])).not.toContain("Scope:");
    expect(found.record.claims).toMatchObject([
      {
        text: TRAINS.text,
        quote: TRAINS.quote,
        grade: "supported",
        reason: "verbatim",
        stands: true,
      },
    ]);
    expect(found.record.replies.at(-1)?.prompt).toMatchObject({ template: "answer-claims/1" });
    expect(found.record.events.at(-1)).toMatchObject({
      detail: { verdict: "passed", form: "claims", footer: "appended" },
    });
    expect(found.noted).toBe(0);
  });

  test("each of which cites for itself", async () => {
    const uncited = { quote: null, text: "The fare is 12 euro.", cites: [] };
    const { outcome, record } = await ask([claimsOf(uncited, TRAINS), claimsOf(uncited, TRAINS)]);
    expect(record.claims).toMatchObject([
      { draft: 0, reason: "uncited", fate: "repaired" },
      { draft: 0, grade: "supported" },
      { draft: 1, reason: "uncited", fate: "dropped" },
      { draft: 1, grade: "supported" },
    ]);
    expect(outcome).toMatchObject({
      answer: expect.stringMatching(/^Trains [^\n]*\n\n\(1 statement/),
    });
  });

  test("and a claim that makes several statements is graded by each", async () => {
    const two = { ...TRAINS, text: "Trains run every 20 minutes. The fare is 12 euro." };
    const { record } = await ask([claimsOf(two)]);
    expect(record.claims).toMatchObject([
      { text: "Trains run every 20 minutes.", quote: null, reason: "verbatim" },
      { text: "The fare is 12 euro.", quote: null, reason: "verbatim" },
    ]);
  });

  test("and once more where the evidence does not carry one", async () => {
    const found = await ask([claimsOf(TRAINS, INVENTED), claimsOf(TRAINS)]);
    expect(formsOf(found)).toEqual(["claims by schema", "claims by schema"]);
    expect(userText(found.asked[1])).toContain(INVENTED.text);
    expect(found.outcome).toMatchObject({ answer: `${PROSE}\n${footer}` });
  });

  test.each([
    ["says that evidence is missing", '{"declined":true,"missing":"the platform","claims":[]}'],
    ["guesses beside it", JSON.stringify({ declined: true, missing: "it", claims: [TRAINS] })],
    ["gives no claim", claimsOf()],
    ["declines in a claim", claimsOf({ ...TRAINS, text: "INSUFFICIENT_EVIDENCE" })],
  ])("and believed where it %s", async (_, draft) => {
    const found = await ask([draft]);
    expect(found.outcome).toMatchObject({ kind: "refused", code: "EVIDENCE_NOT_ACQUIRED" });
    expect(found.asked).toHaveLength(1);
  });

  test.each([
    [
      "a tool call",
      claimsOf({ ...TRAINS, text: callFor("corpus/rail.md") }),
      "UNEXPECTED_TOOL_CALL_SECOND_PASS",
    ],
    [
      "what resembles a mark",
      claimsOf({ ...TRAINS, text: "It runs <<<EVIDENCE [1] at six." }),
      "SECOND_PASS_FORMAT_VIOLATION",
    ],
    ["only what is invented", claimsOf(INVENTED), "ANSWER_UNSUPPORTED"],
    ["only what was not shown", claimsOf({ ...TRAINS, cites: [7] }), "CITATION_INVALID"],
    [
      "a lead-in alone",
      claimsOf({ ...TRAINS, text: "It says the following:" }),
      "SECOND_PASS_FORMAT_VIOLATION",
    ],
  ])("and refused after two that hold %s", async (_, draft, code) => {
    const found = await ask([draft, draft]);
    expect(found.outcome).toMatchObject({ kind: "refused", code });
  });
});

describe("a reply that is no list of claims", () => {
  test("is judged as prose where it is some, and the model is noted", async () => {
    const found = await ask([PROSE]);
    expect(found.outcome).toMatchObject({ answer: `${PROSE}\n${footer}` });
    expect(found.record.events.at(-1)).toMatchObject({ detail: { form: "prose" } });
    expect(found).toMatchObject({ noted: 1, asked: { length: 1 } });
  });

  test.each<[string, Draft, number]>([
    ["is another object", '{"answer":"Every 20 minutes [1]."}', 1],
    ["is prose that breaks the rules", "Trains run every 20 minutes.", 1],
    ["was cut off", { text: '{"declined":', doneReason: "length" }, 0],
    ["is white space to its limit", { text: `{${"\n".repeat(500)}`, doneReason: "length" }, 0],
    ["is what the host does not take", refuse("MODEL_UNSUPPORTED", "no grammar"), 0],
  ])("is asked for as text where it %s", async (_, draft, noted) => {
    const found = await ask([draft, PROSE]);
    expect(formsOf(found)).toEqual(["claims by schema", "text"]);
    expect(userText(found.asked[1])).not.toContain("Your previous reply");
    expect(found.outcome).toMatchObject({ answer: `${PROSE}\n${footer}` });
    expect(found.noted).toBe(noted);
  });

  test("has a repair as text too", async () => {
    const found = await ask(['{"answer":1}', "Trains run every 20 minutes.", PROSE]);
    expect(formsOf(found)).toEqual(["claims by schema", "text", "text"]);
    expect(found.outcome).toMatchObject({ kind: "succeeded" });
  });

  test("leaves what was right of the one before it", async () => {
    const found = await ask([claimsOf(TRAINS, INVENTED), { text: "{", doneReason: "length" }]);
    expect(found.outcome).toMatchObject({
      answer: expect.stringContaining("1 statement was left out"),
    });
  });

  test("is asked for as text where nothing was right of the one before it", async () => {
    const found = await ask([claimsOf(INVENTED), { text: "{", doneReason: "length" }, PROSE]);
    expect(formsOf(found)).toEqual(["claims by schema", "claims by schema", "text"]);
    expect(found.record.claims).toMatchObject([{ draft: 0, grade: "supported" }]);
  });
});

describe("ask.answer_form", () => {
  test.each<[string, Setting, readonly string[]]>([
    [
      "auto, a host with its own tool calls",
      { facts: { toolProtocol: "native" } },
      ["claims by schema"],
    ],
    ["auto, a host that says nothing of schemas", { facts: { toolProtocol: "text" } }, ["text"]],
    ["auto, a build that ignores them", { facts: { ignoresSchemas: true } }, ["text"]],
    ["text", { ask: { answer_form: "text" } }, ["text"]],
    [
      "claims",
      { ask: { answer_form: "claims" }, facts: { ignoresSchemas: true } },
      ["claims by schema"],
    ],
    [
      "claims, a host that says nothing of schemas",
      { ask: { answer_form: "claims" }, facts: { toolProtocol: "text" } },
      ["claims"],
    ],
  ])("%s", async (_, setting, forms) => {
    // A call in words is what a host with its own tool calls may give too.
    expect(formsOf(await ask([forms[0] === "text" ? PROSE : claimsOf(TRAINS)], setting))).toEqual(
      forms,
    );
  });
});
