/**
 * What the words of a document can be stemmed by: the text search configurations that both a server of PostgreSQL 14
 * or newer and the embedded database have. `simple` stems nothing and knows no stop words.
 */
export const LANGUAGES = [
  ...["simple", "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "finnish"],
  ...["french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian"],
  ...["lithuanian", "nepali", "norwegian", "portuguese", "romanian", "russian", "serbian"],
  ...["spanish", "swedish", "tamil", "turkish", "yiddish"],
] as const;

export type Language = (typeof LANGUAGES)[number];

/** The language of all documents of a source, or `auto`: each document's own, as far as its words tell. */
export const LANGUAGE_SETTINGS = ["auto", ...LANGUAGES] as const;

export type LanguageSetting = (typeof LANGUAGE_SETTINGS)[number];

/** Of a document whose words do not tell. */
export const FALLBACK_LANGUAGE: Language = "english";
