import { expect, test } from "@jest/globals";
import { readAnnotations } from "../../../../src/worker/documents/formats/pdf-annotations.ts";
import type { Annotation } from "../../../../src/worker/documents/formats/pdf-annotations.ts";

const button = (field: Partial<Annotation>): Annotation => ({
  ...{ subtype: "Widget", fieldType: "Btn", rect: [0, 0, 10, 10], ...field },
});
const textOf = (field: Partial<Annotation>): string | undefined =>
  readAnnotations([button(field)]).glyphs[0]?.text;

test.each<[string, Partial<Annotation>, string]>([
  ["of its value", { fieldValue: "2", buttonValue: "2" }, "[x]"],
  ["of another value", { fieldValue: "1", buttonValue: "2" }, "[ ]"],
  ["without any value", { fieldValue: null, buttonValue: null }, "[ ]"],
])("a radio button %s", (_, field, mark) => {
  expect(textOf({ radioButton: true, ...field })).toBe(mark);
});

test.each<[string, Partial<Annotation>, string]>([
  ["of its value", { fieldValue: "Yes", exportValue: "Yes" }, "[x]"],
  ["that is off", { fieldValue: "Off", exportValue: "Yes" }, "[ ]"],
  ["without a value of its own", { fieldValue: "Yes" }, "[x]"],
  ["without a value of its own that is off", { fieldValue: "Off" }, "[ ]"],
  ["without any value", { fieldValue: null }, "[ ]"],
])("a box %s", (_, field, mark) => {
  expect(textOf({ checkBox: true, ...field })).toBe(mark);
});

test("a hidden box is hidden text where it is ticked", () => {
  const hidden = (fieldValue: string): number =>
    readAnnotations([
      button({ checkBox: true, fieldValue, exportValue: "Yes", annotationFlags: 2 }),
    ]).hidden;
  expect([hidden("Yes"), hidden("Off")]).toEqual([1, 0]);
});
