import { describe, expect, test } from "@jest/globals";
import { parseNumber } from "../../../src/worker/text/figures/numbers.ts";
import { readFigures } from "../../../src/worker/text/figures/read-figures.ts";
import { checkFigures } from "../../../src/worker/verify/figures.ts";
import { blockOf, sliceOf } from "./support-world.ts";

const check = (answer: string, evidence: string, question = "") =>
  checkFigures(answer, question, [blockOf(1, "notes/2019.md", evidence)], () => []);

test("figures are found in a file that holds very many, as a log does", () => {
  const [record] = check("It stopped at 23:59.", `${"12:34 ok\n".repeat(150_000)}23:59 stop\n`);
  expect(record).toMatchObject({ standsIn: "evidence", span: { lineStart: 150_001 } });
});

describe("a number", () => {
  test.each([
    ["1200", ["1200"]],
    ["1,200", ["1200"]],
    ["1 200", ["1200"]],
    ["1\u202F200", ["1200"]],
    ["1'200", ["1200"]],
    ["1.200", ["1.2", "1200"]],
    ["1,200.50", ["1200.5"]],
    ["1.200,50", ["1200.5"]],
    ["1,200,300", ["1200300"]],
    ["12,34,567", ["1234567"]],
    ["3,5", ["3.5"]],
    ["3.50", ["3.5"]],
    ["0,125", ["0.125"]],
    ["007", ["7"]],
    ["0", ["0"]],
    ["-5", ["-5"]],
    ["−5", ["-5"]],
    ["１２", ["12"]],
    ["4.2.1", ["4.2.1"]],
    ["10.0.0.1", ["10.0.0.1"]],
    ["1,2,3", ["1,2,3"]],
  ])("%s means %j", (spelled, values) => {
    expect(parseNumber(spelled)).toEqual(values);
  });
});

describe("a figure that the evidence holds", () => {
  test.each([
    ["the same number", "40", "It costs 40 EUR."],
    ["with marks between thousands", "1,200", "It costs 1200."],
    ["without them", "1200", "It costs 1.200 EUR."],
    ["with blanks between thousands", "1 200", "It costs 1,200."],
    ["with zeros at its end", "40.00", "It costs 40."],
    ["with another mark of decimals", "3.5", "Es kostet 3,5 EUR."],
    ["in percent", "40 %", "About 40 percent."],
    ["with its unit attached", "5km", "It is 5 km."],
    ["as an ordinal", "the 3rd floor", "On floor 3."],
    ["spelled out there", "2 rules", "The two rules."],
    ["spelled out there, in two words", "25 bikes", "Twenty-five bikes."],
    ["spelled out there as an ordinal", "the 17th lock", "The seventeenth lock."],
    ["spelled out there as an ordinal of two words", "the 21st lock", "The twenty-first lock."],
    ["spelled out there in seconds", "30 seconds", "A thirty-second pause."],
    ["spelled out there in German", "3 Räder", "Es gibt drei Räder."],
    ["in millions", "1.2 million", "A town of 1,200,000."],
    ["written out there in millions", "1200000", "A town of 1.2 million."],
    ["in thousands", "5k", "It costs 5000."],
    ["without its sign", "5 below zero", "It is −5 degrees."],
    ["in the name of the file", "2019", "Nothing."],
    ["a date in words", "3 May 2024", "Due 2024-05-03."],
    ["a date in digits", "2024-05-03", "Due on May 3rd, 2024."],
    ["a date in another order", "May 3, 2024", "Due 3 May 2024."],
    ["a date with an ordinal", "the 3rd of May 2024", "Due 3 May 2024."],
    ["a German date", "3 May 2024", "Fällig am 3. Mai 2024."],
    ["a German date in digits", "3 May 2024", "Fällig am 03.05.2024."],
    ["a French date", "7 July 2024", "Dû le 7 juillet 2024."],
    ["a French first of the month", "1 December 2024", "Dû le 1er décembre 2024."],
    ["a French month with an accent", "7 August 2024", "Dû le 7 août 2024."],
    ["a Spanish date", "3 February 2024", "Vence el 3 de febrero de 2024."],
    ["a Japanese date", "1 April 2025", "2025年4月1日改定"],
    ["a Japanese date of an era", "1 April 2025", "令和7年4月1日改定"],
    ["a French time", "21:14", "À 21 h 14."],
    ["a Japanese time", "15:30", "午後3時半まで。"],
    ["a date with slashes", "05/03/2024", "Due 3 May 2024."],
    ["a date with slashes the other way", "03/05/2024", "Due 3 May 2024."],
    ["a date in short", "3 Sept. 2024", "Due 2024-09-03."],
    ["a day without its year", "3 May", "Due 2024-05-03."],
    ["a month of a year", "May 2024", "Due 2024-05-03."],
    ["a year of a date", "2024", "Due 2024-05-03."],
    ["a date whose year stands elsewhere", "3 May 2024", "Of 2024. Due 3 May."],
    ["a time", "18:30", "Until 18:30."],
    ["a time of 12 hours", "6:30 pm", "Until 18:30."],
    ["a full hour", "6 p.m.", "Until 18:00."],
    ["a time of 24 hours", "18:30", "Until 6:30 pm."],
    ["a time without its half", "6:30", "Until 6:30 pm."],
    ["a German time", "18 Uhr", "Until 18:00."],
  ])("%s", (_, answer, evidence) => {
    const records = check(`It is ${answer}.`, evidence);
    expect(records).not.toEqual([]);
    expect(records.filter(({ flagged }) => flagged)).toEqual([]);
  });
});

