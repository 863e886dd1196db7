import { describe, expect, test } from "@jest/globals";
import { matchTrigger } from "../../../src/shared/text/match-trigger.ts";

const TRIGGERS = [
  "deep",
  "in-depth",
  "failure modes",
  "what's missing",
  "long",
  "implicações",
  "概要",
];

describe("a trigger", () => {
  test.each([
    ["A deep look", "deep"],
    ["DEEP!", "deep"],
    ["(deep)", "deep"],
    ["a deep-sea view", "deep"],
    ["a shallow/deep view", "deep"],
    ["so\u00ADdeep de\u00ADep", "deep"],
    ["ｄｅｅｐ", "deep"],
    ["in depth", "in-depth"],
    ["in\ndepth", "in-depth"],
    ["in\u2011depth", "in-depth"],
    ["Which failure\u00a0modes?", "failure modes"],
    ["“failure modes”", "failure modes"],
    ["What\u2019s missing?", "what's missing"],
    ["As implicac\u0327o\u0303es", "implicações"],
    ["请写一个概要吧", "概要"],
    ["how it works, deep down", "deep"],
  ])("stands in %j", (text, trigger) => {
    expect(matchTrigger(text, TRIGGERS)).toBe(trigger);
  });

  test.each([
    "Which is the deepest?",
    "Where does it belong?",
    "How long, how deep?",
    "quão long, wie deep",
    "in the depth",
    "He came in. Depth was low.",
    "a failure, modes aside",
    "one failure modest",
    "see deep.md and https://example.com/deep",
    "undeep deeply",
    "",
  ])("does not stand in %j", (text) => {
    expect(matchTrigger(text, TRIGGERS)).toBeNull();
  });

  test("of several that begin alike is the first of the list, also where one ends in another", () => {
    const alike = ["a b c", "a b", "b c d", "a", "a b"];
    expect(matchTrigger("x a b d", alike)).toBe("a b");
    expect(matchTrigger("x b c d a", alike)).toBe("b c d");
    expect(matchTrigger("a b. c a b c", alike)).toBe("a b c");
    expect(matchTrigger("how a b c b", alike)).toBeNull();
  });

  test("counts only near the beginning of a text that nobody would write by hand", () => {
    expect(matchTrigger(`${"so ".repeat(80_000)}deep`, TRIGGERS)).toBe("deep");
    expect(matchTrigger(`${"so ".repeat(90_000)}deep`, TRIGGERS)).toBeNull();
  });

  test("counts by its place in the list, not in the text", () => {
    expect(matchTrigger("long and deep", ["deep", "long"])).toBe("deep");
  });

  test.each([[[]], [[""]], [["-"]], [["..."]]])(
    "that holds no word never stands: %j",
    (triggers) => {
      expect(matchTrigger("a - b ... c", triggers)).toBeNull();
    },
  );
});
