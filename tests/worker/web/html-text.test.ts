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
        "| Port | At |",
        "| --- | --- |",
        "| Lind | 8:05 |",
        "",
        "  two",
        "    four",
      ].join("\n"),
    );
  });

  test("has the first paragraph of an item behind its mark, and other blocks on lines of their own", () => {
    const html =
      "<ul><li><p>one</p><p>more</p></li><li></li><li><div><p>two</p></div></li><li><h2>Head</h2></li>" +
      "<li><table><tr><td>a</td><td>b</td></tr></table></li><li><ul><li>in</li></ul></li><li></li></ul><p>after</p>";
    expect(textOf(html).text.replaceAll(/\n+/g, "\n").split("\n")).toEqual([
      ...["- one", "more", "-", "- two", "-", "## Head", "-", "a | b", "-", "- in", "-", "after"],
    ]);
  });

  test("has numbers of lists, fields of forms, words of pictures, and terms beside what they mean", () => {
    const html = `<ol start="4"><li>four<li value="9">nine<li>ten</ol><ol type="i"><li>a<li>b</ol>
      <dl><dt>Deposit</dt><dd>940 euros</dd><dt>Note:</dt><dd>due in May</dd><dd>or June</dd></dl>
      <p><img src=a.png alt="Invoice 318.40"> 10<sup>6</sup> m<sup>2</sup> H<sub>2</sub>O the 1<sup>st</sup></p>
      <figure><img src=b.png alt="a boat"><figcaption>The Bear</figcaption></figure><figure><img alt="a pier"></figure>
      <p><input value="Eik Dale"> <input type=checkbox checked>paid <input type=radio>open <input type=hidden value=x></p>`;
    expect(textOf(html).text.split(/\n+/)).toEqual([
      ...["4. four", "9. nine", "10. ten", "i. a", "ii. b"],
      ...["Deposit: 940 euros", "Note: due in May", "or June"],
      "Invoice 318.40 10⁶ m² H₂O the 1st",
      ...["The Bear", "a pier", "Eik Dale ☑ paid ☐ open"],
    ]);
  });

  test("has a row of a table in one line, whatever its cells hold, and a layout as its blocks", () => {
    const list =
      "<table><tr><th><h2>Item</h2></th><th>Price</th></tr><tr><td>Oar<ul><li>red<li>blue</ul></td><td>12</td></tr></table>";
    expect(textOf(list).text).toBe("| Item | Price |\n| --- | --- |\n| Oar - red - blue | 12 |");
    const nested =
      "<table><tr><td><table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></table></td><td>3</td></tr></table>";
    expect(textOf(nested).text).toBe("a; 1 / b; 2 | 3");
    const spans =
      "<table><tr><th>Group</th><th colspan=2>Year</th></tr><tr><td rowspan=2>Boats</td><td>2025</td><td>7</td></tr><tr><td>2026</td><td>9</td></tr></table>";
    expect(textOf(spans).text.split("\n").slice(2)).toEqual([
      "| Boats | 2025 | 7 |",
      "| Boats | 2026 | 9 |",
    ]);
    const layout = `<table><tr><td><p>One.</p><p>Two.</p><table><tr><td>Total</td><td>7</td></tr></table></td></tr></table>`;
    expect(textOf(layout).text).toBe("One.\n\nTwo.\n\nTotal | 7");
    const columns = `<table><tr><td>${"<p>Left words.</p>".repeat(99)}</td><td>${"<p>Right words.</p>".repeat(99)}</td></tr></table>`;
    expect(textOf(columns).text.match(/^(?:Left|Right) words\.$/gm)).toHaveLength(198);
  });

  test("joins the names of two rows, where the first ones are of several columns", () => {
    const { text } = textOf(
      "<table><thead><tr><th rowspan=2>Country</th><th colspan=2>Price</th></tr><tr><th>Standard</th><th>Express</th></tr></thead><tr><td>Norway</td><td>9</td><td>19</td></tr></table>" +
        "<table><tr><th></th><th colspan=2>2026</th></tr></table><p>End",
    );
    expect(text).toBe(
      "| Country | Price Standard | Price Express |\n| --- | --- | --- |\n| Norway | 9 | 19 |\n\n2026\n\nEnd",
    );
  });

  test("has digits above and below the line wherever a page says it, as in what Google Docs writes", () => {
    const html = `<style>.c3{vertical-align:super;font-size:8pt}.c4 {vertical-align: sub}</style>
      <p>1,250<span class="c1 c3">1</span> CO<span class=c4>2</span> m<span style="vertical-align:super">2</span> 7<sup><a href="#n">3</a></sup> 5</p>`;
    expect(textOf(html).text).toBe("1,250¹ CO₂ m² 7³ 5");
  });

  test("counts what it leaves out", () => {
    const html = `<p style="font-size:0">No <b style="font-size:12px">Yes</b> no</p><p style="font-size: 0.8em">small</p>
      <div style="display:none">a<p>b</p></div><p hidden></p><img src=a.png><img width=1 height=1><iframe src=x></iframe><math><mn>1</mn></math>`;
    const page = textOf(html);
    expect(page.text).toBe("Yes\n\nsmall");
    expect(page.leftOut).toEqual({
      pictures: 1,
      "hidden passages": 2,
      "embedded pages": 1,
      formulas: 1,
    });
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