describe("a figure that stands nowhere", () => {
  test.each([
    ["another number", "41", "It costs 40 EUR.", ["41"]],
    ["a sum", "In all 70", "It costs 40 and 30 EUR.", ["70"]],
    ["a part of a number", "120", "It costs 1,200 EUR.", ["120"]],
    ["another sign", "-5 degrees", "It is 5 degrees.", ["-5"]],
    ["another scale", "1.2 billion", "A town of 1.2 million.", ["1.2"]],
    ["another day", "4 May 2024", "Due 3 May 2024.", ["4 May 2024"]],
    ["another year", "3 May 2025", "Due 3 May 2024.", ["3 May 2025"]],
    ["the other half of the day", "6:30 am", "Until 6:30 pm.", ["6:30 am"]],
    ["another time", "18:45", "Until 18:30.", ["18:45"]],
    ["digits", "１９", "It costs 40 EUR.", ["１９"]],
  ])("%s is flagged", (_, answer, evidence, flagged) => {
    const records = check(`It is ${answer}.`, evidence).filter((record) => record.flagged);
    expect(records.map(({ text }) => text)).toEqual(flagged);
    expect(records.map(({ standsIn, span }) => [standsIn, span])).toEqual([["neither", null]]);
  });
});

test.each([
  ["40 of them", "question", "evidence of 39", "Are there 40?"],
  ["40 of them", "both", "evidence of 40", "Are there 40?"],
  ["40 of them", "evidence", "evidence of 40", "How many?"],
  ["40 of them", "neither", "evidence of 39", "How many?"],
])("%s stands in: %s", (answer, standsIn, evidence, question) => {
  expect(check(answer, evidence, question)).toMatchObject([
    { standsIn, flagged: standsIn === "neither" },
  ]);
});

test.each([
  ["the numbers of a list", "1. One\n2. Two\n  3) Three"],
  ["the numbers of headings", "## 1. One\n**2.** Two"],
  ["a verb that is a month's name", "You may go, and march on."],
])("%s are no figures", (_, answer) => {
  expect(check(answer, "Nothing.")).toEqual([]);
});

test("the span is where the figure stands, in the cited piece if it can be", () => {
  const evidence = [
    blockOf(1, "a.md", "It costs 40."),
    blockOf(2, "b.md", "\n🚲 Pay\n1,200 or 40.", { startChar: 50, lineStart: 10 }),
  ];
  const [first, second] = checkFigures("It is 40 or 1200.", "", evidence, () => [2]);
  expect(sliceOf(evidence, first?.span)).toBe("40");
  expect(first?.span).toMatchObject({ number: 2, startChar: 66, lineStart: 12, lineEnd: 12 });
  expect(sliceOf(evidence, second?.span)).toBe("1,200");
});

test("a figure that something is per is read once, also before a share in words", () => {
  const figures = readFigures("The limit is 40 CFU/100 ml after half an hour.", "english");
  expect(figures.map(({ text }) => text)).toEqual(["40", "100 ml", "half an hour"]);
});
