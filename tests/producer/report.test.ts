import { readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { COMMANDS } from "../../src/shared/commands/table.ts";
import { openDesk } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import type { FinishedJob } from "../support/finished-batch.ts";

const SHA256 = "ab12".repeat(16);
const SCOPE = `Scope: full evidence from read_text_file (9/9), sha256=${SHA256}`;
const HOSTILE = `</style><script>alert("x")</script><img src=x onerror=alert(1)> ![p](http://evil/p.png) \u202egnp.exe`;

const brakes: FinishedJob = {
  customId: "brakes",
  input: { kind: "summarize", path: "allowed/corpus/brake notes.md" },
  answer: `Bleed them in May [1].\n${SCOPE}`,
  scope: SCOPE,
  evidence: [{ path: "allowed/corpus/brake notes.md", lines: [3, 9], sha256: SHA256 }],
  promptTokens: 1_200,
  completionTokens: 80,
  runMs: 90_000,
};
const gone: FinishedJob = {
  customId: "gone",
  input: { kind: "summarize", path: "allowed/corpus/gone.md" },
  state: "refused",
  code: "FILE_NOT_FOUND",
  message: "No file gone.md below the allowed roots.",
};
const broken: FinishedJob = {
  customId: "broken",
  input: { kind: "chat", prompt: "Hello?" },
  state: "failed",
  code: "MODEL_TIMEOUT",
  message: "The model did not answer in 300 s.",
  model: "big:70b",
};
const tonight = "minutes 2026-11-21T21:00:00.000Z";
const lastNight = "minutes 2026-11-20T21:00:00.000Z";

let desk: Desk;
let page = "";
let text = "";
beforeAll(async () => {
  desk = await openDesk();
  await insertFinishedBatch(desk.database, {
    name: lastNight,
    createdAt: "2026-11-20T21:00:00Z",
    jobs: [
      { ...brakes, answer: `Bleed them in April [1].\n${SCOPE}` },
      { customId: "broken", input: broken.input, answer: "Hello!" },
      { ...gone, customId: "dropped" },
    ],
  });
  await insertFinishedBatch(desk.database, {
    name: tonight,
    createdAt: "2026-11-21T21:00:00Z",
    jobs: [brakes, gone, broken],
  });
  const { stdout } = await desk.run("batch", "report", tonight);
  expect(stdout).toBe(
    "reports/minutes-2026-11-21T21-00-00.000Z.html\nreports/minutes-2026-11-21T21-00-00.000Z.md\n",
  );
  const [html = "", markdown = ""] = stdout.split("\n");
  page = await readFile(join(desk.workroot, html), "utf8");
  text = await readFile(join(desk.workroot, markdown), "utf8");
});
afterAll(() => desk.dispose());

describe("the morning report", () => {
  test("says what was done, in a sentence, in counts and in times", () => {
    for (const form of [page, text]) {
      expect(form).toContain("1 of 3 jobs succeeded; 1 refused, 1 failed.");
      expect(form).toContain("1,400 read, 120 written");
      expect(form).toMatch(/2026-11-21 21:00:00(?!Z| )/);
      expect(form).toContain("Times are those of UTC;");
    }
  });

  test("links an answer to the lines of its evidence, and names their sha256", () => {
    expect(page).toContain("Bleed them in May [1].");
    expect(page).toContain(
      `<a href="../allowed/corpus/brake%20notes.md#L3-L9">allowed/corpus/brake notes.md, lines 3-9</a>`,
    );
    expect(text).toContain(
      "[allowed/corpus/brake notes.md, lines 3-9](../allowed/corpus/brake%20notes.md#L3-L9)",
    );
    for (const form of [page, text]) expect(form).toContain(SHA256);
  });

  test("shows the pieces that an answer cites by their numbers, and counts the others", async () => {
    const path = "allowed/corpus/brake notes.md";
    const piece = { path, lines: [1, 2], sha256: SHA256 } as const;
    const ids = await insertFinishedBatch(desk.database, {
      name: "cited",
      jobs: [{ ...brakes, evidence: [{ ...piece, path: "allowed/corpus/other.md" }, piece] }],
    });
    await desk.database.query(`update nightdesk_data.runs set citations = $2 where job_id = $1`, [
      ids.get("brakes"),
      JSON.stringify([
        { path, chunkKey: null, lineStart: 4, lineEnd: 5, number: 2 },
        { path: "made-up.md", chunkKey: null, lineStart: 0, lineEnd: 0, resolved: false },
      ]),
    ]);
    const { stdout } = await desk.run("batch", "report", "cited", "--json");
    const { html } = JSON.parse(stdout) as { html: string };
    const cited = await readFile(html, "utf8");
    expect(cited).toMatch(/\[2\] <a href="[^"]*#L4-L5">/);
    expect(cited).toContain("and 1 more that it was given");
    expect(cited).not.toContain("made-up.md");
  });

  test("lists copies of a document that came to the same once, and no others", async () => {
    const of = (path: string, values: Partial<FinishedJob> = {}): FinishedJob => ({
      ...brakes,
      customId: path,
      input: { kind: "summarize", path },
      evidence: [{ path, lines: [3, 9], sha256: SHA256 }],
      ...values,
    });
    const question = { input: { kind: "ask", question: "When?" } };
    await insertFinishedBatch(desk.database, {
      name: "copies",
      jobs: [
        of("first.md"),
        of("mails/copy of it.md"),
        of("another-answer.md", { answer: `Bleed them in June [1].\n${SCOPE}` }),
        of("other-bytes.md", {
          evidence: [{ path: "other-bytes.md", lines: [3, 9], sha256: "cd34".repeat(16) }],
        }),
        of("shorter.md", { input: { kind: "summarize", path: "shorter.md", length: "short" } }),
        of("third.md", { customId: "q7" }),
        of("asked.md", question),
        of("asked-again.md", question),
        of("asked-again.md", { ...question, customId: "asked of the same" }),
      ],
    });
    const { stdout } = await desk.run("batch", "report", "copies", "--json");
    const { html, markdown } = JSON.parse(stdout) as { html: string; markdown: string };
    const titles = (form: string, title: RegExp) =>
      [...form.matchAll(title)].map(([, name]) => name?.replaceAll("`", ""));
    const listed = [
      "first.md",
      "another-answer.md",
      "other-bytes.md",
      "shorter.md",
      "When?",
      "When?",
      "When?",
    ];
    const shown = await readFile(html, "utf8");
    expect(titles(shown, /<details class="card" open><summary><h3>(.*?)<\/h3>/g)).toEqual(listed);
    expect(shown).toContain("Also in: mails/copy of it.md, third.md (q7)</p>");
    const [answers = ""] = (await readFile(markdown, "utf8")).split("## Time and tokens");
    expect(titles(answers, /^#### (.*)$/gm)).toEqual(listed);
    expect(titles(answers, /^### (.*)$/gm)).toEqual([
      "The work root: 6 answers",
      "Questions: 3 answers",
    ]);
    expect(answers).toMatch(/^Also in: mails\/copy of `it\.md`, `third\.md` \(q7\)$/m);
  });

  test("tells equal messages once, with the questions that met them", async () => {
    const refused = (customId: string): FinishedJob => ({
      customId,
      input: { kind: "ask", question: `What is said of ${customId}?` },
      state: "refused",
      code: "EVIDENCE_NOT_ACQUIRED",
      message: "Nothing fits.",
    });
    await insertFinishedBatch(desk.database, {
      name: "refused",
      jobs: [..."abcdefg"].map(refused),
    });
    const { stdout } = await desk.run("batch", "report", "refused", "--json");
    const { html, markdown } = JSON.parse(stdout) as { html: string; markdown: string };
    for (const file of [html, markdown]) {
      const form = await readFile(file, "utf8");
      expect(form.match(/Nothing fits\./g)).toHaveLength(1);
      expect(form).toContain("7 ×");
      expect(form).toContain("What is said of e?");
      expect(form).not.toContain("What is said of f?");
      expect(form).toContain("and 2 more that were told the same");
    }
  });

  test("leads from a number in an answer to the words that stand there, and back", async () => {
    const path = "allowed/corpus/brake notes.md";
    const ids = await insertFinishedBatch(desk.database, {
      name: "led",
      jobs: [{ ...brakes, evidence: [{ path, lines: [1, 2], sha256: SHA256 }] }],
    });
    const cited = { path, chunkKey: null, lineStart: 1, lineEnd: 2, number: 1 };
    await desk.database.query(`update nightdesk_data.runs set citations = $2 where job_id = $1`, [
      ids.get("brakes"),
      JSON.stringify([{ ...cited, quote: "May: bleed them,\nboth wheels." }]),
    ]);
    const { stdout } = await desk.run("batch", "report", "led", "--json");
    const { html, markdown } = JSON.parse(stdout) as { html: string; markdown: string };
    const shown = await readFile(html, "utf8");
    const [, anchor = ""] = /in May <a href="#([^"]+)" id="\1-said">\[1\]<\/a>/.exec(shown) ?? [];
    expect(shown).toContain(`<li id="${anchor}"><a href="#${anchor}-said"`);
    expect(shown).toMatch(/<details><summary>[^<]+<\/summary><div [^>]+>May: bleed them,\nboth/);
    expect(shown).toContain('#L1-L2:~:text=May%3A%20bleed%20them%2C"');
    expect(await readFile(markdown, "utf8")).toContain("  > May: bleed them,\\\n  > both wheels.");
  });

  test("shows fields as tables and values, and no JSON", async () => {
    await insertFinishedBatch(desk.database, {
      name: "fields",
      jobs: [
        {
          customId: "invoice",
          input: { kind: "extract", path: "invoice.md", preset: "invoice" },
          output: { number: "118", items: [{ name: "Slate", vat: { rate: 20 } }, { price: 9 }] },
        },
      ],
    });
    const { stdout } = await desk.run("batch", "report", "fields", "--json");
    const { html } = JSON.parse(stdout) as { html: string };
    const shown = await readFile(html, "utf8");
    expect(shown).toMatch(/<dt>number<\/dt><dd>118<\/dd>/);
    expect(shown).toMatch(/<td[^>]*>Slate<\/td>/);
    expect(shown).toContain("rate: 20");
    expect(shown).not.toContain("{&quot;");
  });

  test("has its times on the clocks of the desk, and says so once", async () => {
    await desk.database.query("update nightdesk_data.installation set windows = $1", [
      ["22:00-06:00 Europe/Berlin"],
    ]);
    const { stdout } = await desk.run("batch", "report", tonight, "--output", "berlin", "--json");
    await desk.database.query("update nightdesk_data.installation set windows = '{}'");
    const { html, markdown } = JSON.parse(stdout) as { html: string; markdown: string };
    for (const file of [html, markdown]) {
      const form = await readFile(file, "utf8");
      expect(form).toContain("2026-11-21 22:00:00");
      expect(form).toContain("Times are those of Europe/Berlin;");
      expect(form).not.toContain("22:00:00 CET");
    }
  });

  test("goes beside the database where all of the work root is indexed, and leads to its documents from there", async () => {
    const configured = await readFile(join(desk.workroot, "nightdesk.yaml"), "utf8");
    const extra = `
security: { allowed_roots: ["."] }
index: { sources: [{ name: all, root: "." }] }
database: { url: "${desk.databaseUrl}", directory: "../${basename(desk.workroot)}-state" }
`;
    const file = await desk.write("all.yaml", configured.replace(/^database:\n.*\n/m, "") + extra);
    const { stdout } = await desk.run("batch", "report", tonight, "--json", "--config", file);
    const { html } = JSON.parse(stdout) as { html: string };
    const folder = `${desk.workroot}-state/reports`;
    expect(dirname(html)).toBe(folder);
    // From where somebody stands, ../../ names no place that another program finds.
    const told = await desk.run("batch", "report", tonight, "--config", file);
    expect(told.stdout.startsWith(`${folder}/`)).toBe(true);
    const href = /<a href="([^"]*brake%20notes\.md)#L3-L9"/.exec(await readFile(html, "utf8"))?.[1];
    expect(resolve(folder, decodeURIComponent(href ?? ""))).toBe(
      join(desk.workroot, "allowed/corpus/brake notes.md"),
    );
    await rm(`${desk.workroot}-state`, { recursive: true });
  });

  test("says why something was refused, and what to do about what failed", () => {
    for (const form of [page, text]) {
      expect(form).toContain("No file of that name below the allowed roots.");
      expect(form).toContain("Raise model.timeout_s");
      expect(form).toMatch(/nightdesk batch retry [0-9a-f-]{36}/);
    }
  });

  test("gives tokens by model and by kind, and the slowest first", () => {
    expect(page).toMatch(/small:1b<\/th>\s*<td class="n"[^>]*>2<\/td>\s*<td class="n"[^>]*>1,300/);
    expect(page).toContain("summarize, 2 jobs");
    expect(text).toMatch(/## The slowest[^]*\| brakes \| summarize \| small:1b/);
  });

  test("compares with the night before of the same name", () => {
    for (const form of [page, text]) {
      expect(form).toContain("Compared with");
      expect(form).toMatch(/Succeeded before, and not now: 1[^]*broken/);
      expect(form).toMatch(/Another answer than before: 1[^]*brakes/);
      expect(form).toMatch(/New: 1[^]*gone/);
      expect(form).toMatch(/Not in this batch any more: 1[^]*dropped/);
    }
  });

  test("names commands that there are", () => {
    const named = [...`${page}${text}`.matchAll(/nightdesk ((?:batch|runs) \w+)/g)];
    expect(named.length).toBeGreaterThan(2);
    const known = COMMANDS.map(({ name }) => name);
    for (const [, command] of named) expect(known).toContain(command);
  });
});

