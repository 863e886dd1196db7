import { expect, test } from "@jest/globals";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { pieceOf } from "./pieces-of.ts";

const gradeOf = (evidence: string, text: string) =>
  gradeClaims([{ text, cites: [1] }], [pieceOf("notes/a.md", evidence)], { question: "" })[0];
const rulesAgainst = (evidence: string, text: string): readonly string[] =>
  gradeOf(evidence, text)?.checks.map(({ rule }) => rule) ?? [];

test.each([
  [
    "gapped",
    "Gerda hat die Zimmer gebucht, Falk die Fahrkarten, beides im Mai.",
    "Die Zimmer hat Falk gebucht.",
    "Die Zimmer hat Gerda gebucht.",
  ],
  [
    "listed",
    "Ordered: a copper kettle, €140 with lid, and an iron pan, €35 with lid.",
    "The copper kettle costs €35 with lid.",
    "The iron pan costs €35 with lid.",
  ],
  [
    "lookalike",
    "Der Bus hält in Neuhaus vor dem Rathaus.",
    "Der Bus hält in Neuhof vor dem Rathaus.",
    "Der Bus hält in Neuhaus vor dem Rathaus.",
  ],
  [
    "gapped",
    "El dueño paga la calefacción y el inquilino paga la luz.",
    "El inquilino paga la calefacción.",
    "El inquilino paga la luz.",
  ],
  [
    "gapped",
    "The hull is of larch, the mast of spruce.",
    "The hull is made of spruce.",
    "The mast is of spruce.",
  ],
  [
    "polarity",
    "The deposit (€90, paid on 4 May) is not returned yet; the office will see to it.",
    "The deposit has already been returned.",
    "The deposit is not returned yet.",
  ],
  [
    "opposites",
    "Die Firma Krahl bestreitet, das Ventil geöffnet zu haben.",
    "Die Firma Krahl räumt ein, das Ventil geöffnet zu haben.",
    "Die Firma Krahl bestreitet, das Ventil geöffnet zu haben.",
  ],
  [
    "opposites",
    "三月の来館者は1,200人で、二月より80人多かった。",
    "三月の来館者は二月より少なかった。",
    "三月の来館者は1,200人で、二月より80人多かった。",
  ],
  [
    "plan",
    "El taller cambiará las ruedas el lunes.",
    "El taller ha cambiado las ruedas.",
    "El taller cambiará las ruedas el lunes.",
  ],
  [
    "plan",
    "Mme Roux présentera le devis au conseil.",
    "Mme Roux a présenté le devis au conseil.",
    "Mme Roux présentera le devis au conseil.",
  ],
  [
    "plan",
    "Die Stühle des Saals sind bestellt, gekommen ist noch keiner.",
    "Die bestellten Stühle des Saals sind gekommen.",
    "Die Stühle des Saals sind bestellt, gekommen ist noch keiner.",
  ],
  [
    "quantifier",
    "La bibliothèque ouvre le lundi et le vendredi.",
    "La bibliothèque ouvre tous les jours.",
    "La bibliothèque ouvre le lundi et le vendredi.",
  ],
  [
    "rate",
    "Por cada mes de demora se cobrará un 3 %.",
    "Por cada día de demora se cobrará un 3 %.",
    "Por cada mes de demora se cobrará un 3 %.",
  ],
  [
    "rate",
    "駐車場の使用料は月2,000円である。",
    "駐車場の使用料は年2,000円である。",
    "駐車場の使用料は月2,000円である。",
  ],
  [
    "subject",
    "Ruth proposed to paint the hall in March; agreed, Ruth and Owen to order.",
    "Owen proposed to paint the hall in March.",
    "Ruth proposed to paint the hall in March.",
  ],
  [
    "statements",
    "The front tyre has 4 mm of profile and holds; the rear tyre is worn down and has to be changed.",
    "The front tyre is worn down.",
    "The rear tyre is worn down.",
  ],
  [
    "statements",
    "Writes were rejected for 17 minutes; reads were unaffected.",
    "Both reads and writes were rejected for 17 minutes.",
    "Writes were rejected for 17 minutes.",
  ],
  [
    "statements",
    "Ines is the treasurer and has been in the club since 2004. Her cousin Luca joined in 2015 and runs the youth section.",
    "Ines has been in the club since 2004 and runs the youth section.",
    "Ines is the treasurer and has been in the club since 2004.",
  ],
  [
    "particles",
    "先週、佐伯主任が新人の村井さんに検査機の操作を教えた。",
    "先週、村井さんが佐伯主任に検査機の操作を教えた。",
    "先週、佐伯主任が新人の村井さんに検査機の操作を教えた。",
  ],
  [
    "corrected",
    "運動会の開始を8時30分としましたが、正しくは9時です。",
    "運動会の開始は8時30分である。",
    "運動会の開始を8時30分としましたが、正しくは9時です。",
  ],
  [
    "tense",
    "Jusqu'à l'été dernier, la boutique acceptait les chèques à partir de 15 euros.",
    "La boutique accepte les chèques à partir de 15 euros.",
    "Jusqu'à l'été dernier, la boutique acceptait les chèques à partir de 15 euros.",
  ],
  [
    "cases",
    "Die Mieterin im zweiten Stock hat dem Hausmeister den Schlüssel zum Fahrradkeller zurückgegeben.",
    "Der Hausmeister hat der Mieterin im zweiten Stock den Schlüssel zum Fahrradkeller zurückgegeben.",
    "Dem Hausmeister hat die Mieterin im zweiten Stock den Schlüssel zum Fahrradkeller zurückgegeben.",
  ],
  [
    "tense",
    "Aushang: Bis 31. August 2023 galt für Inhaber der Familienkarte freier Eintritt am Sonntag.",
    "Inhaber der Familienkarte haben am Sonntag freien Eintritt.",
    "Aushang: Bis 31. August 2023 galt für Inhaber der Familienkarte freier Eintritt am Sonntag.",
  ],
  [
    "tense",
    "The last pallet from Grünwald arrived with eleven broken jars.",
    "Pallets from Grünwald arrive with broken jars.",
    "The last pallet from Grünwald arrived with eleven broken jars.",
  ],
  [
    "owners",
    "Laut Gutachten hat der Fahrer des Lieferwagens die Vorfahrt des Radfahrers missachtet.",
    "Der Radfahrer hat laut Gutachten die Vorfahrt des Lieferwagens missachtet.",
    "Der Fahrer des Lieferwagens hat laut Gutachten die Vorfahrt des Radfahrers missachtet.",
  ],
  [
    "around",
    "El camión de Transportes Vidal golpeó por detrás a la furgoneta de reparto en la rotonda.",
    "La furgoneta de reparto golpeó por detrás al camión de Transportes Vidal.",
    "El camión de Transportes Vidal golpeó por detrás a la furgoneta de reparto.",
  ],
  [
    "anchors",
    "Frau Özdemir übernimmt die Kasse von Herrn Brandt.",
    "Herr Brandt übernimmt die Kasse von Frau Özdemir.",
    "Frau Özdemir übernimmt die Kasse von Herrn Brandt.",
  ],
  [
    "corrected",
    "Order for the canteen: 40 crates of apples. Sorry, typo, 14 crates. Delivery on Wednesday.",
    "The canteen order is for 40 crates of apples.",
    "Order for the canteen: 40 crates of apples.",
  ],
  [
    "direction",
    "The freezer door was left ajar, and so the alarm went off at 04:12.",
    "The freezer door was left ajar because the alarm went off at 04:12.",
    "The freezer door was left ajar, and so the alarm went off at 04:12.",
  ],
  [
    "direction",
    "Procédure de vidange : coupez d'abord l'alimentation électrique, puis fermez l'arrivée d'eau.",
    "Pour la vidange, on ferme l'arrivée d'eau avant de couper l'alimentation électrique.",
    "Procédure de vidange : coupez d'abord l'alimentation électrique, puis fermez l'arrivée d'eau.",
  ],
  [
    "tense",
    "Früher durften Hunde ohne Leine in den Kurpark.",
    "Hunde dürfen ohne Leine in den Kurpark.",
    "Früher durften Hunde ohne Leine in den Kurpark.",
  ],
  [
    "tense",
    "El tren de las 6:55 a Zaragoza llegó el martes con 25 minutos de retraso.",
    "El tren de las 6:55 a Zaragoza llega con 25 minutos de retraso.",
    "El tren de las 6:55 a Zaragoza llegó con 25 minutos de retraso.",
  ],
  [
    "tense",
    "One tester reported that the app froze when he rotated the tablet.",
    "The app freezes when the tablet is rotated.",
    "The app froze when he rotated the tablet.",
  ],
  [
    "objects",
    "Knees sore, but Marek was worse off: he twisted his ankle on the scree below the pass.",
    "Marek twisted his knee on the scree below the pass.",
    "Marek twisted his ankle on the scree below the pass.",
  ],
  [
    "order",
    "El arrendador se hará cargo de las reparaciones estructurales y el arrendatario de las derivadas del uso ordinario.",
    "El arrendatario se hará cargo de las reparaciones estructurales y el arrendador de las derivadas del uso ordinario.",
    "El arrendador se hará cargo de las reparaciones estructurales y el arrendatario de las derivadas del uso ordinario.",
  ],
  [
    "order",
    "Reefed the main at 14:10 and dropped the jib twenty minutes later.",
    "They dropped the jib and reefed the main twenty minutes later.",
    "They reefed the main and dropped the jib twenty minutes later.",
  ],
  [
    "denied_words",
    "The cancelled ferry of 27 June brought a loss of 40 EUR, which the company has not refunded.",
    "The cancelled ferry of 27 June brought nobody a loss, the company has refunded it.",
    "The cancelled ferry of 27 June brought a loss of 40 EUR, which the company has not refunded.",
  ],
  [
    "elsewhere",
    "The boiler room was cleaned in May. The roof was painted in June.",
    "The boiler room was painted in May.",
    "The boiler room was cleaned in May.",
  ],
  [
    "alike",
    "見積書は営業の高橋が三月までに用意する。",
    "見積書は営業の高野が用意する。",
    "見積書は営業の高橋が三月までに用意する。",
  ],
  [
    "binding",
    "Maple Works was chosen, since its doors carry a five-year warranty (Harbour Joinery: two years).",
    "Harbour Joinery's doors carry a five-year warranty.",
    "Maple Works was chosen, since its doors carry a five-year warranty (Harbour Joinery: two years).",
  ],
  [
    "comparison",
    "Liste de réservation : 14 foyers, contre 22 l'an passé.",
    "La liste de réservation est plus longue que l'an passé.",
    "Liste de réservation : 14 foyers, contre 22 l'an passé.",
  ],
  [
    "direction",
    "The coating peeled because of the frost, which nobody had expected.",
    "The frost was caused by the coating that peeled.",
    "The coating peeled because of the frost, which nobody had expected.",
  ],
  [
    "direction",
    "Wegen Übelkeit wurde das Mittel am dritten Tag abgesetzt.",
    "Die Übelkeit trat auf, weil das Mittel abgesetzt wurde.",
    "Wegen Übelkeit wurde das Mittel am dritten Tag abgesetzt.",
  ],
])("%s holds back what joins words that the evidence keeps apart", (rule, evidence, bad, good) => {
  expect(gradeOf(evidence, bad)?.grade).not.toBe("supported");
  expect(rulesAgainst(evidence, bad)).toContain(rule);
  expect(gradeOf(evidence, good)?.grade).toBe("supported");
});

test.each([
  ["unanimous", "Maple Works was chosen, 3 votes to 1.", "Maple Works was chosen unanimously."],
  ["exceeded", "Income 412 EUR, costs 398 EUR.", "Costs exceeded income."],
  ["positive", "犬アレルギーの検査は陰性。", "犬アレルギーの検査は陽性だった。"],
])("%s is a word that has to stand on both sides", (_, evidence, claim) => {
  expect(gradeOf(evidence, claim)?.grade).not.toBe("supported");
});
