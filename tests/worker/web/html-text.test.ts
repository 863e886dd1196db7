import { describe, expect, test } from "@jest/globals";
import { htmlText } from "../../../src/worker/web/html-text.ts";

const URL_OF_PAGE = "https://ferries.example/timetables/";
const textOf = (html: string) => {
  const page = htmlText({ html, url: URL_OF_PAGE });
  if (page.kind !== "text") throw new Error(page.kind);
  return page;
};

describe("the text of a page", () => {
  test("has its headings, paragraphs, lists and tables, a line each", () => {
    const { text, title } = textOf(`<!doctype html><html><head><title> Ferry
        Bear </title><style>p { color: red }</style></head><body>
      <h1>Timetable</h1><p>The <b>Bear</b> leaves at
      7:40&nbsp;&amp; 9:15.<br>Not on Sundays.</p>
      <ul><li>Bring <i>a</i> ticket</li><li>No dogs</li></ul>
      <table><tr><th>Port</th><th>At</th></tr><tr><td>Lind</td><td>8:05</td></tr></table>
      <pre>  two
    four</pre><script>document.write("forged")</script></body></html>`);
    expect(title).toBe("Ferry Bear");
    expect(text).toBe(
      [
        "# Timetable",
        "",
        "The Bear leaves at 7:40 & 9:15.",
        "Not on Sundays.",
        "",
        "- Bring a ticket",
        "- No dogs",
        "",
        "Port | At",
        "Lind | 8:05",
        "",
        "  two",
        "    four",
      ].join("\n"),
    );
  });

  test.each([
    ["navigation", "<nav>No</nav>"],
    ["what stands beside it", "<aside>No</aside><footer>No</footer>"],
    [
      "what is hidden",
      '<p hidden>No</p><p style="display: NONE">No</p><p aria-hidden="true">No</p>',
    ],
    ["what is within something hidden", '<div style="visibility:hidden"><p>No</p></div>'],
    ["programs", "<script>No</script><noscript>No</noscript><template>No</template>"],
    ["comments", "<!-- No -->"],
    ["choices of a form", "<select><option>No</option></select><textarea>No</textarea>"],
  ])("is without %s", (_, html) => {
    expect(textOf(`<p>Yes</p>${html}<p>And this</p>`).text).toBe("Yes\n\nAnd this");
  });

  test("is that of the main element where there is one", () => {
    const words = "The ferry leaves at 7:40. ".repeat(10).trim();
    expect(textOf(`<p>Menu</p><main><p>${words}</p></main><p>Imprint</p>`).text).toBe(words);
    expect(textOf("<p>All</p><main></main>").text).toBe("All");
  });

  test("comes with where the page leads, each once, and without what is no page", () => {
    const { links } = textOf(`<base href="/later/"><a href="a?b=1#c">One <b>link</b></a>
      <a href="a?b=1">again</a><a href="mailto:x@example.org">mail</a><a href="javascript:alert(1)">run</a>
      <a href="https://user:pw@example.org/">in</a><a>no place</a><a href="http://[">broken</a>
      <a href="//other.example/x">other</a>`);
    expect(links).toEqual([
      { url: "https://ferries.example/later/a?b=1", text: "One link" },
      { url: "https://other.example/x", text: "other" },
    ]);
  });

  test("of unclosed and crossed elements is all of it", () => {
    expect(textOf("<p>One<p>Two<b>three<i>four</b>five</i><li>six<li>seven").text).toBe(
      "One\n\nTwothreefourfive\n- six\n- seven",
    );
  });

  test("is none where elements are nested too deeply", () => {
    const html = `${"<div>".repeat(100_000)}x`;
    expect(htmlText({ html, url: URL_OF_PAGE })).toEqual({ kind: "too_deep" });
  });
});
