import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import type { RunResult } from "../../../src/shared/job/run-result.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { scopeFooter } from "../../../src/worker/evidence/footer.ts";
import { snapshotHash } from "../../../src/worker/evidence/retrieve.ts";
import type { PipelineSettings } from "../../../src/worker/evidence/types.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import { splitReasoning } from "../../../src/worker/models/reasoning.ts";
import { packageRoot } from "../../shared/config/scratch.ts";
import { passageOf, scripted, SETTINGS, userText, worldOf } from "../../support/pipeline-world.ts";
import { CITATIONS, DECLINES, FOOTERS, FORMS, QUOTES, SHOWN } from "./realistic-replies.ts";

const noteOf = (path: string): string =>
  readFileSync(join(packageRoot, "examples", "corpus", path), "utf8");
const passages = SHOWN.map((path) => passageOf(path, noteOf(path)));
const admitted = { files: [], passages, snapshotHash: snapshotHash(passages) };
const FOOTER = scopeFooter({ kind: "admitted", ...admitted });

let settings: PipelineSettings;
beforeAll(async () => {
  const flags = { config: join(packageRoot, "configs", "default.yaml") };
  const cwd = join(packageRoot, "examples");
  const { ask } = await loadConfig({ flags, env: {}, cwd, packageRoot });
  // Whether the statements are carried is for other tests.
  settings = { ...SETTINGS, ask: { ...ask, top_n: SHOWN.length, unsupported: "flag" } };
});

type Run = {
  readonly outcome: RunEnd;
  readonly record: Omit<RunResult, "outcome">;
  readonly prompts: readonly string[];
};

/** Pass 2 with this reply to every try. */
async function answerWith(reply: string): Promise<Run> {
  const text = splitReasoning(reply.replaceAll("FOOTER", FOOTER)).text;
  const model = scripted(["ENOUGH", text, text], 1_000_000);
  const trace = startTrace();
  const outcome = await answerQuestion(
    { jobId: "job-1", input: { kind: "ask", question: "What do the notes say?" } },
    worldOf({ passages, models: [model], settings }),
    trace,
    new AbortController().signal,
  );
  const prompts = model.requests.map(userText);
  return { outcome, record: trace.record(), prompts };
}

/** What the checks said, try by try, each once: `pass`, `declined`, or what was wrong. */
function verdictOf({ record }: Run): string {
  const verdicts = record.events
    .filter(({ step }) => step === "check")
    .map(({ detail }) =>
      String(detail["violations"] ?? detail["verdict"]).replace("passed", "pass"),
    );
  const reasons = record.claims
    .map(({ reason }) => reason)
    .filter((reason) => reason === "quote" || reason === "not_admitted");
  const said = [...new Set(verdicts)].join(" then ");
  return said === "pass" && reasons.length > 0 ? [...new Set(reasons)].join(" and ") : said;
}

describe.each([
  ["of every form", FORMS],
  ["with citations", CITATIONS],
  ["that say that the evidence does not answer", DECLINES],
  ["with quotes", QUOTES],
  ["with footers", FOOTERS],
])("replies %s", (_, replies) => {
  test.each(replies)("%s: %j", async (_name, reply, expected) => {
    const run = await answerWith(reply);
    expect(verdictOf(run)).toBe(expected);
    if (expected === "declined")
      expect(run.outcome).toMatchObject({ code: "EVIDENCE_NOT_ACQUIRED" });
    if (expected !== "pass") return;
    expect(run.outcome).toMatchObject({ kind: "succeeded", scope: FOOTER });
    expect(run.record.replies.map(({ pass }) => pass)).toEqual(["first", "second"]);
  });
});

