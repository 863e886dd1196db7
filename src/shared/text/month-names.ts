/** First letters of the months in English, German, French and Spanish, without accents. */
const MONTHS: readonly (readonly string[])[] = [
  ["jan", "ene"],
  ["fe"],
  ["mar", "mae"],
  ["apr", "avr", "abr"],
  ["may", "mai"],
  ["jun", "juin"],
  ["jul", "juil"],
  ["au", "ao", "ag"],
  ["se"],
  ["o"],
  ["n"],
  ["d"],
];

/** Month names and short forms in the same languages, as a pattern without regard to case. */
export const MONTH_NAME =
  "(?:jan(?:uary|uar|vier|v)?|enero|ene|feb(?:ruary|ruar|rero)?|f[ée]v(?:rier|r)?|märz|mar(?:ch|s|zo)?|maerz|mär|apr(?:il)?|" +
  "avr(?:il)?|abr(?:il)?|mayo|ma[yi]|june?|juni|junio|juin|july?|juli|julio|juil(?:let)?|aug(?:ust)?|ao[ûu]t|ago(?:sto)?|" +
  "septiembre|setiembre|sept?(?:ember|embre)?|o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|d[ée][cz](?:ember|embre)?|dic(?:iembre)?)";

/** The month, 1 to 12, of a name in any case, with or without accents; 0 for no month. */
export function monthOf(name: string): number {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
  return MONTHS.findIndex((starts) => starts.some((start) => plain.startsWith(start))) + 1;
}
