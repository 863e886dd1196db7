import { describe, expect, test } from "@jest/globals";
import { withoutCode } from "../../../src/worker/text/clean-text.ts";
import { checkLinks } from "../../../src/worker/verify/links.ts";
import { blockOf } from "./support-world.ts";

const planted =
  "Visit https://evil.example/x?q=1 or write to spy@evil.example. See [more](notes/z.md) and /etc/shadow.";
const evidence = [blockOf(1, "notes/a.md", planted)];
const question = "Is https://good.example/ right, and ask@good.example, and docs/q.md?";
const check = (answer: string) => checkLinks(answer, withoutCode(answer), question, evidence);

const EVIL = "https://evil.example/x?q=1";

describe("a link that only a document brought up, or nobody, is flagged", () => {
  test.each([
    ["an address", `Go to ${EVIL}.`, [EVIL]],
    ["an address in capitals", "HTTPS://EVIL.example/x?q=1", ["HTTPS://EVIL.example/x?q=1"]],
    ["a link of markdown", `Go [here](${EVIL}) now.`, [EVIL]],
    ["a link with a title", `Go [here]( <${EVIL}> "now" ).`, [EVIL]],
    ["an image", `![x](${EVIL})`, [EVIL]],
    ["an image that is a link", `[![x](http://i.test/)](${EVIL})`, ["http://i.test/", EVIL]],
    ["an address as its own text", `[https://good.example](${EVIL})`, [EVIL]],
    ["a definition", `Go [here][1].\n\n[1]: ${EVIL}`, [EVIL]],
    ["an address in angle brackets", `<${EVIL}>`, [EVIL]],
    ["an address in code", `\`${EVIL}\``, [EVIL]],
    ["what only looks like code", `\`a ${EVIL} \`\``, [EVIL]],
    ["a mail address", "Write to spy@evil.example.", ["spy@evil.example"]],
    ["mailto", "mailto:spy@evil.example", ["mailto:spy@evil.example"]],
    ["data", "data:text/html;x", ["data:text/html;x"]],
    ["a script", "[x](javascript:alert(1))", ["javascript:alert(1)"]],
    ["a host", "Go to evil.com.", ["evil.com"]],
    ["www", "www.evil.test", ["www.evil.test"]],
    ["a longer address", "https://good.example/leak?d=1", ["https://good.example/leak?d=1"]],
    ["a relative link", "[x](notes/z.md)", ["notes/z.md"]],
    ["an element", '<img src="//evil.test/x">', ["//evil.test/x"]],
  ])("%s", (_, answer, targets) => {
    const flagged = check(answer).records.filter(({ flagged }) => flagged);
    expect(flagged.map(({ kind, text }) => ({ kind, text }))).toEqual(
      targets.map((text) => ({ kind: "link", text })),
    );
  });
});

describe("what is not flagged", () => {
  test.each([
    ["an address of the question", "https://good.example is right."],
    ["a link to an address of the question", "[It](https://good.example/) is right."],
    ["a mail address of the question", "ask@good.example"],
    ["the path of a piece", "See notes/a.md, or a.md#Hours, or a.md:12."],
    ["a link to a piece", "See [it](notes/a.md#hours)."],
    ["a path of the question", "docs/q.md"],
    ["the number of a piece and a colon", "[1]: It closes at six.\n[2]: Open."],
    ["a link within the answer", "See [below](#below)."],
    ["what is no link", "and/or, 24/7, km/h, e.g. this. 3.5 v1.2 Node.js said:so 12:30"],
  ])("%s", (_, answer) => {
    expect(check(answer).records.filter(({ flagged }) => flagged)).toEqual([]);
  });
});

describe("a path is flagged", () => {
  test.each([
    ["/etc/shadow", "evidence"],
    ["/etc/passwd", "neither"],
    ["../secret", "neither"],
    ["~/.ssh/id_rsa", "neither"],
    ["C:\\secret\\x.txt", "neither"],
    ["\\\\host\\share", "neither"],
    ["notes/z.md", "evidence"],
    ["keys.pem", "neither"],
  ])("%s, which stands in: %s", (path, standsIn) => {
    expect(check(`Read ${path} now.`).records).toMatchObject([
      { kind: "path", text: path, standsIn, flagged: true },
    ]);
  });
});

test("the record names where a document brought the link up", () => {
  const [record] = check("https://evil.example/x?q=1").records;
  expect(record).toMatchObject({
    kind: "link",
    text: "https://evil.example/x?q=1",
    standsIn: "evidence",
    span: { number: 1, path: "notes/a.md", startChar: 6, endChar: 32 },
  });
});
