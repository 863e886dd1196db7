import { describe, expect, test } from "@jest/globals";
import {
  presetProblem,
  SHIPPED_PRESETS,
  TOOL_EFFECTS,
} from "../../../src/shared/config/tool-presets.ts";

describe("a preset of a configuration", () => {
  test.each(["readonly", "readonly_mine", "read_only", "read-only-files"])(
    "may be called %s only where its tools have no effect",
    (name) => {
      for (const [tool, effect] of Object.entries(TOOL_EFFECTS)) {
        const problem = presetProblem(name, [tool]);
        if (effect === "none") expect(problem).toBeUndefined();
        else expect(problem).toContain(`names ${tool}, whose effect is ${effect}`);
      }
    },
  );

  test.each([
    "Readonly",
    "READONLY_x",
    "read only",
    "ｒeadonly",
    "rеadonly",
    "",
    "1st",
    "x".repeat(65),
  ])("has no name that reads like another: %j", (name) => {
    expect(presetProblem(name, ["shell"])).toContain("is no name of a preset");
  });

  test.each([
    ["with a tool that is not there", "mine", ["note", "shel"], 'names the tool "shel"'],
    ["with a name of an object's own", "mine", ["constructor"], 'names the tool "constructor"'],
    ["without tools", "mine", [], "names no tool"],
    ["with a tool twice", "mine", ["note", "note"], "names note twice"],
    ["in place of one that ships", "reader", ["shell"], "can't be changed"],
  ])("is refused %s", (_, name, tools, problem) => {
    expect(presetProblem(name, tools)).toContain(problem);
  });
});

test("those that ship hold what they promise", () => {
  for (const [name, tools] of Object.entries(SHIPPED_PRESETS)) {
    const effects = new Set(tools.map((tool) => TOOL_EFFECTS[tool]));
    expect([name, name.startsWith("readonly") ? [...effects] : ["none"]]).toEqual([name, ["none"]]);
  }
});
