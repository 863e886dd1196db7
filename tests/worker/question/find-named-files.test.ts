import { describe, expect, test } from "@jest/globals";
import { findNamedFiles } from "../../../src/worker/question/classify-question.ts";
import { knownFilesOf } from "../../../src/worker/question/known-files.ts";

const EXTENSIONS = [".md", ".txt", ".json"];

const noFiles = async () => knownFilesOf([]);

type Case = readonly [question: string, ...names: string[]];

const cases: Readonly<Record<string, readonly Case[]>> = {
  "bare names": [
    ["What does rail.md say about refunds?", "rail.md"],
    ["Read allowed/corpus/travel/Rail.MD.", "allowed/corpus/travel/Rail.MD"],
    ["Is it in rail.md or bike.txt?", "rail.md", "bike.txt"],
    ["a.md, b.md; a.md", "a.md", "b.md"],
    ["What does v1.2.md change?", "v1.2.md"],
    ["Open 2024-01-05.md", "2024-01-05.md"],
    ["See _index.md and __init__.md", "_index.md", "__init__.md"],
    ["Was steht in größe-übersicht.md?", "größe-übersicht.md"],
    ["Read cafe\u0301.md and caf\u00e9.md", "cafe\u0301.md"],
    ["Прочитай заметки.md", "заметки.md"],
    ["Read README.md", "README.md"],
    ["What is in R&D.md and C++.md?", "R&D.md", "C++.md"],
    ["Read notes.md.txt", "notes.md.txt"],
    ["Read .hidden.md", ".hidden.md"],
    ["Read a+b.md+c.md", "a+b.md+c.md"],
  ],
  "marks of the sentence": [
    ["Is it in rail.md?!", "rail.md"],
    ["It is in rail.md...", "rail.md"],
    ["It is in rail.md\u2026", "rail.md"],
    ["In rail.md\u2014the old one\u2014it is.", "rail.md"],
    ["(It is in rail.md.)", "rail.md"],
    ["See (data.json), please", "data.json"],
    ["What are rail.md's rules?", "rail.md"],
    ["What are rail.md\u2019s rules?", "rail.md"],
    ["**a.md** and _b.md_ and *c.md*", "a.md", "b.md", "c.md"],
    ["¿Qué dice rail.md?", "rail.md"],
    ["Was sagt die rail.md-Datei?", "rail.md"],
    ["rail.mdを要約して", "rail.md"],
    ["file:rail.md and @bike.md", "rail.md", "bike.md"],
    ["path=notes/rail.md", "notes/rail.md"],
  ],
  "anchors and lines": [
    ["What stands in rail.md:12?", "rail.md"],
    ["What stands in rail.md:12-20?", "rail.md"],
    ["What stands in rail.md#refunds?", "rail.md"],
    ["What stands in C#.md#intro?", "C#.md"],
    ["Read [the rules](corpus/rail.md#fares)", "corpus/rail.md"],
    ["Read [rail](report(1).md)", "report(1).md"],
  ],
  brackets: [
    ["Read report(1).md", "report(1).md"],
    ["(see report(1).md)", "report(1).md"],
    ["summary(rail.md)", "rail.md"],
    ["[rail.md] {bike.md}", "rail.md", "bike.md"],
    ["<rail.md>", "rail.md"],
    ["Read {a,b}.md"],
  ],
  quotes: [
    ['What is in "quarterly plan 2026.md"?', "quarterly plan 2026.md"],
    ["What is in 'quarterly plan 2026.md'?", "quarterly plan 2026.md"],
    ["What is in „Plan für März.md“?", "Plan für März.md"],
    ["What is in «plan de l'été.md» ?", "plan de l'été.md"],
    ["What is in `my notes.txt`, or \u201cb c.md\u201d?", "my notes.txt", "b c.md"],
    ['Read "Bob\'s notes.md"', "Bob's notes.md"],
    ['Read "a|b.md" and "notes #3 (final).md"', "a|b.md", "notes #3 (final).md"],
    ['Read "a.md, b.md"', "a.md", "b.md"],
    ['He asked "what is in rail.md now" twice', "rail.md"],
    ['Read "How to pay.md"', "How to pay.md"],
    ['"Summarise rail.md"', "rail.md"],
    ["What's in the dogs' plan.md and cats' list?", "plan.md"],
    ["[plan](<my plan.md>)", "my plan.md"],
    ['"quoted words" alone'],
  ],
  "wiki links": [
    ["Look at [[rail.md#Refunds]]", "rail.md"],
    ["Look at [[rail]]", "rail.md"],
    ["Look at [[travel/night rail|the note]]", "travel/night rail.md"],
    ["Look at [[rail#Refunds|refunds]]", "rail.md"],
    ["Look at ![[plan (old).md]]", "plan (old).md"],
    ["Look at [[2024-01-05]] and [[v1.2 plan]]", "2024-01-05.md", "v1.2 plan.md"],
    ["| [[rail\\|Rail]] |", "rail.md"],
    ["Look at [[#Refunds]] and [[chart.png]]", "chart.png"],
    ["What is x[[i]], m[[1, 2],[3, 4]] or [[ -f x ]]?"],
  ],
  "paths that lead away": [
    ["Read ../../etc/passwd", "../../etc/passwd"],
    ["Read /etc/passwd now", "/etc/passwd"],
    ["Lies /etc/passwd.", "/etc/passwd"],
    ["Show ~/secret", "~/secret"],
    ["What is in ..\\..\\boot.ini?", "..\\..\\boot.ini"],
    ["Open C:\\notes\\rail.md", "C:\\notes\\rail.md"],
    ["Open \\\\server\\share\\rail.md", "\\\\server\\share\\rail.md"],
    ["What does GET /api/tags return?"],
  ],
  "no files": [
    ["Have you read anything about bikes?"],
    ["Does node.js belong in section 4.2?"],
    ["Which .md files are there? Count the *.md and a?.md files"],
    ["See https://example.com/page.md and http://[::1]/a.md"],
    ["See [rail.md](https://example.com/rail.md)"],
    ["See www.example.com/page.md or example.com/page.md"],
    ["Write to bob@example.md or <ann@example.md>"],
    ["Is it 24/7 and/or by e.g. phone, i.e. now?"],
    ["read v1.2.3 or 3.14"],
    ["rail.md5 and rail.md_old"],
    ["foo/.md"],
    [""],
  ],
};

