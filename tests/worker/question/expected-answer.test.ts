import { expect, test } from "@jest/globals";
import { expectedAnswer } from "../../../src/worker/question/expected-answer.ts";

/** A question, what it asks for, a sentence that holds such a thing and one that does not. */
const ASKED: readonly (readonly [string, string, string, string])[] = [
  ["How much does the owner ask?", "amount", "The owner asks 9,500.", "The owner asks a lot."],
  [
    "How much does the ticket cost?",
    "money",
    "The ticket costs €18.50.",
    "The ticket is valid for 3 days.",
  ],
  ["Was kostet die Chorfahrt?", "money", "Sie kostet 185 Euro.", "Sie dauert 3 Tage."],
  [
    "Combien coûte la place par nuit ?",
    "money",
    "La place coûte 26 euros.",
    "La place a 12 m de long.",
  ],
  ["¿Cuánto gana el encargado?", "money", "Gana 1.900 euros al mes.", "Lleva allí treinta años."],
  ["How many berths are there?", "count", "There are forty berths.", "There are berths for all."],
  ["Wie viele Mitglieder hat der Chor?", "count", "Der Chor hat 34 Mitglieder.", "Der Chor singt."],
  ["¿Cuántos socios hay?", "count", "Hay doce socios.", "Hay socios en el muelle."],
  ["Wie alt ist der Kater?", "age", "Der Kater ist 7 Jahre alt.", "Die Impfung ist in einem Jahr."],
  ["Quel âge a le bateau ?", "age", "Le bateau a 32 ans.", "Le bateau a 3 mâts."],
  ["How long does the paint dry?", "duration", "It dries for 16 hours.", "It dries by the door."],
  ["Wie lange wartet man?", "duration", "Man wartet 16 Stunden.", "Man wartet im Hof."],
  ["¿Cuánto tiempo dura el viaje?", "duration", "Dura dos horas.", "Sale del muelle 2."],
  ["When does the shop open?", "time", "It opens at nine on Monday.", "It opens with a key."],
  ["When is the forge lit?", "time", "It is lit at seven.", "It is lit with a match."],
  ["Wann ist das Konzert?", "time", "Es ist am 5. Juli.", "Es ist im Hafen."],
  ["Quand a lieu le cours ?", "time", "Le cours a lieu le mardi.", "Le cours a lieu au port."],
  ["¿Cuándo llega el camión?", "time", "Llega el nueve de julio.", "Llega al muelle."],
  ["At what time does it start?", "clock time", "It starts at 1:30 a.m.", "It starts on 12 May."],
  ["Um wie viel Uhr beginnt die Probe?", "clock time", "Um 19 Uhr.", "Am 12. Mai."],
  [
    "In welchem Jahr wurde sie gebaut?",
    "year",
    "Sie wurde 1931 gebaut.",
    "Sie wurde im Mai gebaut.",
  ],
  [
    "Who painted the Petrel?",
    "person",
    "Jannis and Marta painted her.",
    "The Petrel was painted in spring.",
  ],
  [
    "Wer hat den Motor gestohlen?",
    "person",
    "Herr Kruse hat ihn gestohlen.",
    "In der Nacht wurde ein Motor gestohlen.",
  ],
  [
    "Qui ouvre le bal ?",
    "person",
    "M. le maire, Gilles Aubert, ouvre le bal.",
    "Le bal est ouvert à 20 h.",
  ],
  [
    "¿Quién conduce el camión?",
    "person",
    "El conductor es Anxo Varela.",
    "El camión llega mañana.",
  ],
  [
    "Wie heißt der Hund von Herrn Kruse?",
    "name",
    "Der Hund heißt Bello.",
    "Der Hund von Herrn Kruse darf nicht auf die Pontons.",
  ],
  ["¿Cómo se llama el encargado?", "name", "El encargado se llama Brais.", "El encargado no está."],
  [
    "What is the phone number of Priya?",
    "phone number",
    "Tel. +44 1632 960118",
    "Yours sincerely, Priya",
  ],
  [
    "Quel est le téléphone interne de l'équipe Nuit ?",
    "phone number",
    "Équipe: Nuit; Téléphone interne: 4417",
    "Le téléphone de l'équipe Nuit date de 2019.",
  ],
  ["Wie lautet die Telefonnummer des Hafens?", "phone number", "Durchwahl 42", "Der Hafen hat 42."],
  [
    "What is the password of the guest network?",
    "secret",
    "The password is tern.",
    "The guests have a network.",
  ],
  ["In welcher Straße wohnt sie?", "street", "Sie wohnt im Mühlenweg.", "Sie wohnt in Marlund."],
  ["¿Dónde es la clase?", "place", "Es en la escuela.", "La clase empieza tarde."],
];

test.each(ASKED)("%s asks for: %s", (question, kind, fitting, other) => {
  const expected = expectedAnswer(question);
  expect(expected.kind).toBe(kind);
  expect([fitting, other].map((text) => expected.isIn(text))).toEqual([true, false]);
});

test.each([
  "What is an iroko?",
  "Welche Farbe hat das nicht?",
  "Why is the road closed?",
  "Tell me about the crane",
])("%s may be answered by any sentence", (question) => {
  expect(expectedAnswer(question).isIn("Nothing of the kind is said here.")).toBe(true);
});

test("a name, a number or a role of the question itself is no answer to it", () => {
  const { isIn } = expectedAnswer("Who is the owner of the Petrel?");
  expect(isIn("The owner of the Petrel is out.")).toBe(false);
  expect(isIn("The owner of the Petrel is Marta.")).toBe(true);
});

test("a number of the question is no answer to it either", () => {
  const { isIn } = expectedAnswer("When was the engine of 1804 improved?");
  expect(isIn("The engine of 1804 was improved.")).toBe(false);
  expect(isIn("The engine of 1804 was improved in 1811.")).toBe(true);
});
