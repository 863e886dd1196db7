import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { explainHits } from "../../../src/worker/search/explain-hits.ts";
import { parseOperators } from "../../../src/worker/search/parse-operators.ts";
import { openCorpus, SETTINGS } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

describe.each(ENGINES)("words of a question on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    corpus = await openCorpus(database.db);
  });
  afterEach(() => {
    corpus.close();
  });

  /** The paths that a text with operators finds, in order of name. */
  const found = async (text: string, mode: "lexical" | "vector" | "hybrid" = "lexical") =>
    (await corpus.search({ ...parseOperators(text), mode }))
      .map(({ path }) => path.replace("notes/ops/", ""))
      .sort();

  async function indexKitchen(): Promise<void> {
    corpus.write("notes/ops/one.md", "# Kitchen\n\nThe pay day of the crew is the fifth.\n");
    corpus.write("notes/ops/two.md", "# Kitchen\n\nOn this day the guests pay for the soup.\n");
    corpus.write("notes/ops/three.md", "# Generator\n\nGenerators burn diesel, see ERR_42.\n");
    await corpus.index();
    await corpus.embed();
  }

  test.each([
    ["pay day", ["one.md", "two.md"]],
    ['"pay day"', ["one.md"]],
    ['"day pay"', []],
    ['"pay day" soup', ["one.md"]],
    ["kitchen -soup", ["one.md"]],
    ['kitchen -"pay day"', ["two.md"]],
    ['kitchen -"day pay"', ["one.md", "two.md"]],
    ["crew -ERR_42 generator", ["one.md"]],
    ["gene*", ["three.md"]],
    ["gu* cre*", ["one.md", "two.md"]],
    ["-soup", "blank"],
  ])("finds %s", async (text, expected) => {
    await indexKitchen();
    if (expected === "blank") {
      await expect(found(text)).rejects.toMatchObject({ code: "INVALID_QUERY" });
      return;
    }
    expect(await found(text)).toEqual(expected);
  });

  test.each([
    ["燃料", ["ja.md"]],
    ["発電機の燃料は何ですか", ["ja.md"]],
    ["柴油", ["zh.md"]],
    ["発電", ["ja.md"]],
    ["เปิดทำการ", ["th.md"]],
    ["ห้องสมุดเปิดวันไหน", ["th.md"]],
    ["ໂມງ", ["lo.md"]],
    ["បណ្ណាល័យ", ["km.md"]],
    ["စာကြည့်တိုက်", ["my.md"]],
    ["보일러", ["ko.md"]],
    ["水道", []],
  ])("finds %s inside of a text that is written without blanks", async (text, expected) => {
    corpus.write("notes/ops/ja.md", "# 設備\n\n発電機の燃料は軽油です。\n");
    corpus.write("notes/ops/th.md", "# เวลา\n\nห้องสมุดเปิดทำการทุกวันจันทร์ถึงวันศุกร์\n");
    corpus.write("notes/ops/lo.md", "# ເວລາ\n\nຮ້ານເປີດແຕ່ແປດໂມງເຊົ້າ\n");
    corpus.write("notes/ops/km.md", "# ម៉ោង\n\nនៅបណ្ណាល័យមានសៀវភៅច្រើន\n");
    corpus.write("notes/ops/my.md", "# အချိန်\n\nမြို့စာကြည့်တိုက်ကိုနေ့တိုင်းဖွင့်သည်\n");
    corpus.write("notes/ops/zh.md", "# 笔记\n\n发电机需要柴油。\n");
    corpus.write("notes/ops/ko.md", "# 메모\n\n지하보일러실의 열쇠.\n");
    await corpus.index();
    expect(await found(text)).toEqual(expected);
  });

  test("an explanation shows an identifier as it was asked for", async () => {
    await indexKitchen();
    const request = { text: "ERR_42", mode: "lexical", limit: 3 } as const;
    const passages = await corpus.search(request);
    const explained = await explainHits(database.db, request, passages, SETTINGS);
    const [explanation] = [...explained.values()];
    expect(explanation?.terms.map(({ term }) => term).sort()).toEqual(['"ERR_42"', "42", "err"]);
  });

  test.each(["lexical", "vector", "hybrid"] as const)(
    "a phrase and an excluded word hold inside the %s search",
    async (mode) => {
      await indexKitchen();
      expect(await found('"pay day"', mode)).toEqual(["one.md"]);
      expect(await found("pay day kitchen -soup", mode)).not.toContain("two.md");
    },
  );

  test("a question about nothing of this finds nothing, and a related one does", async () => {
    corpus.write("notes/ops/rail.md", "# Rail\n\nThe express to the summit leaves at nine.\n");
    for (let at = 0; at < 20; at += 1) {
      corpus.write(
        `notes/ops/menu-${at}.md`,
        `# Menu ${at}\n\nSoup of the day, and who composed it.\n`,
      );
    }
    await corpus.index();
    const ask = async (text: string) =>
      (await corpus.search({ text }, { floor: 0.15 })).map(({ path }) => path);
    expect(await ask("Which shipyard composed Panamanian supertankers off Antarctica?")).toEqual(
      [],
    );
    expect(await ask("When does the summit express depart?")).toEqual(["notes/ops/rail.md"]);
    expect(
      await corpus.search({ text: "Which shipyard composed Panamanian supertankers?" }),
    ).not.toEqual([]);
  });

  test("the words that come after the bound count in the best chunks all the same", async () => {
    for (let at = 0; at < 30; at += 1)
      corpus.write(`notes/ops/${at}.md`, `common ${at % 3 === 0 ? "rare" : "other"}\n`);
    corpus.write("notes/ops/both.md", "rare common common common\n");
    await corpus.index();
    const unbounded = await corpus.search({ text: "rare common", limit: 5 });
    const { searchLexical } = await import("../../../src/shared/store/index/search-lexical.ts");
    const filter = { pathPrefix: undefined, source: undefined, limit: 5 };
    const bounded = await searchLexical(database.db, { text: "rare common" }, filter, {
      scored: 5,
      read: 1_000,
      listed: 1_000,
    });
    expect(bounded.map(({ chunkKey }) => chunkKey)).toEqual(
      unbounded.map(({ chunkKey }) => chunkKey),
    );
    const unread = await searchLexical(database.db, { text: "rare common" }, filter, {
      scored: 5,
      read: 5,
      listed: 1_000,
    });
    expect(unread[0]?.score).toBeLessThan(bounded[0]?.score ?? 0);
  });

  test("an explanation adds up to the score", async () => {
    await indexKitchen();
    const request = { text: "pay day of the cook", mode: "lexical", limit: 5 } as const;
    const passages = await corpus.search(request, { neighbourWeight: 0.5 });
    const explanations = await explainHits(database.db, request, passages, SETTINGS);
    expect(passages).toHaveLength(2);
    for (const { chunkKey, lexicalScore, borrowedScore } of passages) {
      const explanation = explanations.get(chunkKey);
      const sum = explanation?.terms.reduce((total, { score }) => total + score, 0) ?? 0;
      expect(sum + (borrowedScore ?? 0)).toBeCloseTo(lexicalScore ?? 0, 6);
      expect(explanation?.terms.map(({ term, chunks }) => [term, chunks])).toEqual([
        ["day", 2],
        ["pay", 2],
      ]);
      expect(explanation?.missing).toEqual(["cook"]);
      expect(explanation?.coverage).toBeGreaterThan(0);
      expect(explanation?.coverage).toBeLessThan(1);
    }
  });
});

test.each([
  ['"a b', { text: '"a b' }],
  ["state-of-the-art - x", { text: "state-of-the-art - x" }],
  ['say "" *', { text: "say  *" }],
  ["x* C*", { text: "x* C*" }],
  ["-- -!", { text: "-- -!" }],
])("%s is read as words", (query, { text }) => {
  expect(parseOperators(query)).toEqual({ text, phrases: [], prefixes: [], excluded: [] });
});
