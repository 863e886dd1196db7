import { describe, expect, test } from "@jest/globals";
import { NO_DRIFT, playLoop, shownActs } from "../../support/loop-rules.ts";
import type { Turn } from "../../support/loop-rules.ts";

const search = (query: string, finds: readonly string[] = []): Turn => ({
  kind: "call",
  tool: "search_index",
  args: { query },
  finds,
});
const read = (path: string): Turn => ({
  kind: "call",
  tool: "read_text_file",
  args: { path },
  finds: [path],
});
const failed = (path: string, fails = "FILE_NOT_FOUND"): Turn => ({
  kind: "call",
  tool: "read_text_file",
  args: { path },
  fails,
});
const web = (query: string, urls: readonly string[]): Turn => ({
  kind: "call",
  tool: "web_search",
  args: { query },
  urls,
});
const NOTE: Turn = { kind: "call", tool: "note", args: { text: "Found [1]." } };
/** Plays these turns, and ends. */
const script =
  (...turns: readonly Turn[]) =>
  (turn: number): Turn =>
    turns[turn] ?? { kind: "end" };
const reads = (count: number, folder = (at: number): string => `f${at}`): readonly Turn[] =>
  Array.from({ length: count }, (_, at) => read(`${folder(at)}/${at}.md`));

describe("a query", () => {
  const drift = { ...NO_DRIFT, sameQuery: 2 };

  test("that is asked again in another form, for nothing new, asks for another", () => {
    const played = playLoop(
      script(search("renewal of the rope contract", ["a.md"]), search("Rope contracts: renewals")),
      { drift },
    );
    expect(played.acted).toEqual([
      {
        turn: 2,
        action: {
          kind: "hint",
          rule: "same_query",
          about: "contract renewal rop",
          told: expect.stringContaining("search_index was asked 2 times for these words"),
        },
      },
    ]);
  });

  test("that still finds something, or is asked of another tool, is none of the same", () => {
    const asked = script(
      search("ropes", ["a.md"]),
      search("ropes", ["b.md"]),
      { kind: "call", tool: "search_text", args: { text: "ropes" } },
      read("c/c.md"),
      web("rope", ["https://a.example/1"]),
    );
    expect(shownActs(playLoop(asked, { drift }))).toEqual([]);
  });

  test("is told of once", () => {
    const again = ["x", "x y", "ropes", "the ropes", "rope", "a rope"].map((words, at) =>
      at < 2 ? search(words, [`${words}.md`]) : search(words, at === 4 ? ["n.md"] : []),
    );
    const acts = shownActs(playLoop(script(...again), { drift }));
    expect(acts.filter((act) => act.includes("same_query"))).toHaveLength(1);
  });
});

describe("a folder or site", () => {
  const drift = { ...NO_DRIFT, samePlace: 3 };

  test("that is asked so often in a row asks for another, once", () => {
    const turns = reads(9, () => "contracts");
    const played = playLoop(script(...turns), { drift });
    expect(shownActs(played)).toEqual(["3 same_place hint"]);
    expect(played.acted[0]?.action).toMatchObject({
      about: "contracts",
      told: expect.stringMatching(
        /The last 3 calls looked at contracts\. Unless .* folder, or end/,
      ),
    });
    const pages = [1, 2, 3].map((at): Turn => ({
      kind: "call",
      tool: "web_fetch",
      args: { url: `https://a.example/${at}` },
      finds: [`https://a.example/${at}`],
    }));
    const [hint] = playLoop(script(...pages), { drift }).acted;
    expect(hint?.action).toMatchObject({
      about: "https://a.example",
      told: expect.stringContaining("another site"),
    });
  });

  test("is not where the job may look nowhere else", () => {
    const turns = reads(6, () => "contracts");
    expect(shownActs(playLoop(script(...turns), { drift, roots: ["contracts/"] }))).toEqual([]);
  });

  test("begins anew behind a call that looks elsewhere, and not behind a note", () => {
    const [a = NOTE, b = NOTE, c = NOTE] = reads(3, () => "contracts");
    expect(shownActs(playLoop(script(a, b, search("ropes", ["x.md"]), c), { drift }))).toEqual([]);
    expect(shownActs(playLoop(script(a, b, NOTE, c), { drift }))).toEqual(["4 same_place hint"]);
  });
});

describe("notes", () => {
  const drift = { ...NO_DRIFT, notesEvery: 4 };

  test("are asked for every so many calls, where the grant holds them", () => {
    expect(shownActs(playLoop(script(...reads(9)), { drift }))).toEqual([
      "4 notes hint",
      "8 notes hint",
    ]);
    const tools = ["read_text_file"];
    expect(shownActs(playLoop(script(...reads(9)), { drift, tools }))).toEqual([]);
  });

  test("are counted from the last note", () => {
    const [a = NOTE, b = NOTE, c = NOTE, d = NOTE, e = NOTE] = reads(5);
    expect(shownActs(playLoop(script(a, b, c, NOTE, d, e), { drift }))).toEqual([]);
  });
});

