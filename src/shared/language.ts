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