test("the statement for what is left out gives it", async () => {
  await insertFinishedBatch(desk.database, {
    name: "many",
    jobs: Array.from({ length: 12 }, (_, index) => ({
      ...gone,
      customId: `g${index}`,
      message: `No file ${index}.md.`,
    })),
  });
  const { stdout } = await desk.run("batch", "report", "many", "--output", "shown");
  const [, markdown = ""] = stdout.split("\n");
  const report = await readFile(join(desk.workroot, markdown), "utf8");
  expect(report).toContain("… and 2 more");
  const [, sql = ""] = /```sql\n(.*)\n```/.exec(report) ?? [];
  const { stdout: rows } = await desk.run("sql", sql, "--format", "json");
  expect(JSON.parse(rows)).toHaveLength(12);
});

describe("a hostile text in a report", () => {
  let hostile: { readonly page: string; readonly text: string };
  beforeAll(async () => {
    await insertFinishedBatch(desk.database, {
      name: HOSTILE,
      jobs: [
        {
          customId: HOSTILE,
          input: { kind: "ask", question: HOSTILE },
          answer: HOSTILE,
          scope: HOSTILE,
          model: HOSTILE,
          output: { [HOSTILE]: HOSTILE, list: [HOSTILE] },
          evidence: [
            { path: `javascript:alert(1)/"onmouseover="x.md`, lines: [1, 1], sha256: SHA256 },
            { path: "a/../../etc/passwd", lines: [1, 1], sha256: SHA256 },
            { path: "//evil.example/x", lines: [1, 1], sha256: SHA256 },
          ],
        },
        { ...broken, customId: `=${HOSTILE}`, message: HOSTILE },
        { ...gone, customId: "r", message: HOSTILE, input: { kind: "summarize", path: HOSTILE } },
      ],
    });
    const { stdout } = await desk.run("batch", "report", HOSTILE, "--json");
    const files = JSON.parse(stdout) as { html: string; markdown: string };
    hostile = {
      page: await readFile(files.html, "utf8"),
      text: await readFile(files.markdown, "utf8"),
    };
  });

  test("opens no element and no attribute of the page", () => {
    const tags = [...hostile.page.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, name]) => name);
    expect(new Set(tags)).toEqual(
      new Set([...new Set(tags)].filter((name) => OURS.has(name ?? ""))),
    );
    expect(hostile.page).not.toMatch(/<[^>]*\son\w+\s*=/i);
    expect(hostile.page).toContain("&lt;script&gt;alert(&quot;x&quot;)");
    expect(hostile.page.match(/<style>/g)).toHaveLength(1);
  });

  test("becomes no address, and can't load or run anything if it did", () => {
    const addresses = [...hostile.page.matchAll(/\b(?:href|src|action)="([^"]*)"/g)].map(
      ([, to]) => to,
    );
    expect(addresses.filter((to) => !to?.startsWith("#"))).toEqual([
      "../javascript%3Aalert%281%29/%22onmouseover%3D%22x.md#L1",
    ]);
    expect(hostile.page).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'`,
    );
    expect(hostile.page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(/i);
  });

  test("does not turn the direction of what stands around it", () => {
    expect(hostile.page + hostile.text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  test("is no image, HTML or heading in Markdown", () => {
    const body = hostile.text.replace(/^<!--.*-->$/m, "");
    expect(body).not.toMatch(/(?<!\\)</);
    expect(body).not.toMatch(/!\[/);
    expect(body).not.toMatch(/(?<!\\)\]\(http/);
  });
});

const OURS = new Set(
  "html head meta title style body header main footer p h1 h2 h3 div span ul li strong dl dt dd nav a section article table thead tbody tr th td code pre figure svg desc path rect text line figcaption details summary".split(
    " ",
  ),
);

describe("the files of a report", () => {
  test("are replaced by a newer report of the same batch, and by no other without --force", async () => {
    const again = await desk.run("batch", "report", tonight);
    expect(again.code).toBe(0);
    await desk.write("reports/many.html", "mine");
    const other = await desk.run("batch", "report", "many");
    expect(other.stderr).toContain("is there already. Give --force");
    expect((await desk.run("batch", "report", "many", "--force")).code).toBe(0);
    expect((await stat(join(desk.workroot, "reports/many.html"))).mode & 0o777).toBe(0o600);
  });

  test("compare with a batch that is asked for, by what each job repeats", async () => {
    const first = await insertFinishedBatch(desk.database, { name: "first", jobs: [gone] });
    const id = first.get("gone") ?? "";
    const repaired: FinishedJob = { ...brakes, customId: "renamed", rerunOf: id };
    await insertFinishedBatch(desk.database, { name: "second", jobs: [repaired] });
    const { stdout } = await desk.run("batch", "report", "second", "--json");
    const { markdown, compared_with: since } = JSON.parse(stdout) as Record<string, string>;
    expect(since).toBe("first");
    expect(await readFile(markdown ?? "", "utf8")).toMatch(
      /Succeeded now, and not before: 1[^]*renamed, before FILE_NOT_FOUND/,
    );
    expect((await desk.run("batch", "report", "second", "--compare", "nowhere")).stderr).toContain(
      "NOT_FOUND",
    );
  });
});