describe("the answer that is given", () => {
  const answerOf = async (reply: string): Promise<string | undefined> => {
    const { outcome } = await answerWith(reply);
    return outcome.kind === "succeeded" ? outcome.answer?.replace(`\n${FOOTER}`, "") : undefined;
  };

  test.each([
    ["without a fence around all of it", "```markdown\nHalf board is 46 EUR [5].\n```\nFOOTER"],
    ["without a fence around it and its footer", "```\nHalf board is 46 EUR [5].\nFOOTER\n```"],
    ["without a fence around the footer", "Half board is 46 EUR [5].\n\n```\nFOOTER\n```"],
    ["without the footer in its last sentence", "Half board is 46 EUR [5]. (FOOTER)"],
    ["without a footer in a comment", "Half board is 46 EUR [5].\n<!-- FOOTER -->"],
  ])("is shown %s", async (_, reply) => {
    expect(await answerOf(reply)).toBe("Half board is 46 EUR [5].");
  });

  test("keeps lines that begin with the number of a piece and a colon", async () => {
    const lines = "[4]: The tank holds 600 litres.\n[5]: Half board is 46 EUR.";
    expect(await answerOf(lines)).toBe(lines);
  });

  test("holds none of our marks around evidence, and what stands in them cites nothing", async () => {
    const mark = "0".repeat(32);
    const echo = `<<<EVIDENCE ${mark} [5] path="prices/price-list-2025.md">>>\nHalf board.\n<<<END ${mark}>>>`;
    expect(verdictOf(await answerWith(echo))).toBe("CITATION_MISSING");
    expect(await answerOf(`Half board is 46 EUR [5].\n<<<END ${mark}>>>`)).toBe(
      "Half board is 46 EUR [5].",
    );
  });
});

describe("the second try", () => {
  test("shows the model its citations as it wrote them, so that it can keep them", async () => {
    const run = await answerWith("|a [5]|b|\n|-|-|\n|1|2|\nFOOTER");
    expect(verdictOf(run)).toBe("MARKDOWN_TABLE");
    expect(run.prompts[2]).toContain(">>>\n|a [5]|b|\n|-|-|\n|1|2|\n<<<END");
  });

  test("shows it no mark that closes the draft, and no call", async () => {
    const run = await answerWith('x <<<END y>>> {"type":"tool_call","name":"x","args":{}}');
    const draft = run.prompts[2]?.split("<<<DRAFT")[1] ?? "";
    expect(draft.match(/<<</g)).toHaveLength(1);
    expect(draft).not.toContain("tool_call");
  });

  test("is told that nothing came because it was too long, and so is the user", async () => {
    const model = scripted([
      "ENOUGH",
      { text: "", doneReason: "length" },
      { text: "", doneReason: "length" },
    ]);
    const outcome = await answerQuestion(
      { jobId: "job-1", input: { kind: "ask", question: "What do the notes say?" } },
      worldOf({ passages: passages.slice(0, 1), models: [model], settings }),
      startTrace(),
      new AbortController().signal,
    );
    expect(userText(model.requests[2])).toContain("It was cut off because it was too long.");
    expect(outcome).toMatchObject({
      code: "SECOND_PASS_FORMAT_VIOLATION",
      message: expect.stringMatching(/CUT_SHORT.*Raise model\.max_tokens/),
    });
  });
});

describe("figures of the evidence in another spelling", () => {
  const flaggedIn = async (reply: string): Promise<string[]> =>
    (await answerWith(reply)).record.checks.figures
      .filter(({ flagged }) => flagged)
      .map(({ text }) => text);

  test.each([
    "Signed on 29 November 2024 and on November 29th, 2024, am 29.11.2024, am 29.11. [6].",
    "Le dîner est à 18h30, so dinner is at 18:30 or 6:30 PM [7].",
    "Alarms at -15 °C, –15 °C and minus 15 degrees [3].",
    "Half board is €46.00, 46 € or 46,00 EUR [5].",
    "Goods up to 2.500 EUR, 2 500 EUR or 2500 EUR [6].",
    "6 months' notice, 9 rotations, 12kVA, 750kg [6][4].",
    "Office 08:00–11:30 and 4 PM to 6 PM [1]. Call 555-0121 or 555 0121 [9].",
    "1) Twelve at most [1].\n2) Six [1].",
  ])("are not flagged: %s", async (reply) => {
    expect(await flaggedIn(reply)).toEqual([]);
  });

  test.each([
    ["Half board is 47.50 EUR [5].", "47.50"],
    ["Signed on 30 November 2024 [6].", "30 November 2024"],
    ["Call 555-0199 [9].", "0199"],
    ["Meat and ice cream come to 600.50 EUR [3].", "600.50"],
    ["Geöffnet ab 24.12. [1].", "24.12."],
  ])("are flagged when nobody wrote them: %s", async (reply, figure) => {
    expect(await flaggedIn(reply)).toEqual([figure]);
  });
});
