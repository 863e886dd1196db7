import { expect, describe, test } from "@jest/globals";
import MarkdownIt from "markdown-it";
import { openTerminal } from "../../../src/shared/terminal/terminal.ts";
import { printPage } from "../../../src/producer/print/sections.ts";
import { htmlPage } from "../../../src/producer/report/html.ts";
import { markdownPage } from "../../../src/producer/report/markdown.ts";
import {
  code,
  duration,
  fact,
  number,
  section,
  state,
  strong,
  time,
} from "../../../src/shared/views/section.ts";
import type { Block, Page, Piece } from "../../../src/shared/views/section.ts";
import { rendered } from "../export/rendered.ts";

const MARKER = "<!-- nightdesk report of batch 1 -->";
const ID = "18577d81-b42a-422d-ac53-79a9212d4275";
const AT = new Date("2026-11-21T21:00:00Z");

/** A page with each kind of block and of value, all of whose texts are this one. */
function pageOf(text: string): Page {
  const pieces: readonly Piece[] = [
    text,
    strong(text),
    code(text),
    state("refused", text),
    number(1_234),
    duration(90_000),
    time(AT),
    { kind: "span", from: AT, to: null },
    { kind: "place", path: text, line_start: 3, line_end: 9 },
    { kind: "sha256", sha256: text },
    { kind: "id", of: "job", id: ID },
  ];
  const spaced = pieces.flatMap((piece) => [piece, " "]);
  const items = [{ mark: text, text: spaced, lines: [text], facts: [fact(text, text)] }, { text }];
  const blocks: readonly Block[] = [
    { kind: "line", text: spaced },
    { kind: "note", text },
    { kind: "advice", text: "Raise model.timeout_s." },
    { kind: "quote", text: `${text}\n${text}` },
    { kind: "commands", language: "sh", lines: ["nightdesk doctor"] },
    { kind: "facts", facts: [fact(text, spaced, text)] },
    { kind: "list", label: text, items, gap: { at: 1, text: "… 7 items more" } },
    {
      kind: "timeline",
      events: [{ atMs: 10, step: "classify", durationMs: 20, text }],
    },
    {
      kind: "table",
      columns: [
        { title: text, align: "left", holds: "name" },
        { title: "N", align: "right" },
        { title: "Why", align: "left", holds: "words" },
      ],
      rows: [[spaced, number(1_234), null]],
    },
    { ...section("inner", text, [{ kind: "note", text }]), state: "failed" },
    { ...section("job", text, [{ kind: "note", text }]), jobId: ID },
  ];
  return {
    title: text,
    lead: "One sentence.",
    counts: [
      { name: "succeeded", jobs: 3 },
      { name: "refused", jobs: 1 },
    ],
    facts: [fact(text, spaced, text)],
    sections: [section("all", text, blocks)],
    colophon: spaced,
  };
}

async function onTerminal(page: Page): Promise<string> {
  let written = "";
  const stdout = { write: (text: string) => (written += text) !== "", once: () => undefined };
  const screen = { stdout, stderr: stdout };
  await printPage(
    openTerminal({ screen, color: "never", data: "clean", isJson: false, zone: () => null }),
    page,
  );
  return written;
}

const FORMS: readonly (readonly [name: string, draw: (page: Page) => string | Promise<string>])[] =
  [
    ["HTML", (page) => htmlPage(page, MARKER, "../")],
    ["Markdown", (page) => markdownPage(page, MARKER, "../")],
    ["a terminal", onTerminal],
  ];

describe("one page in every form", () => {
  test.each(FORMS)("of %s says the same facts", async (_, draw) => {
    const drawn = await draw(pageOf("brakes"));
    for (const said of [
      "brakes",
      "1,234",
      "1 min 30 s",
      "2026-11-21 21:00:00Z",
      "since 2026-11-21 21:00:00Z",
      "nightdesk doctor",
      "Raise model.timeout_s.",
      "… 7 items more",
      "classify",
      ID,
    ])
      expect(drawn).toContain(said);
  });

  test("has the same number of texts in each: none is left out by one of them", async () => {
    const countIn = (text: string) => text.match(/brakes/g)?.length ?? 0;
    const drawn = await Promise.all(FORMS.map(async ([, draw]) => draw(pageOf("brakes"))));
    const [html = 0, markdown = 0, terminal = 0] = drawn.map(countIn);
    // A page has its title in its head, too, in the words that lead to a section and in the address of each place.
    const places = 6;
    expect(html - 1 - 1 - places).toBe(markdown - places);
    // A terminal has no title and no colophon: the command and the clock say them.
    const inColophon = 6;
    expect(terminal).toBe(markdown - places - 1 - inColophon);
  });
});

const HOSTILE: readonly (readonly [name: string, text: string])[] = [
  ["an element", `</style><script>alert("x")</script><img src=x onerror=alert(1)>`],
  ["a link", "[here](https://evil.example/x) ![i](//evil.example/p.png) <https://evil.example>"],
  ["an address", "https://evil.example/x?q=1 www.evil.example spy@evil.example"],
  ["code", "`a https://evil.example/ ``` | b | c"],
  ["a heading over lines", "a\n# b\n\n- c\n1. d\n---\n| x |\n| --- |"],
  ["what drives a terminal", "\u001b[2J\u009b31m\u202egpj.exe\u200b"],
  ["a scheme", `javascript:alert(1)/"onmouseover="x.md`],
  ["a way out", "a/../../etc/passwd"],
];

describe("a hostile text in every place of a page", () => {
  test.each(HOSTILE)("%s opens no element of the page and becomes no address", async (_, text) => {
    const html = await Promise.resolve(htmlPage(pageOf(text), MARKER, "../"));
    const elements = (page: string) =>
      [...page.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, name]) => name);
    expect(new Set(elements(html))).toEqual(
      new Set(elements(htmlPage(pageOf("brakes"), MARKER, "../"))),
    );
    expect(html.replace(/"[^"]*"/g, "")).not.toMatch(/<[^>]*\son\w+\s*=/i);
    const addresses = [...html.matchAll(/\b(?:href|src|action)="([^"]*)"/g)].map(([, to]) => to);
    for (const to of addresses) expect(to).toMatch(/^#|^\.\.\/[^:]*#L3-L9$/);
    expect(html).not.toMatch(/[\u001b\u009b\u202e\u200b]/);
  });

  test.each(HOSTILE)("%s becomes nothing in Markdown but what it says", (_, text) => {
    const markdown = markdownPage(pageOf(text), MARKER, "../").replace(`${MARKER}\n\n`, "");
    const links = rendered(markdown).acting.filter((acting) => !acting.startsWith("link_open"));
    expect(links).toEqual([]);
    for (const acting of rendered(markdown).acting)
      expect(acting).toMatch(/^link_open {2}\[\["href","\.\.\/[^:]*#L3-L9"\]\]$/);
    const blocks = (page: string) =>
      new MarkdownIt()
        .parse(page, {})
        .map(({ type }) => type)
        .filter((type) => !/^(?:inline|paragraph)/.test(type));
    const plain = markdownPage(pageOf("brakes"), MARKER, "../").replace(`${MARKER}\n\n`, "");
    expect(blocks(markdown)).toEqual(blocks(plain));
  });

  test.each(HOSTILE)("%s drives no terminal", async (_, text) => {
    const shown = await onTerminal(pageOf(text));
    expect(shown).not.toMatch(/[\u001b\u009b\u202e\u200b]/);
    expect(shown.split("\n").filter((line) => line.startsWith("# "))).toEqual([]);
  });
});
