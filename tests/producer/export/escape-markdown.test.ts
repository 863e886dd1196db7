import { describe, expect, test } from "@jest/globals";
import {
  evidenceHref,
  markdownLabel,
  markdownQuote,
  markdownText,
} from "../../../src/producer/export/markdown.ts";
import { escapeHtml } from "../../../src/shared/views/html-markup.ts";
import { PLANTED } from "../../fixtures/planted-instructions.ts";
import { rendered } from "./rendered.ts";

const ACTING: readonly (readonly [name: string, text: string])[] = [
  ["an address", "Go to https://evil.example/x?q=1."],
  ["an address in capitals", "Go to HTTPS://EVIL.example/x?q=1"],
  ["an address in the middle of a word", "seehttps://evil.example/x"],
  ["an address between brackets and marks", "(https://evil.example/x_y_), **http://e.example/**"],
  ["a link", "Go [here](https://evil.example/x?q=1) now."],
  ["a link with a title", 'Go [here]( <https://evil.example/x?q=1> "now" ).'],
  ["an image", "![x](https://evil.example/x?q=secret+words)"],
  ["an image without text", "![](//evil.example/pixel.png)"],
  ["an image that is a link", "[![x](http://i.test/)](https://evil.example/x?q=1)"],
  ["an address as its own text", "[https://good.example](https://evil.example/x?q=1)"],
  ["an address in angle brackets", "<https://evil.example/x?q=1> <spy@evil.example>"],
  ["an address in code", "`https://evil.example/x?q=1` and ``www.evil.example``"],
  ["what only looks like code", "`a https://evil.example/x?q=1 ``"],
  ["a mail address", "Write to spy@evil.example, or mailto:spy@evil.example"],
  ["data and scripts", "[x](javascript:alert(1)) data:text/html;x"],
  ["hosts", "evil.com, www.evil.test, //evil.test/x, evil.example:8080/x and 10.0.0.1:80/x"],
  ["elements", '<img src="//evil.test/x"><a href=https://evil.test>x</a><!-- x -->'],
  ["an address with a pipe and a caret", "https://evil.example/a|b^c\\d"],
  ["an address in a list", "1. https://evil.example/x"],
];

describe("text of a model leads nowhere in Markdown, and is read and copied as it is written", () => {
  test.each(ACTING)("%s", (_, text) => {
    for (const shown of [markdownText(text), markdownQuote(text)]) {
      expect(rendered(shown)).toEqual({ acting: [], text });
    }
    const cell = rendered(`| a |\n| --- |\n| ${markdownText(text)} |`);
    expect(cell.acting).toEqual([]);
    expect(cell.text).toContain(text);
    expect(escapeHtml(text)).not.toMatch(/[<>"]/);
  });

  test("a definition of a link", () => {
    const { acting } = rendered(markdownQuote("Go [here][1].\n\n[1]: https://evil.example/x?q=1"));
    expect(acting).toEqual([]);
  });

  test("whatever is planted in documents", () => {
    for (const { text, says } of PLANTED) {
      for (const reply of [text, ...says]) {
        expect(rendered(markdownQuote(reply)).acting).toEqual([]);
        expect(rendered(markdownText(reply)).acting).toEqual([]);
      }
    }
  });

  test("a command with a host, an address and a network", () => {
    const command = "ssh -p 2222 root@hafenwerk.example 'curl http://10.0.0.5/' # 192.0.2.0/24";
    expect(rendered(markdownQuote(command))).toEqual({ acting: [], text: command });
  });

  test("the text of a link of ours holds no other", () => {
    const label = markdownLabel("www.evil.example/](x).md, line 3");
    expect(rendered(`[${label}](../a.md#L3)`).acting).toEqual([
      'link_open  [["href","../a.md#L3"]]',
    ]);
  });
});

test("a place in a file with pages leads to its page, any other to its lines", () => {
  const place = { path: "bills/may (2).pdf", line_start: 4, line_end: 6 };
  expect(evidenceHref({ ...place, page: 3 }, "../")).toBe("../bills/may%20%282%29.pdf#page=3");
  expect(evidenceHref(place, "../")).toBe("../bills/may%20%282%29.pdf#L4-L6");
});
