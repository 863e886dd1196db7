import { z } from "zod";
import { lines, readNames } from "../../shared/text/word-lists.ts";

const words = lines.transform((all): ReadonlySet<string> => new Set(all));

/** What `assets/names/files.json` lists: names and parts of names, several in a line. */
const schema = z.strictObject({
  /**
   * Endings, in lower case, that make a file of a name wherever it stands. Left out are those that end ordinary words or
   * addresses more often than files: .so, .as, .in, .do, .me, .ai, .com.
   */
  endings: words,
  /** Names without an ending, in lower case, that are nothing else than a file's. */
  bare: words,
  /** Names without an ending that are words too, so that only these letters name the file. */
  in_capitals: words,
  /** What stands behind the dot of files and folders that begin with one. */
  behind_a_dot: words,
  /** Names of products and of code, in lower case, that look like a file's and are meant as one only where it exists. */
  products: words,
  /** Stems with which a file ends in .js; another that begins with a capital is rather a product's: "Quill.js". */
  scripts: words,
  /** Last labels of names of the web: what ends with one is an address. */
  web_labels: words,
  /** What names of companies and cases end with, which is no ending of a file. */
  company_forms: words,
  /** Abbreviations of four languages that stand before a dot without a blank: "Dr.med", "Abs.eins", "Sr.Pérez". */
  abbreviations: words,
  /** Folders of a machine: what lies in one is a path, not the address of a page. */
  system_folders: words,
});

export const fileTables = readNames("files.json", schema);

export const isWebLabel = (label: string): boolean =>
  fileTables().web_labels.has(label.toLowerCase()) &&
  !fileTables().endings.has(label.toLowerCase());
