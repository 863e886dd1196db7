import { describe, expect, test } from "@jest/globals";
import type { CheckableReply } from "../../../src/worker/verify/check-answer.ts";
import {
  ANSWER_CLAIMS,
  claimsSchemaFor,
  readClaimsReply,
} from "../../../src/worker/verify/claims-reply.ts";
import type { ClaimsForm, ClaimsReply } from "../../../src/worker/verify/claims-reply.ts";

const replyOf = (text: string, rest: Partial<CheckableReply> = {}): CheckableReply => ({
  text,
  toolCalls: [],
  doneReason: "stop",
  ...rest,
});

const read = (reply: string | CheckableReply, form: Partial<ClaimsForm> = {}): ClaimsReply =>
  readClaimsReply(typeof reply === "string" ? replyOf(reply) : reply, 3, {
    ...ANSWER_CLAIMS,
    ...form,
  });

const of = (...claims: readonly unknown[]): string =>
  JSON.stringify({ declined: false, missing: null, claims });

const textOf = (...claims: readonly unknown[]): unknown => {
  const found = read(of(...claims));
  return found.kind === "claims" ? found.text : found;
};

describe("an answer that is put together from claims", () => {
  const claims = [
    { quote: "Trains run.", text: "Trains run every 20 minutes.", cites: [1] },
    { quote: null, text: "Buses do not", cites: [2, 1, 2] },
  ];

  test("has their numbers before their stops, and says where each stands", () => {
    expect(read(of(...claims))).toEqual({
      kind: "claims",
      text: "Trains run every 20 minutes [1]. Buses do not [2, 1].",
      claims: [
        { start: 0, end: 32, quote: "Trains run." },
        { start: 33, end: 53, quote: undefined },
      ],
    });
  });

  test("is a list where one is wanted", () => {
    expect(read(of(...claims), { layout: "list" })).toMatchObject({
      text: "- Trains run every 20 minutes [1].\n- Buses do not [2, 1].",
      claims: [{ start: 2 }, { start: 37 }],
    });
  });

  test.each([
    [
      "numbers in its words are numbers of ours",
      { text: "It is so [2].", cites: [1] },
      "It is so [1, 2].",
    ],
    [
      "code and a point before a word stay",
      { text: "Read `row[2]` of the .env file [1].", cites: [] },
      "Read `row[2]` of the .env file [1].",
    ],
    ["no claim is more than a line", { text: "It is\n\n# so.", cites: [1] }, "It is # so [1]."],
    ["no claim is a heading", { text: "# It is so", cites: [1] }, "It is so [1]."],
    ["no claim is an item", { text: "- It is so.", cites: [1] }, "It is so [1]."],
    ["no claim is a row", { text: "| It | so |", cites: [1] }, "It | so | [1]."],
    [
      "a quotation at its end stays whole",
      { text: 'It says "go."', cites: [1] },
      'It says "go." [1]',
    ],
    [
      "a mark of ours is gone",
      { text: "It is so <<<END 0123456789abcdef>>>", cites: [1] },
      "It is so [1].",
    ],
    ["what shows nothing is gone", { text: "It is\u200B so.\u202E", cites: [] }, "It is so."],
    [
      "a footer is gone",
      { text: `It is so.\nScope: 6 passages from 3 files, snapshot=${"a".repeat(64)}`, cites: [1] },
      "It is so [1].",
    ],
  ])("%s", (_, claim, text) => {
    expect(textOf(claim)).toBe(text);
  });

  test("leaves out claims that say nothing", () => {
    expect(textOf({ text: " … ", cites: [1] }, { text: "So.", cites: [1] })).toBe("So [1].");
  });
});

describe("a reply is read as what it is", () => {
  const claim = { quote: null, text: "So.", cites: [1] };
  test.each<[string, CheckableReply, string]>([
    ["in a fence", replyOf(`\`\`\`json\n${of(claim)}\n\`\`\``), "claims"],
    ["behind words", replyOf(`Here it is:\n${of(claim)}`), "claims"],
    ["without what need not be there", replyOf('{"claims":[{"text":"So."}]}'), "claims"],
    [
      "with white space to its limit",
      replyOf(of(claim) + "\n".repeat(900), { doneReason: "length" }),
      "claims",
    ],
    [
      "with other fields",
      replyOf(JSON.stringify({ claims: [{ ...claim, sure: 1 }], mood: "good" })),
      "claims",
    ],
    [
      "that says that evidence is missing",
      replyOf('{"declined":true,"missing":"the fare","claims":[]}'),
      "declined",
    ],
    [
      "with a guess beside it",
      replyOf(JSON.stringify({ declined: true, claims: [claim] })),
      "declined",
    ],
    ["without claims", replyOf(of()), "declined"],
    ["in prose", replyOf("Trains run every 20 minutes [1]."), "prose"],
    [
      "with a call of its host",
      replyOf(of(claim), { toolCalls: [{ name: "x", args: {} }] }),
      "call",
    ],
    ["with a call in words", replyOf('{"type":"tool_call","name":"x","args":{}}'), "call"],
  ])("%s", (_, reply, kind) => {
    expect(read(reply).kind).toBe(kind);
  });

  test.each<[string, CheckableReply, string]>([
    ["cut off", replyOf(of(claim).slice(0, -2), { doneReason: "length" }), "cut"],
    [
      "white space to its limit",
      replyOf(`{"declined": ${" ".repeat(900)}`, { doneReason: "length" }),
      "cut",
    ],
    ["cut by the window", replyOf('{"declined":', { doneReason: "window" }), "cut"],
    ["another object", replyOf('{"answer":"So [1]."}'), "ignored"],
    ["a list", replyOf('["So [1]."]'), "ignored"],
    ["claims of another type", replyOf('{"declined":false,"claims":["So."]}'), "ignored"],
    ["claims without numbers", replyOf('{"claims":[{"text":"So.","cites":["first"]}]}'), "ignored"],
    ["nothing", replyOf(""), "ignored"],
    ["an empty object", replyOf("{}"), "ignored"],
    ["what no record can hold", replyOf('{"claims":[{"text":"\\u0000"}]}'), "ignored"],
  ])("%s is no list of claims", (_, reply, why) => {
    expect(read(reply)).toEqual({ kind: "formless", why });
  });
});

test("the schema bounds no length, and has the way out and the quote first", () => {
  const json = JSON.stringify(claimsSchemaFor(ANSWER_CLAIMS));
  expect(json).not.toMatch(/max|min|pattern/i);
  expect(json.indexOf('"declined":')).toBeLessThan(json.indexOf('"claims":'));
  expect(json.indexOf('"quote":')).toBeLessThan(json.indexOf('"text":'));
});
