import { z } from "zod";
import { wordLines, readNames } from "../../shared/text/word-lists.ts";

const words = wordLines.transform((all): ReadonlySet<string> => new Set(all));

/** The lists of `assets/names/files.json`: names and parts of names, several in a line. */
const schema = z.strictObject({
  /**
   * Extensions, in lower case, that mark a file's name anywhere in a text. Left out are those that end ordinary words or
   * addresses more often than files: .so, .as, .in, .do, .me, .ai, .com.
   */
  endings: words,
  /** Names without an extension, in lower case, that only files have. */
  bare: words,
  /** Names without an extension that are also words, so that only this exact spelling names the file. */
  in_capitals: words,
  /** Names of files and folders that begin with a dot, without the dot. */
  behind_a_dot: words,
  /** Names of products and of code, in lower case, that look like a file's name and count as one only where the file exists. */
  products: words,
  /** Stems of .js files. Any other stem with a capital letter is more likely a product: "Quill.js". */
  scripts: words,
  /** Top-level domains: a name that ends with one is an address. */
  web_labels: words,
  /** Endings of names of companies and legal cases, which are no file extensions. */
  company_forms: words,
  /** Abbreviations of four languages before a dot without a space: "Dr.med", "Abs.eins", "Sr.Pérez". */
  abbreviations: words,
  /** Folders of an operating system: a path below one is a file's, not a web address. */
  system_folders: words,
});

export const fileTables = readNames("files.json", schema);

export const isWebLabel = (label: string): boolean =>
  fileTables().web_labels.has(label.toLowerCase()) &&
  !fileTables().endings.has(label.toLowerCase());
