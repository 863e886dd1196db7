import { describe, expect, test } from "@jest/globals";
import { classifyQuestion } from "../../../src/worker/question/classify-question.ts";
import { knownFilesOf } from "../../../src/worker/question/known-files.ts";

const settings = {
  allowedExts: [".md", ".txt", ".json"],
  summaryTriggers: ["summarize", "summarise", "summarised", "summary", "overview of", "tl;dr"],
  fullTriggers: ["thorough", "in depth", "long", "deep", "failure modes"],
  extent: "as_needed",
} as const;

const noFiles = async () => knownFilesOf([]);

describe("a question that names a file", () => {
  test.each([
    ["What does rail.md say?", "file", null],
    ["Summarise rail.md", "whole_file", "summarise"],
    ["Give a summary of rail.md", "whole_file", "summary"],
    ["How were the results in rail.md summarised?", "whole_file", "summarised"],
    ["SUMMARIZE rail.md!", "whole_file", "summarize"],
    ["Write an overview of rail.md", "whole_file", "overview of"],
    ["TL;DR of rail.md?", "whole_file", "tl;dr"],
    ["Explain rail.md in depth", "whole_file", "in depth"],
    ["An in-depth look at rail.md", "whole_file", "in depth"],
    ["An in\u2010depth look at rail.md", "whole_file", "in depth"],
    ["Which failure modes does rail.md list?", "whole_file", "failure modes"],
    ["How long does rail.md say it takes?", "file", null],
    ["How deep is the lake in rail.md?", "file", null],
    ["Wie long steht in rail.md?", "file", null],
    ["Where does rail.md belong?", "file", null],
    ["Which lake in rail.md is deepest?", "file", null],
    ["Did he come in? Depth is in rail.md", "file", null],
    ["What does summary.md say?", "file", null],
    ['What does "deep dive.md" say?', "file", null],
    ["What does [[summary]] say?", "file", null],
    ["What does rail.md say of summary.pdf?", "file", null],
    ["What does rail.md say of https://example.com/summary?", "file", null],
    ["Is rail.md about summaryware?", "file", null],
    ["Summarise(rail.md)", "whole_file", "summarise"],
    ["rail.md: deep/thorough answer, please", "whole_file", "thorough"],
  ])("%s", async (question, need, wholeBecause) => {
    const classified = await classifyQuestion(question, settings, noFiles);
    expect(classified).toMatchObject({ need, wholeBecause });
  });

  test("needs the whole of it under the option full", async () => {
    const full = { ...settings, extent: "full" } as const;
    const { need, wholeBecause } = await classifyQuestion("What does rail.md say?", full, noFiles);
    expect({ need, wholeBecause }).toEqual({ need: "whole_file", wholeBecause: "option full" });
  });

  test.each([
    ["Fasse rail.md zusammen", "zusammen"],
    ["Gib eine Zusammenfassung von rail.md", "Zusammenfassung"],
    ["Écris un résumé de rail.md", "résumé"],
    ["E\u0301cris un re\u0301sume\u0301 de rail.md", "résumé"],
    ["Haz un resumen de rail.md", "resumen"],
    ["Faça um resumo de rail.md", "resumo"],
    ["Quais são as implicações em rail.md?", "implicações"],
    ["rail.md 要約して", "要約"],
  ])("is understood in the language that is configured: %s", async (question, trigger) => {
    const summaryTriggers = "zusammen Zusammenfassung résumé resumen resumo implicações 要約".split(
      " ",
    );
    const configured = { ...settings, summaryTriggers };
    const { need, wholeBecause } = await classifyQuestion(question, configured, noFiles);
    expect({ need, wholeBecause }).toEqual({ need: "whole_file", wholeBecause: trigger });
  });

  test("needs no more than a read when no trigger is configured", async () => {
    const without = { ...settings, summaryTriggers: [], fullTriggers: [] };
    const { need } = await classifyQuestion("Summarise rail.md in depth", without, noFiles);
    expect(need).toBe("file");
  });
});

describe("a question that names none", () => {
  test.each([
    "Have you read anything about bikes?",
    "What does section 4.2 say?",
    "Is node.js covered by the summary?",
    "Give a thorough summary of refunds",
    "Summarise what was decided, e.g. on fares.",
    "What does v1.2.3 change?",
    "",
    " \n ",
  ])("can be answered from passages: %j", async (question) => {
    const full = { ...settings, extent: "full" } as const;
    expect(await classifyQuestion(question, full, noFiles)).toEqual({
      need: "passages",
      namedFiles: [],
      wholeBecause: null,
      knownFiles: [],
    });
  });
});