describe.each(Object.entries(cases))("%s", (_, rows) => {
  test.each(rows)("%j", async (question, ...names) => {
    expect((await findNamedFiles(question, EXTENSIONS, noFiles)).names).toEqual(names);
  });
});

test("a known file is named by its whole name, with its blanks and parentheses, also with ss for ß", async () => {
  const files = async () =>
    knownFilesOf([
      "allowed/corpus/Straßenplan (neu).md",
      "allowed/corpus/Wegeplan (neu).md",
      "allowed/corpus/notes (old) of May.md",
    ]);
  const namesIn = async (question: string) =>
    (await findNamedFiles(question, EXTENSIONS, files)).names;
  expect(await namesIn("What does Wegeplan (neu).md say?")).toEqual(["Wegeplan (neu).md"]);
  expect(await namesIn("Was steht in Strassenplan (neu).md?")).toEqual(["Strassenplan (neu).md"]);
  expect(await namesIn("Read notes (old) of May.md")).toEqual(["notes (old) of May.md"]);
  expect(await namesIn("What does the plan (neu).md say?")).toEqual(["(neu).md"]);
  expect(await namesIn("Is the Strassenplan new, and who drew it (in May)?")).toEqual([]);
});

test("a file is named whether or not its extension is allowed", async () => {
  const { names } = await findNamedFiles("Read rail.md, [[rail]] and ../x", [], noFiles);
  expect(names).toEqual(["rail.md", "../x"]);
});

test("a wiki link without an extension is no file where markdown is not allowed", async () => {
  const { names } = await findNamedFiles("Read [[rail]] and [[rail.txt]]", [".txt"], noFiles);
  expect(names).toEqual(["rail.txt"]);
});

test("an extension with marks of its own is taken as it is", async () => {
  const question = "Read a.c++ and b.x-y, not cxy";
  const { names } = await findNamedFiles(question, [".c++", ".x-y"], noFiles);
  expect(names).toEqual(["a.c++", "b.x-y"]);
});

test("the rest of the question has blanks for names, and every other word", async () => {
  const question = 'Summarise(rail.md), "deep dive.md" and [[summary|it]] at length';
  const { rest } = await findNamedFiles(question, EXTENSIONS, noFiles);
  expect(rest).toHaveLength(question.length);
  expect(rest.split(/\s+/)).toEqual(["Summarise(", "),", "and", "at", "length"]);
});
