/** Words that ask for a file to be read; not all that do, only those behind which a path is surely meant as one. */
const READING_WORDS: ReadonlySet<string> = new Set([
  ..."read open show print cat load file quote summarize summarise".split(" "),
  ..."lies öffne zeige lis ouvre lee abre leia".split(" "),
]);

export const isReadingWord = (word: string): boolean => READING_WORDS.has(word.toLowerCase());