describe("sources", () => {
  test("that are enough bring a hint, and after two calls the end", () => {
    const played = playLoop(script(...reads(20)), { drift: { ...NO_DRIFT, sources: 5 } });
    expect(shownActs(played)).toEqual(["5 sources hint", "7 sources end"]);
    expect(played.acted[1]?.action).toMatchObject({ why: "evidence from 7 sources" });
  });

  test("silence what asks for more of them", () => {
    const drift = { ...NO_DRIFT, notesEvery: 2, sameQuery: 2, samePlace: 2, sources: 1 };
    const turns = [search("ropes", ["a.md"]), search("rope"), search("a rope"), NOTE];
    expect(shownActs(playLoop(script(...turns), { drift }))).toEqual([
      "1 sources hint",
      "3 sources end",
    ]);
  });
});

describe("a tool that fails", () => {
  const drift = { ...NO_DRIFT, failures: 3 };
  /** What finds something stands between, so that nothing else acts. */
  const between = (turns: readonly Turn[]): readonly Turn[] =>
    turns.flatMap((turn, at) => [turn, search(`words ${at}`, [`${at}.md`])]);
  const missing = (count: number): readonly Turn[] =>
    Array.from({ length: count }, (_, at) => failed(`no/${at}.md`));

  test("with the same code three times brings a hint, and no end while others find something", () => {
    const played = playLoop(script(...between(missing(9))), { drift });
    expect(shownActs(played)).toEqual(["5 failures hint"]);
    expect(played.acted[0]?.action).toMatchObject({
      about: "read_text_file FILE_NOT_FOUND",
      told: "read_text_file failed 3 times with FILE_NOT_FOUND. Call it with other arguments, use another tool, or end.",
    });
  });

  test("refuses a job that has found nothing to rest on", () => {
    const turns = Array.from({ length: 9 }, (_, at): readonly Turn[] => [
      web(`words ${at}`, [`https://a.example/${at}`]),
      {
        kind: "call",
        tool: "web_fetch",
        args: { url: `https://a.example/${at}` },
        fails: "FETCH_FAILED",
      },
    ]);
    const played = playLoop(script(...turns.flat()), { drift });
    expect(shownActs(played)).toEqual(["6 failures hint", "12 failures refuse"]);
    expect(played.acted[1]?.action).toMatchObject({
      code: "STAGNATED",
      message: expect.stringContaining("6 calls of web_fetch that failed with FETCH_FAILED"),
    });
  });

  test("is told once the model has had its chance to act on an earlier hint, and of no other tool where there is none", () => {
    const played = playLoop(script(...missing(5)), { drift, tools: ["read_text_file"] });
    expect(shownActs(played)).toEqual(["3 no_new_evidence hint", "5 failures hint"]);
    expect(played.acted[1]?.action).toMatchObject({
      told: "read_text_file failed 5 times with FILE_NOT_FOUND. Call it otherwise or end.",
    });
  });

  test("in other ways, or with a success between, is not the same failure", () => {
    const mixed = [
      failed("a.md"),
      failed("b.md"),
      read("c/c.md"),
      failed("d.md"),
      failed("e.md", "X"),
    ];
    expect(shownActs(playLoop(script(...between(mixed)), { drift }))).toEqual([]);
  });
});

describe("calls that find nothing new", () => {
  const turns = Array.from({ length: 12 }, (_, at) => search(`words ${at}`));

  test.each([
    [2, ["2 no_new_evidence hint", "4 no_new_evidence refuse"]],
    [5, ["5 no_new_evidence hint", "10 no_new_evidence refuse"]],
    [null, []],
  ])("bring a hint and then the end by their limit, %s", (noNewEvidence, acts) => {
    const drift = { ...NO_DRIFT, noNewEvidence };
    expect(shownActs(playLoop(script(...turns), { drift }))).toEqual(acts);
  });
});

describe("searches of the web", () => {
  test("that give URLs that were not there are not without a result", () => {
    const turns = Array.from({ length: 8 }, (_, at) =>
      web(`words ${at}`, [`https://a.example/${at}`]),
    );
    expect(shownActs(playLoop(script(...turns), { drift: NO_DRIFT }))).toEqual([]);
  });

  test("that give the same URLs again are", () => {
    const turns = Array.from({ length: 4 }, (_, at) => web(`words ${at}`, ["https://a.example/"]));
    expect(shownActs(playLoop(script(...turns), { drift: NO_DRIFT }))).toEqual([
      "4 no_new_evidence hint",
    ]);
  });
});
