import type { Language } from "../../language.ts";

// A term of the index is a lexeme of one language. Those of English stand as they are; those of another bear its name,
// as in `@german haus`. No lexeme holds a blank, and none that begins a word begins with `@`.

export const termOf = (language: Language, lexeme: string): string =>
  language === "english" ? lexeme : `@${language} ${lexeme}`;

/** The lexeme of a term. */
export const lexemeOf = (term: string): string => term.slice(term.indexOf(" ") + 1);

/** SQL of the term for a lexeme. */
export const termSql = (language: string, lexeme: string): string =>
  `(case ${language} when 'english' then ${lexeme} else '@' || ${language} || ' ' || ${lexeme} end)`;

/** SQL of a text as its words are indexed: `foldSharpS`. */
export const foldedSql = (text: string): string =>
  `replace(replace(${text}, 'ß', 'ss'), 'ẞ', 'SS')`;

/** SQL of the language of a term. */
export const termLanguageSql = (term: string): string =>
  `coalesce(substring(${term} from '^@([a-z]+) '), 'english')`;
