import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { questionOf, questionOfReply } from "../../../src/producer/evaluate/make-questions.ts";
import { readQuestions } from "../../../src/producer/evaluate/questions.ts";
import { indexDesk } from "../../support/index-desk.ts";
import { openDesk, pretendWorker } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { answered, workByHand } from "../work-by-hand.ts";

const passage = (text: string, headingPath: string | null = "Ferry > Fares") => ({
  ...{ path: "allowed/corpus/ferry.md", headingPath, text },
});

describe("a question without a model", () => {
  test("is a sentence without its figure, which a right answer holds in one of its spellings", () => {
    expect(
      questionOf(
        passage("Dogs travel free.\nA season ticket costs 3,000 euro in the harbour office."),
      ),
    ).toEqual({
      question: "Fares: A season ticket costs … euro in the harbour office?",
      expected: [["3,000", "3000"]],
      files: ["allowed/corpus/ferry.md"],
      passage: "A season ticket costs 3,000 euro in the harbour office.",
    });
  });

  test("leaves the mark of a list or a definition out", () => {
    const item = ":   Four mushrooms and 40 minutes in place of three hours.";
    expect(questionOf(passage(item, null))?.question).toMatch(/^Four mushrooms and … minutes/);
  });

  test.each([
    [
      "a number that is a part of a word or a path",
      "The drawing IMG_2019 lies in folder/2019/plans of the office.",
    ],
    [
      "a figure that stands twice",
      "It takes 20 minutes there and 20 minutes back, on every day of the week.",
    ],
    ["a row of a table", "| The crossing to Harwick | 20 minutes | every day of the week |"],
    ["a sentence of few words", "It costs 5."],
  ])("is not made of %s, but of the heading", (_, text) => {
    expect(questionOf(passage(text))).toMatchObject({ question: "Fares?" });
    expect(questionOf(passage(text))).not.toHaveProperty("expected");
    expect(questionOf(passage(text, null))).toBeNull();
  });
});

describe("a question of a model", () => {
  const text = "The crossing to Harwick\ntakes twenty minutes.";
  const said = (reply: string) => questionOfReply(reply, passage(text));
  const question = "How long does the crossing to Harwick take?";

  test("is taken with an answer that stands in the passage, also over the end of a line", () => {
    const reply = JSON.stringify({ question, answer: "harwick takes twenty" });
    const wanted = { question, expected: [["harwick takes twenty"]] };
    expect(said(reply)).toMatchObject(wanted);
    expect(said("Here it is:\n```json\n" + reply + "\n```")).toMatchObject(wanted);
  });

  test.each([
    ["no JSON", "I can't."],
    ["an answer that it made up", JSON.stringify({ question, answer: "an hour" })],
    ["no question", JSON.stringify({ question: "", answer: "twenty" })],
    ["a hostile one", "{".repeat(100_000)],
  ])("is left where the reply is %s", (_, reply) => {
    expect(said(reply)).toBeNull();
  });
});

describe("nightdesk eval --make", () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.dispose());

  test("says that nothing is indexed, and leaves no file", async () => {
    const { code, stderr } = await desk.run("eval", "--make", "5");
    expect(code).toBe(1);
    expect(stderr).toMatch(/NOT_FOUND.*nightdesk index/);
    expect(() => readFileSync(join(desk.workroot, "eval.jsonl"))).toThrow("ENOENT");
  });

  test("draws questions of many documents into a file that eval reads, and says what comes next", async () => {
    mkdirSync(join(desk.workroot, "allowed", "corpus"), { recursive: true });
    for (let at = 0; at < 8; at += 1) {
      const rows = Array.from(
        { length: 6 },
        (_, row) => `Pier ${at} opens at ${row + 5}.30 in the morning, except for feast days.`,
      );
      writeFileSync(
        join(desk.workroot, "allowed", "corpus", `ferry${at}.md`),
        `# Ferry ${at}\n\n${rows.join("\n\n## More\n\n")}\n`,
      );
    }
    await indexDesk(desk);
    const { code, stderr } = await desk.run("eval", "--make", "8");
    expect(stderr).toContain("8 questions in eval.jsonl");
    expect(stderr).toContain("Then: nightdesk eval eval.jsonl\n");
    expect(code).toBe(0);
    const { questions } = await readQuestions(join(desk.workroot, "eval.jsonl"));
    expect(questions).toHaveLength(8);
    expect(new Set(questions.flatMap(({ files }) => files)).size).toBe(8);
    expect(questions.every(({ expected }) => expected.length === 1)).toBe(true);
  });

  test("asks the configured model, and makes a question by rule where its answer does not stand in the passage", async () => {
    const configured = readFileSync(join(desk.workroot, "nightdesk.yaml"), "utf8");
    const file = await desk.write(
      "model.yaml",
      configured.replace(/^model:\n.*\n/m, "model: { provider: ollama, name: chat }\n"),
    );
    await pretendWorker(desk.database, ["http://127.0.0.1:11434"]);
    const made = desk.run("eval", "-", "--make", "2", "--config", file);
    let asked = 0;
    await workByHand(desk.database, 2, () => {
      asked += 1;
      const answer = asked === 1 ? "except for feast days" : "never at all";
      return answered(JSON.stringify({ question: "When is the pier closed?", answer }));
    });
    const { stdout, code } = await made;
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(2);
    expect(lines.find(({ question }) => question === "When is the pier closed?")).toMatchObject({
      expected: [["except for feast days"]],
    });
    expect(lines.filter(({ question }) => String(question).includes("opens at …"))).toHaveLength(1);
    await desk.database.query("delete from nightdesk_data.workers");
  });

  test("keeps a file that somebody has corrected, and says how to replace it", async () => {
    expect((await desk.run("eval", "--make", "2")).stderr).toContain("Give --force to replace it");
    const printed = await desk.run("eval", "-", "--make", "2");
    expect(printed.stdout.trimEnd().split("\n")).toHaveLength(2);
    expect((await desk.run("eval", "--make", "900")).code).toBe(2);
    expect((await desk.run("eval", "--make", "2", "--again")).code).toBe(2);
    expect((await desk.run("eval")).stderr).toContain("eval --make 20 draws one");
  });
});
