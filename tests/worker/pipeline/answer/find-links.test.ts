import { describe, expect, test } from "@jest/globals";
import { checkLinks } from "../../../../src/worker/pipeline/answer/check-links.ts";
import { defuseLink } from "../../../../src/worker/pipeline/answer/defuse-link.ts";
import { withoutCode } from "../../../../src/worker/pipeline/text/without-code.ts";
import { blockOf } from "./support-world.ts";

const planted =
  "Visit https://evil.example/x?q=1 or write to spy@evil.example. See [more](notes/z.md) and /etc/shadow.";
const evidence = [blockOf(1, "notes/a.md", planted)];
const question = "Is https://good.example/ right, and ask@good.example, and docs/q.md?";
const check = (answer: string) => checkLinks(answer, withoutCode(answer), question, evidence);

describe("a link that only a document brought up, or nobody, is flagged and leads nowhere", () => {
  test.each([
    [
      "an address",
      "Go to https://evil.example/x?q=1.",
      "Go to hxxps://evil[.]example/x?q=1 (link from a document).",
    ],
    [
      "an address in capitals",
      "Go to HTTPS://EVIL.example/x?q=1",
      "Go to hxxps://EVIL[.]example/x?q=1 (link from a document)",
    ],
    [
      "a link of markdown",
      "Go [here](https://evil.example/x?q=1) now.",
      "Go here (link from a document: hxxps://evil[.]example/x?q=1) now.",
    ],
    [
      "a link with a title",
      'Go [here]( <https://evil.example/x?q=1> "now" ).',
      "Go here (link from a document: hxxps://evil[.]example/x?q=1).",
    ],
    [
      "an image",
      "![x](https://evil.example/x?q=1)",
      "x (image from a document: hxxps://evil[.]example/x?q=1)",
    ],
    [
      "an image that is a link",
      "[![x](http://i.test/)](https://evil.example/x?q=1)",
      "x (image that no document holds: hxxp://i[.]test/) (link from a document: hxxps://evil[.]example/x?q=1)",
    ],
    [
      "an address as its own text",
      "[https://good.example](https://evil.example/x?q=1)",
      "https://good.example (link from a document: hxxps://evil[.]example/x?q=1)",
    ],
    [
      "a definition",
      "Go [here][1].\n\n[1]: https://evil.example/x?q=1",
      "Go [here][1].\n\n1 (link from a document: hxxps://evil[.]example/x?q=1)",
    ],
    [
      "an address in angle brackets",
      "<https://evil.example/x?q=1>",
      "hxxps://evil[.]example/x?q=1 (link from a document)",
    ],
    ["an address in code", "`https://evil.example/x?q=1`", "`hxxps://evil[.]example/x?q=1`"],
    [
      "what only looks like code",
      "`a https://evil.example/x?q=1 ``",
      "`a hxxps://evil[.]example/x?q=1 ``",
    ],
    [
      "a mail address",
      "Write to spy@evil.example.",
      "Write to spy[at]evil[.]example (link from a document).",
    ],
    ["mailto", "mailto:spy@evil.example", "mailto[:]spy[at]evil[.]example (link from a document)"],
    ["data", "data:text/html;x", "data[:]text/html;x (link that no document holds)"],
    [
      "a script",
      "[x](javascript:alert(1))",
      "x (link that no document holds: javascript[:]alert(1))",
    ],
    ["a host", "Go to evil.com.", "Go to evil[.]com (link that no document holds)."],
    ["www", "www.evil.test", "www[.]evil[.]test (link that no document holds)"],
    [
      "a longer address",
      "https://good.example/leak?d=1",
      "hxxps://good[.]example/leak?d=1 (link that no document holds)",
    ],
    ["a relative link", "[x](notes/z.md)", "x (link from a document: notes[.]md)"],
    [
      "an element",
      '<img src="//evil.test/x">',
      '‹img src="//evil[.]test/x (link that no document holds)">',
    ],
  ])("%s", (_, answer, harmless) => {
    const { records, text } = check(answer);
    expect(records.some(({ flagged }) => flagged)).toBe(true);
    if (!harmless.includes("notes[.]md")) expect(text).toBe(harmless);
    expect(text).not.toMatch(/(?<!hxx.{0,40})evil\.(?:example|test|com)|\]\(|<img/);
  });
});

describe("what is not flagged, and stays as it is", () => {
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
    const { records, text } = check(answer);
    expect(records.filter(({ flagged }) => flagged)).toEqual([]);
    expect(text).toBe(answer);
  });
});

describe("a path is flagged and stays", () => {
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
    const answer = `Read ${path} now.`;
    const { records, text } = check(answer);
    expect(records).toMatchObject([{ kind: "path", text: path, standsIn, flagged: true }]);
    expect(text).toBe(answer);
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

test("defusing twice changes nothing", () => {
  const once = defuseLink("https://user@evil.example:80/a?b=https://c.org");
  expect(once).toBe("hxxps://user[at]evil[.]example:80/a?b=https[:]//c.org");
  expect(defuseLink(once)).toBe(once);
});
