import { expect, test } from "@jest/globals";
import { csvRecord } from "../../../src/shared/text/csv.ts";

test.each(["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\n=1", "＝1+1", "＠SUM(A1)"])(
  "a text that begins as %j is none of a spreadsheet's formulas",
  (text) => {
    expect(csvRecord([text]).replace(/^"/, "")).toMatch(/^'/);
  },
);

test.each(["-3.5", "+7", "1e-9", "plain", "a=b"])("%j stays as it is", (text) => {
  expect(csvRecord([text])).toBe(text);
});
