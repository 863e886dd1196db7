import { describe, expect, test } from "@jest/globals";
import type { RunResult } from "../../../src/shared/job/run-result.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type {
  AskedStatement,
  AskJudge,
  JudgeVerdict,
  PipelineSettings,
} from "../../../src/worker/evidence/types.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import { callFor, scripted, SETTINGS, userText, worldOf } from "../../support/pipeline-world.ts";

const text =
  "# Rail\n\nTrains run every 20 minutes. The fare is 12 euro.\n\n## Bus\n\nBuses run every hour. Boats leave at noon; they take bikes.\n";
const question = "What does corpus/rail.md say of trains?";

type Asked = {
  readonly outcome: RunEnd;
  readonly record: Omit<RunResult, "outcome">;
  /** What the second try was told; empty where there was none. */
  readonly retry: string;
};

async function ask(
  drafts: readonly string[],
  settings: Partial<PipelineSettings["ask"]> = {},
  asked = question,
): Promise<Asked> {
  const trace = startTrace();
  const model = scripted([callFor("corpus/rail.md"), ...drafts]);
  const deps = worldOf({
    files: { "corpus/rail.md": text },
    models: [model],
    settings: { ...SETTINGS, ask: { ...SETTINGS.ask, unsupported: "repair", ...settings } },
  });
  const input = { kind: "ask", question: asked } as const;
  const { signal } = new AbortController();
  const outcome = await answerQuestion({ jobId: "j", input }, deps, trace, signal);
  return { outcome, record: trace.record(), retry: userText(model.requests[2]) };
}

const CARRIED = "Trains run every 20 minutes [1].";

test("each statement of an answer is on record with its grade and the words that carry it", async () => {
  const { record } = await ask([`${CARRIED} The fare is 12 euro [1].`]);
  expect(record.claims).toMatchObject([
    {
      draft: 0,
      text: "Trains run every 20 minutes.",
      cites: [1],
      grade: "supported",
      reason: "verbatim",
      fate: "kept",
      stands: true,
      span: { number: 1, path: "corpus/rail.md", lineStart: 3, lineEnd: 3 },
      carrier: "Trains run every 20 minutes.",
    },
    { text: "The fare is 12 euro.", grade: "supported", carrier: "The fare is 12 euro." },
  ]);
});

test("the statements of a sentence that stands in the evidence as it is are verbatim", async () => {
  const { record } = await ask(["Boats leave at noon; they take bikes [1]."]);
  expect(record.claims).toMatchObject([
    {
      text: "Boats leave at noon",
      reason: "verbatim",
      carrier: "Boats leave at noon; they take bikes.",
    },
    { text: "they take bikes.", reason: "verbatim" },
  ]);
});

test("an answer that states nothing is asked for once more, and then refused", async () => {
  const leadIn = "Of trains it says the following [1]:";
  const { outcome, retry } = await ask([leadIn, leadIn]);
  expect(retry).toContain("It states nothing: a heading, a lead-in or a question is no answer.");
  expect(outcome).toMatchObject({ kind: "refused", code: "SECOND_PASS_FORMAT_VIOLATION" });
  expect(await ask([leadIn, CARRIED])).toMatchObject({ outcome: { kind: "succeeded" } });
});

