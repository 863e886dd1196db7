import type { ListedLanguage } from "../../text/word-forms.ts";
import type { ClaimLanguage } from "./terms.ts";

const wordsOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** What a document is called, and who speaks in it: "the recipe asks for", "the author has tried". Folded. */
const OF_DOCUMENT: Readonly<Record<ListedLanguage, ReadonlySet<string>>> = {
  english: wordsOf(
    "recipe contract agreement report document file text note notes letter message list manual instructions guide table entry article offer invoice bill summary overview author writer sender",
  ),
  german: wordsOf(
    "rezept vertrag bericht dokument datei text notiz notizen brief schreiben nachricht liste anleitung tabelle eintrag artikel angebot rechnung protokoll ubersicht autor autorin verfasser verfasserin absender",
  ),
  french: wordsOf(
    "recette contrat rapport document fichier texte note notes lettre message liste notice manuel tableau article devis facture auteur auteure autrice expediteur",
  ),
  spanish: wordsOf(
    "receta contrato informe documento archivo fichero texto nota notas carta mensaje lista manual tabla articulo presupuesto factura acta autor autora remitente",
  ),
};

/** Whether a folded word names the document that a unit stands in, or its writer, rather than what it tells of. */
export const isOfDocument = (word: string, language: ClaimLanguage | null): boolean =>
  language !== "japanese" && OF_DOCUMENT[language ?? "english"].has(word);
