import { describe, expect, test } from "@jest/globals";
import { textFor } from "../../../../src/worker/models/extractive/text-for.ts";
import { DECLINED } from "../../../../src/worker/models/model.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { pieceOf } from "../../verify/claims/pieces-of.ts";

const ask = (question: string, text: string, isWhole = true, path = "notes/bills.csv"): string => {
  const block = { number: 1, path, title: null, headingPath: null, text };
  const evidence = [{ ...block, ...(isWhole ? { isWhole } : {}) }];
  return textFor({ purpose: "answer", question, evidence, sentences: 3 });
};

const BILLS =
  "Bill; Firm; Amount\nBill: 4470; Firm: Noakes; Amount: 1.200,50 €\nBill: 4471; Firm: Orr; Amount: 95,00 €\nBill: 4472; Firm: Orr; Amount: 4,50 €\n";
const SUM =
  "Sum of Amount: 1.300,00 € (rows counted: 3, from 4470 to 4472, rows left out: 0, bills.csv)";

describe("a cell", () => {
  test.each([
    ["What is the amount of bill 4471?", "Bill: 4471; Amount: 95,00 € [1]"],
    ["Which firm sent bill 4470?", "Bill: 4470; Firm: Noakes [1]"],
    ["What is the amount of bill 4479?", DECLINED],
    ["What is the discount of bill 4471?", DECLINED],
  ])("%s", (question, answer) => {
    expect(ask(question, BILLS)).toBe(answer);
  });
});

describe("a column added up", () => {
  const question = "What is the sum of Amount in bills.csv?";

  test("says which rows of which file were counted, and is graded by computing it again", () => {
    expect(ask(question, BILLS)).toBe(`${SUM} [1]`);
    const piece = { ...pieceOf("notes/bills.csv", BILLS), isWhole: true };
    const gradeOf = (text: string) =>
      gradeClaims([{ text, cites: [1] }], [piece], { question })[0]?.grade;

    expect(gradeOf(SUM)).toBe("supported");
    expect(gradeOf(SUM.replace("1.300", "1.301"))).not.toBe("supported");
  });

  test("is of the file that is named, in whatever form of Unicode its name is stored", () => {
    const asked = question.replace("bills", "belegübersicht");
    const text = ask(asked, BILLS, true, "notes/belegübersicht.csv".normalize("NFD"));
    expect(text).toContain("Sum of Amount: 1.300,00 €");
  });

  test("never adds a total, and says that it was left out", () => {
    const text = ask(
      "How many rows does bills.csv have?",
      `${BILLS}Bill: Total; Amount: 1.300,00 €\n`,
    );

    expect(text).toContain("rows counted: 3");
    expect(text).toContain("rows left out: 1 Total");
  });

  test.each([
    ["a part of the file", BILLS, false],
    ["two units", `${BILLS}Bill: 4473; Firm: Orr; Amount: 4,50 £\n`, true],
    ["a total by another name", `${BILLS}Bill: all; Firm: -; Amount: 1.300,00 €\n`, true],
    ["two tables", `${BILLS}\n${BILLS}`, true],
    [
      "a number that may be two",
      "Bill; Amount\nBill: 1; Amount: 1.200\nBill: 2; Amount: 3.400\n",
      true,
    ],
    ["a cell that is no amount", `${BILLS}Bill: 4473; Firm: Orr; Amount: 2 x 3 €\n`, true],
  ])("is refused for %s", (_, text, isWhole) => {
    expect(ask(question, text, isWhole)).toBe(DECLINED);
  });
});
