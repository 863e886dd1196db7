import { expect, test } from "@jest/globals";
import { findNegative } from "../../../../src/worker/verify/checks/negative-claims.ts";

type Case = readonly [claim: string, task: string];
type CarriedCase = readonly [claim: string, carrier: string, task: string];

const fires = (text: string, task: string, carrier: string | null = null): boolean =>
  findNegative(
    task,
    carrier === null
      ? { text, grade: "unconfirmed", reason: "not_asked", carrier }
      : { text, grade: "supported", reason: "confirmed", carrier },
    "auto",
  ) !== null;

const FIRES: Readonly<Record<string, readonly Case[]>> = {
  english: [
    ["No supplier offers a discount for early payment.", "Which suppliers offer a discount?"],
    ["None of the contracts mentions a penalty.", "Does any contract mention a penalty?"],
    ["The contracts do not mention pets.", "Do the contracts mention pets?"],
    ["There is no clause about subletting in the leases.", "Is there a clause about subletting?"],
    ["The pump has never failed.", "Has the pump ever failed?"],
    ["Nobody objected to the plan.", "Who objected to the plan?"],
    ["Neither of the reports names a cause.", "Does any report name a cause?"],
    ["No, none of them does.", "Does any contract mention a penalty?"],
    ["Not a single invoice was paid late.", "Was any invoice paid late?"],
  ],
  german: [
    ["Kein Lieferant gewährt Rabatt.", "Welche Lieferanten gewähren Rabatt?"],
    [
      "Keiner der Verträge nennt eine Vertragsstrafe.",
      "Nennt einer der Verträge eine Vertragsstrafe?",
    ],
    ["Die Verträge erwähnen Haustiere nicht.", "Erwähnen die Verträge Haustiere?"],
    ["Es gibt keine Regelung zur Untermiete.", "Gibt es eine Regelung zur Untermiete?"],
    ["Die Pumpe ist nie ausgefallen.", "Ist die Pumpe jemals ausgefallen?"],
    ["Niemand hat dem Plan widersprochen.", "Wer hat dem Plan widersprochen?"],
    ["Eine Kaution wird nicht erwähnt.", "Wird eine Kaution erwähnt?"],
    ["Nirgends steht ein Datum.", "Steht irgendwo ein Datum?"],
  ],
  french: [
    ["Aucun fournisseur n'accorde de remise.", "Quels fournisseurs accordent une remise ?"],
    ["Aucune des factures ne mentionne la TVA.", "Une des factures mentionne-t-elle la TVA ?"],
    ["Les contrats ne mentionnent pas les animaux.", "Les contrats mentionnent-ils les animaux ?"],
    ["Il n'y a pas de clause sur la sous-location.", "Y a-t-il une clause sur la sous-location ?"],
    ["La pompe n'est jamais tombée en panne.", "La pompe est-elle tombée en panne ?"],
    ["Personne n'a contesté le projet.", "Qui a contesté le projet ?"],
    ["Les rapports ne disent rien de la cause.", "Les rapports disent-ils la cause ?"],
    ["Pas un seul dossier n'est signé.", "Un des dossiers est-il signé ?"],
  ],
  spanish: [
    ["Ningún proveedor ofrece descuento.", "¿Qué proveedores ofrecen descuento?"],
    [
      "Ninguno de los contratos menciona una multa.",
      "¿Alguno de los contratos menciona una multa?",
    ],
    ["Los contratos no mencionan las mascotas.", "¿Mencionan los contratos las mascotas?"],
    ["No hay ninguna cláusula sobre el subarriendo.", "¿Hay una cláusula sobre el subarriendo?"],
    ["La bomba nunca ha fallado.", "¿Ha fallado la bomba?"],
    ["Nadie se opuso al plan.", "¿Quién se opuso al plan?"],
    ["La fianza no figura en los contratos.", "¿Figura la fianza en los contratos?"],
    ["No existen informes sobre la avería.", "¿Existen informes sobre la avería?"],
  ],
  japanese: [
    ["契約書には違約金の記載がありません。", "契約書に違約金の記載はありますか。"],
    ["割引を行う業者は一つもない。", "割引を行う業者はありますか。"],
    ["誰も計画に反対しなかった。", "誰が計画に反対しましたか。"],
  ],
};

