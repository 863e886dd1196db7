import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { once } from "../../shared/once.ts";

const lines = z
  .array(z.string().min(1))
  .transform((all): ReadonlySet<string> => new Set(all.flatMap((line) => line.split(" "))));

/** What `assets/names/files.json` lists: names and parts of names, several in a line. */
const schema = z.strictObject({
  /**
   * Endings, in lower case, that make a file of a name wherever it stands. Left out are those that end ordinary words or
   * addresses more often than files: .so, .as, .in, .do, .me, .ai, .com.
   */
  endings: lines,
  /** Names without an ending, in lower case, that are nothing else than a file's. */
  bare: lines,
  /** Names without an ending that are words too, so that only these letters name the file. */
  in_capitals: lines,
  /** What stands behind the dot of files and folders that begin with one. */
  behind_a_dot: lines,
  /** Names of products and of code, in lower case, that look like a file's and are meant as one only where it exists. */
  products: lines,
  /** Stems with which a file ends in .js; another that begins with a capital is rather a product's: "Quill.js". */
  scripts: lines,
  /** Last labels of names of the web: what ends with one is an address. */
  web_labels: lines,
  /** What names of companies and cases end with, which is no ending of a file. */
  company_forms: lines,
  /** Abbreviations of four languages that stand before a dot without a blank: "Dr.med", "Abs.eins", "Sr.Pérez". */
  abbreviations: lines,
  /** Folders of a machine: what lies in one is a path, not the address of a page. */
  system_folders: lines,
});

const FILE = join(import.meta.dirname, "..", "..", "..", "assets", "names", "files.json");

/** Read when a question first holds what may be a name. */
export const fileTables = once(() => schema.parse(JSON.parse(readFileSync(FILE, "utf8"))));

export const isWebLabel = (label: string): boolean =>
  fileTables().web_labels.has(label.toLowerCase()) &&
  !fileTables().endings.has(label.toLowerCase());
