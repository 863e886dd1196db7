/**
 * The languages for stemming: the text search configurations that both PostgreSQL 14 or newer and the embedded database have.
 * `simple` stems nothing and has no stop words.
 */
export const LANGUAGES = [
  ...["simple", "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "finnish"],
  ...["french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian"],
  ...["lithuanian", "nepali", "norwegian", "portuguese", "romanian", "russian", "serbian"],
  ...["spanish", "swedish", "tamil", "turkish", "yiddish"],
] as const;

export type Language = (typeof LANGUAGES)[number];

/** The language of all documents of a source; `auto` detects it for each document. */
export const LANGUAGE_SETTINGS = ["auto", ...LANGUAGES] as const;

export type LanguageSetting = (typeof LANGUAGE_SETTINGS)[number];

/** For a document whose language was not detected. */
export const FALLBACK_LANGUAGE: Language = "english";
