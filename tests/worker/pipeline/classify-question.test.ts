import { describe, expect, test } from "@jest/globals";
import { classifyQuestion } from "../../../src/worker/pipeline/classify-question.ts";

const settings = {
  allowedExts: [".md", ".txt", ".json"],
  fullTriggers: ["thorough", "in depth", "long"],
  extent: "as_needed",
} as const;

describe("named files", () => {
  test.each([
    ["What does rail.md say about refunds?", ["rail.md"]],
    ["Read allowed/corpus/travel/Rail.MD.", ["allowed/corpus/travel/Rail.MD"]],
    ['What is in "quarterly plan 2026.md"?', ["quarterly plan 2026.md"]],
    ["See `notes.txt` and (data.json), please", ["notes.txt", "data.json"]],
    ["What are rail.md's rules?", ["rail.md"]],
    ["Look at [[rail.md#Refunds]]", ["rail.md"]],
    ["What stands in rail.md:12?", ["rail.md"]],
    ["**a.md**, b.md; a.md", ["a.md", "b.md"]],
    ["Read ../../etc/passwd", ["../../etc/passwd"]],
    ["Read /etc/passwd now", ["/etc/passwd"]],
    ["Show ~/secret", ["~/secret"]],
    ["Read allowed/corpus/.hidden.md", ["allowed/corpus/.hidden.md"]],
    ["Was steht in größe-übersicht.md?", ["größe-übersicht.md"]],
    ["Have you read anything about bikes?", []],
    ["Does node.js belong in section 4.2?", []],
    ["Which .md files are there?", []],
    ["Count the *.md files", []],
    ["See https://example.com/page.md", []],
    ["What does GET /api/tags return?", []],
    ["Is it 24/7 and/or by e.g. phone?", []],
    ["read v1.2.3 or 3.14", []],
  ])("%s", (question, namedFiles) => {
    expect(classifyQuestion(question, settings).namedFiles).toEqual(namedFiles);
  });
});

describe("need", () => {
  test.each([
    ["What does rail.md say?", "file", null],
    ["Summarise rail.md", "whole_file", "summarise"],
    ["Give a summary of rail.md", "whole_file", "summary"],
    ["Explain rail.md in depth", "whole_file", "in depth"],
    ["How long does rail.md say it takes?", "file", null],
    ["Where does rail.md belong?", "file", null],
    ["Be thorough about refunds", "passages", null],
    ["Have you read anything?", "passages", null],
    ["", "passages", null],
  ])("%s", (question, need, wholeBecause) => {
    expect(classifyQuestion(question, settings)).toMatchObject({ need, wholeBecause });
  });

  test("the option full asks for the whole of a named file", () => {
    const { need } = classifyQuestion("What does rail.md say?", { ...settings, extent: "full" });
    expect(need).toBe("whole_file");
  });
});
