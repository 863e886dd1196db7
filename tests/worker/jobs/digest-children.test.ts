import { describe, expect, test } from "@jest/globals";
import type { DigestInput } from "../../../src/shared/job/job.ts";
import type { Outcome, RunResult } from "../../../src/shared/job/run-result.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { answerWords, fieldWords } from "../../../src/worker/jobs/digest-items.ts";
import type { DigestChild } from "../../../src/worker/jobs/digest-items.ts";
import { digestChildren } from "../../../src/worker/jobs/digest.ts";
import { leftOutNote, missingNote } from "../../../src/worker/verify/check-answer.ts";
import { scripted, SETTINGS, userText, worldOf } from "../../support/pipeline-world.ts";
import type { World } from "../../support/pipeline-world.ts";
import { boundaryIn, piecesIn, readingModel } from "../../support/reading-model.ts";

const childOf = (
  path: string,
  words: string | null,
  more: Partial<DigestChild> = {},
): DigestChild => ({
  jobId: `job of ${path}`,
  kind: "summarize",
  state: words === null ? "refused" : "succeeded",
  errorCode: words === null ? "FILE_EMPTY" : null,
  path,
  words,
  leftOut: [],
  ...more,
});
const CHILDREN = [
  childOf("rail/a.md", "Trains run hourly."),
  childOf("rail/b.md", null),
  childOf("rail/c.md", "Tickets cost 4 EUR."),
];

type Done = { readonly outcome: Outcome; readonly record: Omit<RunResult, "outcome"> };

async function digest(
  children: readonly DigestChild[],
  world: World,
  input: Partial<DigestInput> = {},
): Promise<Done> {
  const trace = startTrace();
  const { signal } = new AbortController();
  const job = { input: { kind: "digest", title: "rail/", level: "folder", ...input } as const };
  const outcome = await digestChildren(job, children, worldOf(world), { trace, signal });
  return { outcome, record: trace.record() };
}

describe("a digest", () => {
  test("holds the model's lines, then by name what has no answer, then its scope", async () => {
    const model = scripted(["- Trains run hourly [1].\n- Tickets cost 4 EUR [2]."]);
    const { outcome } = await digest(CHILDREN, { models: [model] });
    expect(outcome).toMatchObject({
      answer: expect.stringMatching(
        /^- Trains run hourly \[1\]\.\n- Tickets cost 4 EUR \[2\]\.\n\nNot in this digest:\n- rail\/b\.md: refused, FILE_EMPTY\nScope: 2 answers of 3 jobs, snapshot=[0-9a-f]{64}$/,
      ),
      citations: [
        { number: 1, path: "rail/a.md", jobId: "job of rail/a.md" },
        { number: 2, path: "rail/c.md", jobId: "job of rail/c.md" },
      ],
      summary: {
        children: 3,
        succeeded: 2,
        failed: [
          {
            path: "rail/b.md",
            kind: "summarize",
            state: "refused",
            error_code: "FILE_EMPTY",
            job_id: "job of rail/b.md",
          },
        ],
        levels: 0,
      },
    });
  });

  test("names what its digests left out as well", async () => {
    const lost = {
      path: "rail/old/x.md",
      kind: "summarize",
      state: "failed",
      error_code: "MODEL_TIMEOUT",
      job_id: "j",
    };
    const folder = childOf("rail/old/", "Trains were slow.", { kind: "digest", leftOut: [lost] });
    const { outcome } = await digest([folder], { models: [scripted(["- Trains were slow [1]."])] });
    expect(outcome).toMatchObject({
      answer: expect.stringContaining("\n- rail/old/x.md: failed, MODEL_TIMEOUT\n"),
      summary: { failed: [lost] },
    });
  });

  test("of jobs without any answer is refused, and says of each why", async () => {
    const children = [childOf("rail/b.md", null), childOf("rail/e.md", "", { kind: "extract" })];
    const { outcome } = await digest(children, { models: [scripted([])] });
    expect(outcome).toMatchObject({
      code: "EVIDENCE_NOT_ACQUIRED",
      message:
        "None of its jobs has an answer: rail/b.md refused (FILE_EMPTY), rail/e.md found nothing.",
    });
  });

  test.each([
    [
      "a line without a citation",
      "- Trains run hourly [1].\n- All is well.",
      "Line 2 cites nothing",
    ],
    ["a heading", "Summary:\n- Trains run hourly [1].", "Line 1 cites nothing"],
    ["a citation of nobody", "- Trains run hourly [7].", "there are only numbers 1 to 2"],
    ["a table", "| a | b |\n| --- | --- |\n| Trains [1] | x |", "markdown table"],
  ])("with %s gets one more try that says so, and then is refused", async (_, reply, told) => {
    const model = scripted([reply, reply]);
    const { outcome, record } = await digest(CHILDREN, { models: [model] });
    expect(outcome).toMatchObject({
      kind: "refused",
      code: expect.stringMatching(/CITATION_INVALID|FORMAT_VIOLATION/),
    });
    expect(userText(model.requests[1])).toContain(told);
    expect(record.replies.map(({ pass }) => pass)).toEqual(["second", "retry"]);
  });

  test("leaves out a line that the answers do not carry, and says so", async () => {
    const reply = '- Trains run hourly [1].\n- They say "trains run on time every day" [1].';
    const model = scripted([reply, reply]);
    const ask = { ...SETTINGS.ask, unsupported: "repair" } as const;
    const settings = { ...SETTINGS, ask };
    const { outcome, record } = await digest(CHILDREN, { models: [model], settings });
    expect(userText(model.requests[1])).toContain("its quotation does not stand there");
    expect(outcome).toMatchObject({
      answer: expect.stringMatching(
        /^- Trains run hourly \[1\]\.\n\n\(1 statement was left out: .*\)\n/,
      ),
    });
    expect(record.claims.map(({ draft, stands }) => [draft, stands])).toEqual([
      [0, false],
      [0, false],
      [1, true],
      [1, false],
    ]);
  });

  test("asks with the same words for equal answers, whatever the jobs, their batch and their failures are called", async () => {
    const model = scripted(["- All [1].", "- All [1]."]);
    const again = CHILDREN.map((child) => ({
      ...child,
      jobId: "another",
      errorCode: child.words === null ? "MODEL_TIMEOUT" : null,
    }));
    await digest(CHILDREN, { models: [model] }, { level: "batch", title: "summarize 2026-11-21" });
    await digest(again, { models: [model] }, { level: "batch", title: "summarize 2026-11-22" });
    expect(model.requests[1]?.messages).toEqual(model.requests[0]?.messages);
  });
});

