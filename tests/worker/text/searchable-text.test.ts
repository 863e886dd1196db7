import { expect, test } from "@jest/globals";
import { searchableQuestion, searchableTextOf } from "../../../src/worker/text/searchable-text.ts";

test.each([
  ["Which time-sharing systems?", "\nWhich time sharing systems?"],
  ["(man-in-the-middle), E-Mail!", "\n(man in the middle), E Mail!"],
  ["ERR-42 and covid-19", "\nERR-42 and covid-19"],
  ["2024-05-01 --no-cache ~/my-notes", "\n2024-05-01 --no-cache ~/my-notes"],
])("a question of %j is asked as %j", (question, asked) => {
  expect(searchableQuestion(question)).toBe(asked);
});

test("a host that holds a hyphen stays whole", () => {
  expect(searchableQuestion("is my-host.org up")).toContain("\nis my-host.org up");
});

test.each([
  ["Note > Duties", " > Duties"],
  ["Notes on mail", "Notes on mail"],
  ["Note", ""],
  [null, ""],
])("below the title Note a heading %j is searched as %j", (headingPath, searched) => {
  const textOf = searchableTextOf({ path: "a", title: "Note", labels: "" });
  expect(textOf({ headingPath, text: "" })).toBe(`a Note Note   ${searched}`);
});