describe("an answer that holds nothing of the kind that the question asks for", () => {
  const who = "According to corpus/rail.md, who drives the trains?";
  const carried = "Trains run every 20 minutes [1].";
  const note = "(The question asks for: person. No statement of this answer holds such a thing.)";

  test("is asked for once more, then stands, and says so", async () => {
    const { outcome, record, retry } = await ask([carried, carried], {}, who);
    expect(retry).toContain("The question asks for: person.");
    expect(outcome).toMatchObject({
      kind: "succeeded",
      answer: expect.stringContaining(`${carried}\n\n${note}\nScope: `),
    });
    expect(record.claims.filter(({ stands }) => stands)).toHaveLength(1);
  });

  test("is a refusal where the model, when it looks again, finds none", async () => {
    const { outcome } = await ask([carried, "INSUFFICIENT_EVIDENCE"], {}, who);
    expect(outcome).toMatchObject({ kind: "refused", code: "EVIDENCE_NOT_ACQUIRED" });
  });

  test("is said of what is left, too", async () => {
    const { outcome } = await ask(
      [`${carried} Olga Brandt drives them [1].`, `${carried} Olga Brandt drives them [1].`],
      {},
      who,
    );
    expect(outcome).toMatchObject({
      answer: expect.stringMatching(
        /1 statement was left out[^\n]*\n\(The question asks for: person/,
      ),
    });
  });

  test("is refused where the operator wants no answer mended, and as it is where he wants all", async () => {
    const refused = await ask([carried, carried], { unsupported: "refuse" }, who);
    expect(refused.outcome).toMatchObject({ kind: "refused", code: "ANSWER_UNSUPPORTED" });
    const flagged = await ask([carried], { unsupported: "flag" }, who);
    expect(flagged.outcome).toMatchObject({ answer: expect.not.stringContaining("asks for") });
  });
});

test.each(["Yes [1].", "No [1].", "Ja [1].", "Oui [1]."])(
  "%s says too little to be held against anything: it stands, and is marked",
  async (answer) => {
    const { outcome, record } = await ask([answer]);
    expect(outcome).toMatchObject({ kind: "succeeded" });
    expect(record.claims).toMatchObject([{ grade: "unconfirmed", fate: "marked", stands: true }]);
  },
);

describe("a statement that the evidence does not carry", () => {
  const invented = "Penguins swim at 40 km/h [1].";
  const note = "(1 statement was left out: the evidence does not carry it.)";
  const answerOf = ({ outcome }: Asked) => {
    if (outcome.kind === "succeeded") return outcome.answer;
    return outcome.kind === "refused" ? outcome.code : outcome.kind;
  };
  const withoutFooter = (asked: Asked) => answerOf(asked)?.replace(/\nScope: .*$/, "");

  test("is named to the model once, with why", async () => {
    const asked = await ask([`${CARRIED} ${invented}`, `${CARRIED} The fare is 12 euro [1].`]);
    expect(asked.retry).toMatch(
      /The evidence does not carry this \([^)]*\): Penguins swim at 40 km\/h\./,
    );
    expect(withoutFooter(asked)).toBe(`${CARRIED} The fare is 12 euro [1].`);
    expect(asked.record.claims.map(({ draft, fate, stands }) => [draft, fate, stands])).toEqual([
      [0, "kept", false],
      [0, "repaired", false],
      [1, "kept", true],
      [1, "kept", true],
    ]);
  });

  test("is left out where the second try has it too, and the answer says so", async () => {
    const asked = await ask([invented, `${CARRIED} ${invented}`]);
    expect(withoutFooter(asked)).toBe(`${CARRIED}\n\n${note}`);
    expect(asked.record.claims.at(-1)).toMatchObject({ draft: 1, fate: "dropped", stands: false });
  });

  test.each<[string, string]>([
    ["breaks the rules", "a|b\n-|-\n1 [1]|"],
    ["cites nothing", "Trains run."],
    ["carries nothing", invented],
  ])("leaves what was right of the first try where the second one %s", async (_, second) => {
    const asked = await ask([`${CARRIED} ${invented}`, second]);
    expect(withoutFooter(asked)).toBe(`${CARRIED}\n\n${note}`);
    const standing = asked.record.claims.filter(({ stands }) => stands);
    expect(standing).toMatchObject([{ draft: 0, fate: "kept" }]);
  });

  test("ends in a refusal where the model finds nothing to answer with, when it looks again", async () => {
    const asked = await ask([`${CARRIED} ${invented}`, "INSUFFICIENT_EVIDENCE"]);
    expect(answerOf(asked)).toBe("EVIDENCE_NOT_ACQUIRED");
  });

  test("is left out at once where the operator says so", async () => {
    const asked = await ask([`${CARRIED} ${invented}`], { unsupported: "drop" });
    expect(asked.retry).toBe("");
    expect(withoutFooter(asked)).toBe(`${CARRIED}\n\n${note}`);
  });

  test("refuses the answer where the operator says so", async () => {
    const draft = `${CARRIED} ${invented}`;
    expect(answerOf(await ask([draft, draft], { unsupported: "refuse" }))).toBe(
      "ANSWER_UNSUPPORTED",
    );
  });

  test("stays with a flag where the operator says so", async () => {
    const asked = await ask([`${CARRIED} ${invented}`], { unsupported: "flag" });
    expect(withoutFooter(asked)).toBe(`${CARRIED} ${invented}`);
    expect(asked.record.claims).toMatchObject([
      { fate: "kept" },
      { fate: "flagged", stands: true },
    ]);
  });
});

describe("a judge", () => {
  const answer = "A train runs three times an hour [1]. Buses run each hour [1].";
  const askedBy = async (judge: AskJudge, draft = answer) => {
    const trace = startTrace();
    const model = scripted([callFor("corpus/rail.md"), draft, draft]);
    const deps = worldOf({ files: { "corpus/rail.md": text }, models: [model] });
    const input = { kind: "ask", question } as const;
    const { signal } = new AbortController();
    const outcome = await answerQuestion({ jobId: "j", input }, { ...deps, judge }, trace, signal);
    return { outcome, claims: trace.record().claims };
  };
  const saying =
    (says: JudgeVerdict["says"]): AskJudge =>
    async (statements) =>
      statements.map(() => ({ says, detail: "m: it says so" }));

  test("is asked at once of all statements in other words, beside their lines", async () => {
    const asked: (readonly AskedStatement[])[] = [];
    await askedBy(async (statements) => {
      asked.push(statements);
      return statements.map(() => null);
    }, `${answer} ${CARRIED}`);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.map(({ text: statement }) => statement)).toEqual([
      "A train runs three times an hour.",
      "Buses run each hour.",
    ]);
    expect(asked[0]?.[0]?.lines).toContainEqual({
      source: "corpus/rail.md > Rail",
      text: "Trains run every 20 minutes.",
    });
  });

  test.each<[JudgeVerdict["says"], object]>([
    ["yes", { grade: "supported", reason: "confirmed", fate: "kept" }],
    ["no", { grade: "unconfirmed", reason: "judge", fate: "marked" }],
    ["unclear", { grade: "unconfirmed", reason: "unclear", fate: "marked" }],
  ])("that says %s decides what no rule speaks against", async (says, graded) => {
    const { claims } = await askedBy(saying(says), "Buses run each hour [1].");
    expect(claims).toMatchObject([graded]);
    expect(claims[0]?.checks).toContainEqual(expect.objectContaining({ rule: "judge" }));
  });

  test("that says yes keeps in the answer what a rule speaks against, unconfirmed", async () => {
    const wrong = "Buses run every 40 minutes [1].";
    const { outcome, claims } = await askedBy(saying("yes"), wrong);
    expect(outcome).toMatchObject({ answer: expect.stringContaining(wrong) });
    expect(claims).toMatchObject([{ grade: "unconfirmed", reason: "figure", stands: true }]);
  });

  test("that can't be asked leaves the grades of the rules", async () => {
    const { claims } = await askedBy(async (statements) => statements.map(() => null));
    expect(claims).toMatchObject([{ reason: "figure" }, { reason: "not_asked" }]);
  });
});