describe("a digest of two thousand answers", () => {
  const children = Array.from({ length: 2_000 }, (_, index) =>
    childOf(`f/${String(index + 1)}.md`, `Note ${index + 1} is here.`),
  );
  const digestOf = (reply: string): Promise<Done> =>
    digest(children, { models: [scripted([reply, reply], 10_000_000)] });

  test("cites those whose numbers could be years", async () => {
    const { outcome } = await digestOf(
      "- Note 1950 is here [1950].\n- Others are here [1999,\n2000].",
    );
    expect(outcome).toMatchObject({
      kind: "succeeded",
      answer: expect.stringContaining("- Others are here [1999, 2000].\n"),
      citations: [{ number: 1950, path: "f/1950.md" }, { number: 1999 }, { number: 2000 }],
    });
  });

  test.each([
    ["a range", "[1-2000]"],
    ["a list", `[${children.map((_, index) => index + 1).join(", ")}]`],
  ])("cites all of them by %s", async (_, cited) => {
    const { outcome } = await digestOf(`- All notes are here ${cited}.`);
    expect(outcome.kind === "succeeded" && outcome.citations).toHaveLength(2_000);
  });
});

describe("more answers than fit the window", () => {
  const many = Array.from({ length: 40 }, (_, index) =>
    childOf(
      `f/${String(index).padStart(2, "0")}.md`,
      `Note ${index} says ${"word ".repeat(40)}end.`,
    ),
  );

  test("are told in levels, and each line of the digest leads to the answers at the bottom", async () => {
    const model = readingModel({ promptChars: 7_000 }, (request) => {
      const pieces = piecesIn(request);
      return pieces
        .map((piece, index) => `- ${piece.slice(0, 12).trim()} [${index + 1}]`)
        .slice(-2)
        .join("\n");
    });
    const { outcome, record } = await digest(many, { models: [model] });
    expect(outcome).toMatchObject({ kind: "succeeded" });
    if (outcome.kind !== "succeeded") return;
    expect(Number(outcome.summary?.["levels"])).toBeGreaterThan(0);
    expect(
      model.taken
        .flatMap(piecesIn)
        .filter((piece) => piece.startsWith("Note") && piece.endsWith("end.")),
    ).toHaveLength(40);
    const lines = (outcome.answer ?? "").split("\n").slice(0, -1);
    for (const line of lines) {
      const [, note, number] = /^- Note (\d+) .*\[(\d+)\]$/.exec(line) ?? [];
      expect(Number(number)).toBe(Number(note) + 1);
      expect(outcome.citations).toContainEqual(
        expect.objectContaining({ number: Number(number), path: many[Number(note)]?.path }),
      );
    }
    expect(record.replies.some(({ pass }) => pass === "part")).toBe(true);
    expect(new Set(model.taken.map(boundaryIn)).size).toBe(model.taken.length);
  });

  test("have what was left out on each level counted", async () => {
    const model = readingModel({ promptChars: 7_000 }, (request) => {
      const [piece = ""] = piecesIn(request);
      const line = `- ${piece.slice(0, 12).trim()} [1]`;
      return piece.endsWith("end.")
        ? `${line}\n- They say "all notes are lost every day" [1].`
        : line;
    });
    const settings = { ...SETTINGS, ask: { ...SETTINGS.ask, unsupported: "repair" } } as const;
    const { outcome } = await digest(many, { models: [model], settings });
    const groups = new Set(
      model.taken.filter((one) => piecesIn(one)[0]?.endsWith("end.")).map(boundaryIn),
    );
    expect(outcome).toMatchObject({
      answer: expect.stringContaining(`\n(${groups.size} statements were left out:`),
    });
  });

  test("are asked about in smaller groups where their text is dense", async () => {
    const model = readingModel({ promptChars: 12_000, weight: 5_500 }, (request) =>
      piecesIn(request)
        .map((piece, index) => `- ${piece.slice(0, 12).trim()} [${index + 1}]`)
        .slice(-1)
        .join("\n"),
    );
    const { outcome } = await digest(many, { models: [model] });
    expect(outcome).toMatchObject({ kind: "succeeded", summary: { levels: 1 } });
    expect(model.requests.length).toBeGreaterThan(model.taken.length);
  });

  test("are refused where not even levels make fewer of them", async () => {
    const model = readingModel({ promptChars: 5_400 }, (request) =>
      piecesIn(request)
        .map((_, index) => `- ${"long ".repeat(100)}[${index + 1}]`)
        .slice(0, 2)
        .join("\n"),
    );
    expect((await digest(many, { models: [model] })).outcome).toMatchObject({
      code: "CONTEXT_OVERFLOW",
    });
  });
});

