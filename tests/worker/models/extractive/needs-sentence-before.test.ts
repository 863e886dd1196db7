import { describe, expect, test } from "@jest/globals";
import {
  candidatesOf,
  needsSentenceBefore,
} from "../../../../src/worker/models/extractive/candidates.ts";

const NONE: ReadonlySet<string> = new Set();

describe("a sentence needs the one before it", () => {
  test.each([
    "It lies in the shadow of the boulder.",
    "They weigh 38 kg each.",
    "However, the gate stays shut.",
    "Therefore nobody rides in the crate.",
    "**But** the wind had noticed.",
    "This means three minutes of boiling.",
    "That is why the lamp is on.",
    "These were sold in June.",
    "Her name is on the door.",
    "In it were 611 names.",
    "If it is not, let the generator run first.",
    "From there it is a staircase of slabs.",
    "Each has its number burnt into the top edge.",
    "Both are spare.",
    "For example, the pump.",
    "As a result the road was closed.",
    "The latter is cheaper.",
    '"It was too hot," said Jonas.',
    "So the bread was late.",
  ])("%s", (sentence) => {
    expect(needsSentenceBefore(sentence, NONE, "english")).toBe(true);
  });
});

describe("a sentence stands for itself", () => {
  test.each([
    "The pump is red.",
    "It is important that the valve is closed.",
    "It takes an hour and fifty minutes.",
    "It rains.",
    "This year the piano was tuned.",
    "This paper is about bells.",
    "In this report we count them.",
    "That evening the fog came.",
    "Those who sign pay the fee.",
    "So far nobody has complained.",
    "Instead of a bell there is a horn.",
    "Each shutter has a number.",
    "Some guests sing.",
    "If the lamp is off, boil the water.",
    "From June on the path is open.",
    "Italy is warm.",
    "Marta: It is ready.",
    "",
  ])("%s", (sentence) => {
    expect(needsSentenceBefore(sentence, NONE, "english")).toBe(false);
  });

  test("when its heading holds the noun that it points to", () => {
    const known = new Set(["agreement"]);
    expect(needsSentenceBefore("This agreement ends in May.", known, "english")).toBe(false);
    expect(needsSentenceBefore("This agreement ends in May.", NONE, "english")).toBe(true);
  });
});

describe("in the language of its text", () => {
  test.each([
    ["german", "Er kommt am Montag.", "Der Klempner kommt am Montag."],
    ["german", "Außerdem fehlt eine Schraube.", "Im Keller fehlt eine Schraube."],
    ["german", "Das bedeutet drei Minuten.", "Das Wasser kocht drei Minuten."],
    ["german", "Diese Pumpe ist rot.", "Dieses Jahr ist die Pumpe rot."],
    ["german", "Sie ist geschlossen.", "Sie können die Tür schließen."],
    ["german", "Dafür reicht ein Eimer.", "Es gibt nur einen Eimer."],
    ["french", "Cependant, la porte reste fermée.", "La porte reste fermée."],
    ["french", "Elle ferme à dix heures.", "Il y a une porte."],
    ["french", "Ces clés sont perdues.", "Cette semaine, la porte est ouverte."],
    ["spanish", "Sin embargo, la puerta sigue cerrada.", "Sin llave no se abre."],
    ["spanish", "Ella vive en Lima.", "El perro vive en Lima."],
    ["spanish", "Después, se cerró el puerto.", "Después de la fiesta se cerró el puerto."],
    ["french", "Alors la porte se ferme.", "Alors que la porte se ferme, le quai reste ouvert."],
    ["spanish", "Esta bomba es roja.", "Esta noche no hay agua."],
  ] as const)("%s: %s needs it, %s does not", (language, open, whole) => {
    expect(needsSentenceBefore(open, NONE, language)).toBe(true);
    expect(needsSentenceBefore(whole, NONE, language)).toBe(false);
  });

  test("words of another one say nothing", () => {
    expect(needsSentenceBefore("Her er en pumpe.", NONE, "danish")).toBe(false);
    expect(needsSentenceBefore("Her er en pumpe.", NONE, null)).toBe(true);
    expect(needsSentenceBefore("Both und Söhne sind Klempner.", NONE, "german")).toBe(false);
  });

  test("which its words tell", () => {
    const text =
      "Der Klempner hat die Pumpe in der Küche nicht gefunden. Er kommt deshalb am Montag noch einmal.";
    const evidence = [{ number: 1, path: "a.md", title: null, headingPath: null, text }];
    expect(candidatesOf(evidence).map(({ sentences }) => sentences)).toEqual([1, 2]);
  });
});