const SILENT: Readonly<Record<string, readonly Case[]>> = {
  english: [
    ["The ticket is still open.", "Is the ticket open?"],
    ["It was released in 2025.", "When was it released?"],
    ["The build is not passing.", "What is the state of the build?"],
    ["No later than 3 May the report is due.", "When is the report due?"],
    ["The fee is no more than 30 EUR.", "How much is the fee?"],
    ["No, the fee is 30 EUR.", "Is the fee 20 EUR?"],
    ["The festival is nothing but a market.", "What is the festival?"],
    ["He no longer leads the choir.", "Who leads the choir?"],
  ],
  german: [
    ["Die Rechnung ist noch offen.", "Ist die Rechnung bezahlt?"],
    ["Die Software erschien 2025.", "Wann erschien die Software?"],
    ["Der Test läuft nicht durch.", "Wie steht es um den Test?"],
    ["Nicht nur Mitglieder dürfen kommen.", "Wer darf kommen?"],
    ["Nein, die Gebühr beträgt 30 EUR.", "Beträgt die Gebühr 20 EUR?"],
    ["Es ist nichts anderes als ein Markt.", "Was ist das Fest?"],
    ["Die Miete beträgt 900 EUR.", "Wie hoch ist die Miete?"],
  ],
  french: [
    ["Le dossier est encore ouvert.", "Où en est le dossier ?"],
    ["Le logiciel est sorti en 2025.", "Quand le logiciel est-il sorti ?"],
    ["Le test ne passe pas.", "Comment va le test ?"],
    ["Pas seulement les membres peuvent venir.", "Qui peut venir ?"],
    ["Non, la cotisation est de 30 euros.", "La cotisation est-elle de 20 euros ?"],
    ["Le loyer est sans aucun doute de 900 euros.", "Quel est le loyer ?"],
    ["Le bureau est fermé le lundi.", "Quand le bureau est-il fermé ?"],
  ],
  spanish: [
    ["El expediente sigue abierto.", "¿Cómo está el expediente?"],
    ["El programa salió en 2025.", "¿Cuándo salió el programa?"],
    ["La prueba no pasa.", "¿Cómo va la prueba?"],
    ["No solo los socios pueden venir.", "¿Quién puede venir?"],
    ["No, la cuota es de 30 euros.", "¿La cuota es de 20 euros?"],
    ["No obstante, la cuota subió a 30 euros.", "¿Cuánto es la cuota?"],
    ["La oficina cierra los lunes.", "¿Cuándo cierra la oficina?"],
  ],
  japanese: [
    ["会費は30ユーロです。", "会費はいくらですか。"],
    ["会員だけでなく、家族も参加できる。", "参加できるのは。"],
    ["窓口は月曜日に開く。", "窓口は何曜日に開きますか。"],
  ],
};

test.each(Object.entries(FIRES))(
  "a claim in %s that denies something of a whole set is negative",
  (_, cases) => {
    expect(cases.filter(([claim, task]) => !fires(claim, task))).toEqual([]);
  },
);

test.each(Object.entries(SILENT))("a claim in %s about one thing is not negative", (_, cases) => {
  expect(cases.filter(([claim, task]) => fires(claim, task))).toEqual([]);
});

const CARRIED: readonly CarriedCase[] = [
  [
    "No dogs are allowed in the lounge.",
    "Dogs are not allowed in the lounge.",
    "Are dogs allowed?",
  ],
  ["There is no lift in the house.", "The house has no lift.", "Is there a lift?"],
  ["Hunde sind nicht erlaubt.", "Hunde sind nicht erlaubt.", "Sind Hunde erlaubt?"],
  ["Kein Zutritt ohne Helm.", "Kein Zutritt ohne Helm.", "Gibt es eine Pflicht?"],
  ["Aucun chien n'est admis.", "Les chiens ne sont pas admis.", "Y a-t-il des chiens ?"],
  ["No hay ascensor.", "La casa no tiene ascensor.", "¿Hay ascensor?"],
];

test("what a sentence denies itself is carried by it, and needs no coverage", () => {
  expect(CARRIED.filter(([claim, carrier, task]) => fires(claim, task, carrier))).toEqual([]);
});

test("a sentence about one member carries no denial about all of them, nor one that denies nothing", () => {
  expect(
    fires(
      "No supplier offers a discount.",
      "Which suppliers offer a discount?",
      "The supplier Brandt Ltd offers no discount.",
    ),
  ).toBe(true);
  expect(fires("No supplier offers a discount.", "Who does?", "Suppliers list prices.")).toBe(true);
});

test.each([
  ["No branch opens on Sundays.", "The branch does not open on Sundays.", "Does any branch open?"],
  [
    "Keine Filiale öffnet sonntags.",
    "Die Filiale öffnet sonntags nicht.",
    "Öffnet eine der Filialen?",
  ],
])("%s is of all, and not carried by: %s", (claim, carrier, task) => {
  expect(fires(claim, task, carrier)).toBe(true);
  expect(fires(claim, "When is it open?", carrier)).toBe(false);
});

test("a claim with a denial is negative where the operator asks for it", () => {
  const carried = {
    text: "Dogs are not allowed.",
    grade: "supported",
    reason: "verbatim",
    carrier: "Dogs are not allowed.",
  } as const;
  expect(findNegative("", carried, "auto")).toBeNull();
  expect(findNegative("", carried, "on")).not.toBeNull();
  expect(findNegative("", { ...carried, text: "Dogs are allowed." }, "on")).toBeNull();
});

test("a sentence that denies the same in other words carries a claim, unless the question is about a set", () => {
  const claim = {
    text: "No detergent is to be used on the filter.",
    grade: "unconfirmed",
    reason: "not_asked",
    carrier: "Rinse the filter, without detergent.",
  } as const;
  const manuals = "Which of the manuals allows any detergent?";
  expect(findNegative("How is the filter cleaned?", claim, "auto")).toBeNull();
  expect(findNegative(manuals, claim, "auto")).not.toBeNull();
  const contradicted = { ...claim, reason: "polarity" } as const;
  expect(findNegative("How is the filter cleaned?", contradicted, "auto")).not.toBeNull();
});
