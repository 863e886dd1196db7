import { describe, expect, test } from "@jest/globals";
import { htmlText } from "../../src/worker/web/html-text.ts";

describe("the text of a web page", () => {
  test.each([
    ["many elements", "<b>x</b>"],
    ["closings of what is not open", "</i>"],
    ["links", '<a href="/x">x</a>'],
    ["blanks as they stand", "                                ", "<pre>x"],
    ["a base as long as its links", '<base href="/xxxxxxxxxxxxxxxxxxxx"><a href="y">y</a>'],
    ["attributes that are not closed", '<p a="'],
    ["entities", "&amp;&#120;&notanentity"],
    ["blank cells", "<tr><td> <td>\n"],
    ["comments that are not closed", "<!--"],
  ])("takes a time that grows with its length for %s", (_, piece, start = "") => {
    const time = (count: number): number => {
      const startedAt = performance.now();
      htmlText({
        html: `${"<div>".repeat(900)}${start}${piece.repeat(count)}x`,
        url: "http://a.example/",
      });
      return performance.now() - startedAt;
    };
    time(2_000);
    const [short, long] = [Math.max(20, time(20_000)), time(80_000)];
    expect(long / short).toBeLessThan(12);
  });
});
