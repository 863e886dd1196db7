import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import MarkdownIt from "markdown-it";
import { splitLines } from "../../../../src/worker/documents/lines.ts";
import { scanMarkdown } from "../../../../src/worker/documents/formats/markdown.ts";

/** A heading with its lines from 0, both ends included. */
type Heading = { readonly first: number; readonly last: number; readonly level: number };

function byUs(text: string): Heading[] {
  return scanMarkdown(splitLines(text), 0).flatMap(({ firstLine, lastLine, heading }) =>
    heading === undefined ? [] : [{ first: firstLine, last: lastLine, level: heading.level }],
  );
}

const parser = new MarkdownIt("commonmark").enable("table");

/** Those of the outermost level: a heading in a quote or a list item gives a document no structure. */
function byMarkdownIt(text: string): Heading[] {
  return parser
    .parse(text.replace(/^\uFEFF/, ""), {})
    .filter(({ level, type }) => level === 0 && type === "heading_open")
    .map(({ map, tag }) => ({
      first: map?.[0] ?? 0,
      last: (map?.[1] ?? 0) - 1,
      level: Number(tag.slice(1)),
    }));
}

describe("where CommonMark sees headings, and where it does not", () => {
  test.each([
    "# foo\n## foo\n###### foo\n####### foo\n#5 bolt\n#\tFoo\n\\## foo",
    " ### foo\n  ## foo\n   # foo\n    # foo",
    "foo\n    # bar",
    "## foo ##\n# foo ####\n### foo ### b\n# foo#\n#\n### ###",
    "****\n## foo\n****",
    "Foo bar\n# baz\nBar foo",
    "Foo *bar*\n=========\n\nFoo *bar*\n---------",
    "Foo *bar\nbaz*\n====",
    "Foo\n= =\n\nFoo\n--- -",
    '`Foo\n----\n`\n\n<a title="a lot\n---\nof dashes"/>',
    "> Foo\n---",
    "> foo\nbar\n===",
    "- Foo\n---",
    "- one\n  -\n\n  # in the item\n\n# out",
    "-\n\n  # foo",
    "Foo\nBar\n---",
    "---\nFoo\n---\nBar\n---\nBaz",
    "\n====",
    "---\n---",
    "- foo\n-----",
    "    foo\n---",
    "Foo\n\nbar\n---\nbaz",
    "Foo\nbar\n\n---\n\nbaz",
    "Foo\nbar\n\\---\nbaz",
    "```\n# a\n```\n# b",
    "~~~~\n# a\n~~~\n# b\n~~~~\n# c",
    "```\n\n  \n# a",
    "> ```\n> aaa\n\n# bbb",
    "   ```\n   # aaa\n  ```\n# b",
    "    ```\n    # aaa\n    ```\n# b",
    "``` ```\n# aaa",
    "~~~ aa ``` ~~~\n# foo\n~~~\n# b",
    "foo\n```\n# bar\n```\nbaz",
    "foo\n---\n~~~\nbar\n~~~\n# baz",
    "```\n``` aaa\n# b\n```",
    "<table><tr><td>\n<pre>\n**Hello**,\n\n# a\n</pre>\n</td></tr></table>\n# b",
    "<pre>\n# a\n\n# b\n</pre>\n# c",
    "<script>\n# a\n\n# b\n</script>\n# c",
    "<!-- Foo\n\n# bar\n   baz -->\n# okay",
    "<?php\n\n# a\n?>\n# okay",
    "<!DOCTYPE html>\n# a",
    "<![CDATA[\n# a\n\n# b\n]]>\n# okay",
    "<div>\n# a\n</div>\n\n# b",
    "Foo\n<div>\n# bar\n</div>",
    'Foo\n<a href="bar">\n# baz',
    '<a href="x">\n# no\n\n# yes',
    "<b>bold</b> text\n# yes",
    "<del>*foo*</del>\n===",
    "- foo\n\n      # bar\n- # baz\n\n# yes",
    "-    one\n\n # two",
    "1.  A paragraph\n\n        indented code\n\n    > # A block quote.\n\n# yes",
    "-\n  # foo\n-\n  ```\n  # bar\n  ```\n# yes",
    "-\n\n  foo\n# yes",
    "- a\n - b\n  - c\n   - d\n    - e\n# yes",
    "- foo\n***\n- bar\n===",
    "* Foo\n* * *\n* Bar\n# yes",
    "The number of windows is\n14.  The number\n# yes",
    "- a\n- ```\n  b\n\n\n  ```\n- c\n# yes",
    "10) a\n\n    # no\n   # yes",
    "> # Foo\n> bar\nbaz\n# yes",
    "> - foo\n- bar\n===",
    "> ```\nfoo\n```\n# no",
    ">     code\n\n>    not code\n# yes",
    "| a | b |\n| - | - |\n| 1 | 2 |\n# yes",
    "| a |\n| - |\n| 1 |\n===",
    "a | b\n--|--\n1 | 2\n\n# yes",
    "a | b\n---\ntext",
    "[foo]: /url\n===\n[foo]",
    "[foo]: /url 'title'\n\n# yes",
    "[foo]:\n/url\n# yes",
    "[foo]:\n/url\n===\n[foo]",
    "[foo]: /url\nBar\n===",
    "[foo]: /url\n===\n===",
    "[foo]:\n  <my url>\n  'a title\n  of (two) lines'  \n===\ntext",
    "[foo]: /url '\ntitle\n# of three\n\n'\n===",
    "[fo\no]: /url\n===",
    "[a]: /b\n[c]:\n/d\n(e)\nf\n---",
    "[foo]: /url 'title' more\n===",
    "[foo]: /url\n'title' more\n===",
    "[foo]: /url 'title\n===",
    "[foo]: /url 'title\n- item\n===\n'",
    "[foo]: /url 'title\n> # quoted\n'\n===",
    "[foo]: /url 'title\n---\n'",
    "[foo]: /url\n---",
    "[foo]: /url\n- item\n===",
    "[foo]: /url\n    # no\n# yes",
    "[foo]: a(b)c\n===",
    "[foo]: a(b\n===",
    "[foo]: a\\(b\n===",
    "[foo]: <>\n===",
    "[foo]: <a\nb>\n===",
    "[ ]: /url\n===",
    "[a[b]: /url\n===",
    "[a\\]: /url\n===",
    "[foo] : /url\n===",
    '[foo]: /url "a\\"b\nc"\r\n===',
    '[foo]:\r\n/url\r\n"title"\r\n===\r\n',
    "[^1]: A note of some words\n===",
    "text\n[foo]: /url\n===",
    "   [foo]:\n      /url\n===",
    "[a]: b | c\n---|---\n===",
    "\t# no\n\n  \t# no",
    "-\t# no\n\n\t# no\n# yes",
    "text  \n\t===\n# yes",
    "# a\r\n\r\ntext\r\n===\r\n- b\r\n\r\n  # no\r\n",
    "# a\rtext\r===\r",
    "\uFEFF# a\ntext\n---",
  ])("%j", (text) => {
    expect(byUs(text)).toEqual(byMarkdownIt(text));
  });

  const LINES = fc.constantFrom(
    ...[
      "# One",
      "## Two ##",
      "   ### Three",
      "#no",
      "text",
      "more text here",
      "===",
      "---",
      "- - -",
    ],
    ...[
      "```",
      "``` sh",
      "~~~",
      "````",
      "- item",
      "* item",
      "  more of it",
      "    four in",
      "1. one",
    ],
    ...[
      "2) two",
      "   in one",
      "> quoted",
      "> # in",
      ">",
      "> - in",
      "<div>",
      "</div>",
      "<!-- a",
      "-->",
    ],
    ...["<pre>", "</pre>", "| a | b |", "|---|---|", "\ttab", "      six", "-", "", "", "", ""],
  );

  // Lines of definitions with those that end or go on with one. A lone `===` and a heading in the midst of one are below.
  const DEFINITION_LINES = fc.constantFrom(
    ...[
      "[foo]: /url",
      "[foo]:",
      "[fo",
      "o]: /url",
      "/url",
      "<my url>",
      "'title'",
      "'a",
      "b'",
      "(a",
    ],
    ...[
      "b)",
      '"a" b',
      "text",
      "[a]: b",
      "---",
      "- item",
      "> quoted",
      "    four in",
      "",
      "| a |\n|---|",
    ],
  );

  test.each([
    ["any lines", LINES],
    ["lines of definitions", DEFINITION_LINES],
  ])("agrees on documents of %s", (_what, anyLine) => {
    const documents = fc
      .tuple(fc.array(anyLine, { maxLength: 14 }), fc.constantFrom("\n", "\r\n"))
      .map(([lines, end]) => lines.join(end));
    fc.assert(
      fc.property(documents, (text) => {
        expect(byUs(text)).toEqual(byMarkdownIt(text));
      }),
      { numRuns: 3_000 },
    );
  });

  // The specification finds blocks before it looks for definitions in them; markdown-it reads on in an open definition.
  test.each([
    ["[foo]:\n===", [{ first: 0, last: 1, level: 1 }]],
    ["[foo]: /url 'title\n===\n'", [{ first: 0, last: 1, level: 1 }]],
    ["[foo]: /url 'title\n# Heading\n'", [{ first: 1, last: 1, level: 1 }]],
  ])("a heading ends a definition that is not complete: %j", (text, headings) => {
    expect(byUs(text)).toEqual(headings);
  });
});
