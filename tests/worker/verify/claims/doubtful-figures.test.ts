import { describe, expect, test } from "@jest/globals";
import { bindFields } from "../../../../src/worker/verify/bindings/bind-fields.ts";
import { gradeField } from "../../../../src/worker/verify/bindings/grade-field.ts";
import { fieldValues, pairQuotes } from "../../../../src/worker/verify/bindings/quoted-fields.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { verifyQuotes } from "../../../../src/worker/verify/verify-quotes.ts";
import { pieceOf } from "./pieces-of.ts";

const SCAN = "The fee for the hall is 71.73⸮ EUR. The key costs 20 EUR.";

const gradeOf = (text: string, evidence = SCAN) => {
  const verdict = { says: "yes", detail: "" } as const;
  const [graded] = gradeClaims([{ text, cites: [1], verdict }], [pieceOf("scan.pdf", evidence)], {
    question: "",
  });
  return graded;
};

describe("a figure that was not read for sure", () => {
  test.each([
    ["word for word", "The fee for the hall is 71.73 EUR."],
    ["word for word, with its mark", "The fee for the hall is 71.73⸮ EUR."],
    ["in other words that a judge confirms", "The hall costs a fee of 71.73 EUR."],
  ])("leaves what states it unconfirmed: %s", (_, claim) => {
    expect(gradeOf(claim)).toMatchObject({ grade: "unconfirmed", reason: "reading" });
    expect(gradeOf(claim)?.checks.at(-1)?.detail).toContain("71.73");
  });

  test("leaves what states another figure of its passage as it is", () => {
    expect(gradeOf("The key costs 20 EUR.")).toMatchObject({ grade: "supported" });
  });

  test("is no other figure by its mark: another one in its place is held back", () => {
    expect(gradeOf("The fee for the hall is 71.78 EUR.")).not.toMatchObject({ grade: "supported" });
  });

  test("does not stand in the way of a unit behind it", () => {
    expect(gradeOf("The hall has 120 m².", "The hall has 120⸮ m².")).toMatchObject({
      grade: "unconfirmed",
      reason: "reading",
    });
  });

  test("is quoted without its mark", () => {
    const evidence = [pieceOf("scan.pdf", SCAN)];
    const quote = "the fee for the hall is 71.73 EUR";
    const [verified] = verifyQuotes([{ quote, cited: [1] }], evidence);
    expect(verified).toMatchObject({ class: "normalised" });
  });

  test("leaves a field unconfirmed, also where a judge says yes, and no other field", () => {
    const schema = {
      type: "object",
      properties: { fee: { type: "number" }, key: { type: "number" } },
    };
    const paired = pairQuotes(
      {
        fee: { value: 71.73, quote: "The fee for the hall is 71.73 EUR." },
        key: { value: 20, quote: "The key costs 20 EUR." },
      },
      schema,
    );
    const values = fieldValues(paired, schema);
    const [fee, key] = bindFields({ values, evidence: [pieceOf("scan.pdf", SCAN)] });
    expect(fee).toMatchObject({ state: "bound", grade: "unconfirmed", reason: "reading" });
    expect(key).toMatchObject({ state: "bound", grade: "supported", reason: null });
    const [field] = values;
    if (fee === undefined || field === undefined) throw new Error("no field");
    expect(gradeField(field, fee, { says: "yes", detail: "" })).toMatchObject({
      grade: "unconfirmed",
      reason: "reading",
    });
    expect(gradeField(field, fee, { says: "no", detail: "" })).toMatchObject({ reason: "judge" });
  });
});
