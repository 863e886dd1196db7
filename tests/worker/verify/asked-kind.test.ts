import { describe, expect, test } from "@jest/globals";
import { missingKind } from "../../../src/worker/verify/asked-kind.ts";

describe("what a question asks for is", () => {
  test.each([
    ["When does the museum open?", ["Entry costs 12 euro for all visitors."], null],
    ["When does the museum open?", ["The museum has a garden behind the house."], "time"],
    ["How old is Bela Horvath?", ["With much experience he must be well advanced."], "age"],
    ["Who pays for the trial?", ["The trial had 84 volunteers over 12 weeks."], "person"],
    ["Wie hoch ist die Miete?", ["Die Wohnung liegt im dritten Stock."], "money"],
    ["Où est le service technique ?", ["Le service répond très vite le matin."], "place"],
    ["¿Cuánto cuesta la entrada?", ["La entrada queda junto al puente."], "money"],
  ])("looked for: %s %j: %s", (question, statements, missing) => {
    expect(missingKind(question, statements)).toBe(missing);
  });

  test("in any statement, and not in each", () => {
    const statements = ["The museum has a garden.", "It opens at 9:00 on weekdays."];
    expect(missingKind("When does the museum open?", statements)).toBeNull();
  });

  test("not looked for in a few words, nor where the question does not tell", () => {
    expect(missingKind("Who is on call?", ["Olga."])).toBeNull();
    expect(missingKind("What does it say of trains?", ["Trains run."])).toBeNull();
    expect(missingKind("Summarise the file.", ["Trains run."])).toBeNull();
    expect(missingKind("When does it open?", [])).toBeNull();
  });

  test("not what the question itself gives", () => {
    const said = "In the list, 2024 is named beside the others.";
    expect(missingKind("How many boats sank in 2024?", [said])).toBe("count");
    expect(missingKind("How many boats sank in 2024?", ["Of them, 7 boats sank."])).toBeNull();
  });
});
