import { describe, expect, test } from "@jest/globals";
import { cutBlocks } from "../../../../src/worker/text/units/cut-blocks.ts";

/** Paragraphs and what stands for itself, with the headings above. */
const splitBlocks = (text: string) =>
  cutBlocks(text)
    .filter(({ kind }) => kind !== "heading" && kind !== "code")
    .map((block) => ({
      kind: block.kind === "text" || block.kind === "item" ? "paragraph" : block.kind,
      text: block.text,
      context: block.headings.join(" "),
    }));

describe("cutBlocks", () => {
  test("takes a line above === or --- for a heading, and what follows for its text", () => {
    const blocks = splitBlocks(
      "Goulash\n=======\n\nFor sixty.\n\nThe onions\n----------\nFry them.\n",
    );
    expect(blocks.map(({ text, context }) => [text, context.trim()])).toEqual([
      ["For sixty.", "Goulash"],
      ["Fry them.", "Goulash The onions"],
    ]);
  });

  test.each([
    "- [ ] Boil the water.",
    "4. [x] Boil the water.",
    "12) Boil the water.",
    "> Boil the water.",
  ])("leaves the mark of %j out of its text", (line) => {
    expect(splitBlocks(line).map(({ text }) => text)).toEqual(["Boil the water."]);
  });

  test("one wide gap in a paragraph makes no row of it", () => {
    const long =
      `It was  late. ${"The crew went on with the ropes until noon. ".repeat(20)}`.trim();
    expect(splitBlocks(`${long}\nThen it rained.`)).toMatchObject([{ kind: "paragraph" }]);
  });

  test("lines whose cells stand under each other are rows", () => {
    const table = "Rope    12 m\nTar      3 l\nSails    2\n";
    expect(splitBlocks(table).map(({ kind, text }) => [kind, text.replace(/ +/g, " ")])).toEqual([
      ["line", "Rope 12 m"],
      ["line", "Tar 3 l"],
      ["line", "Sails 2"],
    ]);
  });

  test("lines that name their cells are rows, and sentences with colons are not", () => {
    const rows =
      "Cabin; Seats; Checked\nCabin: Lynx; Seats: 8\nCabin: Ibex; Seats: 15; Checked: 2026-06-21\n";
    expect(splitBlocks(rows).map(({ kind, text }) => [kind, text])).toEqual([
      ["line", "Cabin: Lynx; Seats: 8"],
      ["line", "Cabin: Ibex; Seats: 15; Checked: 2026-06-21"],
    ]);
    const prose = "He said: wait. The order is this: first the rope; then, at noon: the sails.";
    expect(splitBlocks(prose)).toMatchObject([{ kind: "paragraph" }]);
  });

  test("the header of a mail is facts, and its subject the heading of the rest", () => {
    const mail = "From: Ada Lind <ada@hafen.example>\nSubject: The rope\n\nIt came.\n";
    expect(
      splitBlocks(mail).map(({ kind, text, context }) => [kind, text, context.trim()]),
    ).toEqual([
      ["header", "From: Ada Lind <ada@hafen.example>", ""],
      ["header", "Subject: The rope", ""],
      ["paragraph", "It came.", "The rope"],
    ]);
  });

  test("of an .eml its header stands behind its title, and of a mailbox those of all mails", () => {
    const mail = (subject: string) =>
      `# ${subject}\n\nFrom: Ada Lind <ada@hafen.example>\nDate: 2026-04-02\n\nIt came.\n\n`;
    const FROM = "From: Ada Lind <ada@hafen.example>";
    const blocks = splitBlocks(`${mail("The rope")}${mail("The sails")}# Notes\n\nFrom: here.\n`);
    expect(blocks.map(({ kind, text, context }) => [kind, text, context.trim()])).toEqual([
      ["header", FROM, "The rope"],
      ["header", "Date: 2026-04-02", "The rope"],
      ["paragraph", "It came.", "The rope"],
      ["header", FROM, "The sails"],
      ["header", "Date: 2026-04-02", "The sails"],
      ["paragraph", "It came.", "The sails"],
      ["paragraph", "From: here.", "Notes"],
    ]);
    const signed = `${mail("The rope")}### Signature\n\nAda Lind\n\n## Attachments\n\n- bill.pdf\n\n`;
    expect(
      splitBlocks(`${signed}${mail("The sails")}# Attachments\n\nMore.\n`)
        .filter(({ context }) => !context.includes("sails"))
        .map(({ kind, text }) => [kind, text])
        .slice(3),
    ).toEqual([
      ["header", "Ada Lind"],
      ["header", "bill.pdf"],
      ["paragraph", "More."],
    ]);
    expect(splitBlocks("# Rope\n\n## Attachments\n\nMore.\n")).toMatchObject([
      { kind: "paragraph" },
    ]);
    const quoted = `Text.\n\n~~~\n${mail("In code")}~~~\n`;
    expect(splitBlocks(quoted).map(({ text }) => text)).toEqual(["Text."]);
  });

  test("takes a rule between two paragraphs for a rule", () => {
    expect(splitBlocks("One.\n\n---\n\nTwo.\n").map(({ text }) => text)).toEqual(["One.", "Two."]);
  });
});

test.each([
  ["Basic pay | 3,250.00 | Tax | 518.40\nOvertime | 180.00 | Levy | 207.36", []],
  ["Out | 4 May | Kiel\nBack | 11 May | Oslo", []],
  ["Boat | Kind | 2025\nLynx | A | 14", ["Boat", "Kind", "2025"]],
  ["Region | Kind | Q2\nNorth | A | 13", ["Region", "Kind", "Q2"]],
])(
  "a first row without a line below it names columns where none of its figures is above one: %j",
  (rows, names) => {
    expect(cutBlocks(`${rows}\n`).at(-1)?.names).toEqual(names);
  },
);