describe("without a language model", () => {
  const settings = { ...SETTINGS, model: { ...SETTINGS.model, provider: "extractive" as const } };

  test("a digest is the best sentence of each answer, with its number", async () => {
    const { outcome } = await digest(CHILDREN, { models: [], settings });
    expect(outcome).toMatchObject({
      answer: expect.stringMatching(
        /^- Trains run hourly\. \[1\]\n- Tickets cost 4 EUR\. \[2\]\n\nNot in/,
      ),
    });
  });

  test("has as many lines as are asked for", async () => {
    const many = Array.from({ length: 90 }, (_, index) =>
      childOf(`${index}.md`, `Note ${index} tells of trains and tickets.`),
    );
    const linesOf = async (input: Partial<DigestInput>) => {
      const { outcome } = await digest(many, { models: [], settings }, input);
      return outcome.kind === "succeeded" ? (outcome.answer ?? "").split("\n").length - 1 : 0;
    };
    expect(await linesOf({})).toBe(30);
    expect(await linesOf({ options: { lines: 4 } })).toBe(4);
  });
});

describe("the words of a child", () => {
  test("are its answer without footer, citations and what it left out", () => {
    const answer = `- Trains run hourly [1, 2].\n\nNot in this digest:\n- x.md: failed, A\nScope: 2 answers of 3 jobs, snapshot=${"a".repeat(64)}`;
    expect(answerWords(answer)).toBe("- Trains run hourly.");
  });

  test("hold none of our notes below it", () => {
    const footer = `Scope: 2 passages of 1 file, snapshot=${"a".repeat(64)}`;
    const notes = `${leftOutNote(1)}\n${missingNote("a date")}`;
    expect(answerWords(`It rained [1].\n\n${notes}\n${footer}`)).toBe("It rained.");
    expect(answerWords(`It rained [1].\n\n${leftOutNote(3)}\n${footer}`)).toBe("It rained.");
  });

  test("hold none of its citations, also where those could be years", () => {
    const footer = `Scope: 2000 answers of 2100 jobs, snapshot=${"a".repeat(64)}`;
    expect(answerWords(`- Note 1950 [1950].\n- Trains ran [1-2000].\n${footer}`)).toBe(
      "- Note 1950.\n- Trains ran.",
    );
  });

  test("are the fields of an extraction, a line each", () => {
    expect(
      fieldWords({
        label: "minutes",
        quote: "x",
        actions: [{ action: "Order rope", owner: null, quote: "y", due: "June" }],
      }),
    ).toBe("label: minutes\nactions: action Order rope, due June");
  });
});
