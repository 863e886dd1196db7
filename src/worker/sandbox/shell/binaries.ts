/** What may follow a flag: words that mean nothing to the machine, a path that is read, or words of one form. */
type Value = "text" | "path" | RegExp;

/** What a program is given besides flags. */
type Operands =
  | { readonly kind: "paths"; readonly most?: number }
  /** The first is no path, unless one of the flags has taken its place. */
  | { readonly kind: "word_then_paths"; readonly word: RegExp; readonly unless?: readonly string[] }
  | { readonly kind: "words"; readonly word: RegExp; readonly most: number };

/**
 * How the words of a program are read, after getopt_long: short flags in clusters, long ones by their whole name, flags
 * after operands too, `--` ends them. What is not here is not known, and so the command asks.
 */
export type Grammar = {
  /** Short flags without a value. */
  readonly flags: string;
  /** Long flags without a value, or with one by `=` that is text. */
  readonly long?: readonly string[];
  /** Flags with a value, short by one letter: `-n 5`, `-n5`, `--lines=5`, `--lines 5`. */
  readonly valued?: Readonly<Record<string, Value>>;
  /** Flags with two words after them. */
  readonly pairs?: readonly string[];
  /** Flags that it is always given. */
  readonly given?: readonly string[];
  /** `-5`. */
  readonly isNumeric?: true;
  readonly operands: Operands;
};

const NUMBER = /^[+-]?\d+[a-zA-Z]{0,3}$/;
const PATHS: Operands = { kind: "paths" };
const words = (most: number, word = /^/): Operands => ({ kind: "words", most, word });

/**
 * Programs that write nothing, run nothing and name no program, with the flags of theirs that keep it so. Left out on
 * purpose: sort -o, -T and --compress-program; uniq's second operand; find -exec, -ok, -delete, -fprint and -fls; tail -f;
 * date -s; file -C and -z; diff -l and -r (which follows links); grep -R; sed but for a range of lines; jq -f and modules;
 * xargs, env, awk, tee, dd, less, every interpreter and every program that runs what a project says (make, npm).
 */
export const BINARIES: Readonly<Record<string, Grammar>> = {
  basename: { flags: "az", valued: { s: "text", suffix: "text" }, operands: words(20) },
  cat: {
    flags: "AbeEnstTuv",
    long: ["number", "number-nonblank", "show-all", "show-ends", "show-tabs", "squeeze-blank"],
    operands: PATHS,
  },
  cmp: { flags: "bls", valued: { n: NUMBER }, operands: { kind: "paths", most: 2 } },
  comm: { flags: "123z", long: ["nocheck-order", "total"], operands: { kind: "paths", most: 2 } },
  cut: {
    flags: "sz",
    long: ["complement", "only-delimited"],
    valued: {
      ...{ b: "text", c: "text", d: "text", f: "text", bytes: "text", characters: "text" },
      ...{ delimiter: "text", fields: "text", "output-delimiter": "text" },
    },
    operands: PATHS,
  },
  date: {
    flags: "uR",
    long: ["utc", "universal", "rfc-email", "iso-8601"],
    valued: { d: "text", date: "text", "rfc-3339": "text", r: "path", reference: "path" },
    operands: words(1, /^\+/),
  },
  diff: {
    // Of two folders it compares the files, and would go through links in them.
    given: ["--no-dereference"],
    flags: "abBEiqstuwyZ",
    long: [
      ...["brief", "ignore-all-space", "ignore-blank-lines", "ignore-case", "ignore-space-change"],
      ...["minimal", "report-identical-files", "side-by-side", "suppress-common-lines", "unified"],
    ],
    valued: { U: NUMBER, W: NUMBER, I: "text", label: "text", width: NUMBER },
    operands: { kind: "paths", most: 2 },
  },
  dirname: { flags: "z", operands: words(20) },
  du: {
    flags: "abchkmsx",
    long: ["all", "apparent-size", "bytes", "human-readable", "summarize", "total"],
    valued: { d: NUMBER, "max-depth": NUMBER },
    operands: PATHS,
  },
  echo: { flags: "neE", operands: words(200) },
  file: {
    flags: "bi",
    long: ["brief", "mime", "mime-type", "mime-encoding"],
    operands: PATHS,
  },
  fold: { flags: "bs", valued: { w: NUMBER, width: NUMBER }, operands: PATHS },
  grep: {
    flags: "abcEFGhHilLnoPqrsvwxzZ",
    long: [
      ...["basic-regexp", "count", "extended-regexp", "files-with-matches", "files-without-match"],
      ...[
        "fixed-strings",
        "ignore-case",
        "invert-match",
        "line-number",
        "line-regexp",
        "no-filename",
      ],
      ...["no-messages", "null", "only-matching", "perl-regexp", "quiet", "recursive", "text"],
      ...["with-filename", "word-regexp", "color"],
    ],
    valued: {
      ...{ A: NUMBER, B: NUMBER, C: NUMBER, m: NUMBER, e: "text", f: "path" },
      ...{
        "after-context": NUMBER,
        "before-context": NUMBER,
        context: NUMBER,
        "max-count": NUMBER,
      },
      ...{ regexp: "text", include: "text", exclude: "text", "exclude-dir": "text", file: "path" },
    },
    isNumeric: true,
    operands: { kind: "word_then_paths", word: /^/, unless: ["e", "regexp", "f", "file"] },
  },
  head: {
    flags: "qvz",
    long: ["quiet", "silent", "verbose"],
    valued: { n: NUMBER, c: NUMBER, lines: NUMBER, bytes: NUMBER },
    isNumeric: true,
    operands: PATHS,
  },
  id: { flags: "gnu", operands: words(0) },
  join: {
    flags: "iz",
    long: ["ignore-case", "header", "nocheck-order"],
    valued: {
      "1": NUMBER,
      "2": NUMBER,
      a: NUMBER,
      e: "text",
      j: NUMBER,
      o: "text",
      t: "text",
      v: NUMBER,
    },
    operands: { kind: "paths", most: 2 },
  },
  jq: {
    flags: "aCcehjMnRrsS",
    long: [
      ...["ascii-output", "compact-output", "exit-status", "join-output", "monochrome-output"],
      ...["null-input", "raw-input", "raw-output", "slurp", "sort-keys", "tab"],
    ],
    valued: { indent: NUMBER },
    pairs: ["arg", "argjson"],
    // No module: a program of jq can neither write nor start anything, but it is not to come from a file.
    operands: { kind: "word_then_paths", word: /^(?!.*\b(import|include)\b)/s },
  },
  ls: {
    flags: "1aABcCdFgGhiklmnNopqQrRsStuUvxX",
    long: [
      ...[
        "all",
        "almost-all",
        "classify",
        "color",
        "directory",
        "full-time",
        "group-directories-first",
      ],
      ...["human-readable", "inode", "no-group", "numeric-uid-gid", "recursive", "reverse", "size"],
    ],
    valued: {
      I: "text",
      w: NUMBER,
      ignore: "text",
      sort: "text",
      time: "text",
      "time-style": "text",
    },
    operands: PATHS,
  },
  md5sum: { flags: "btz", operands: PATHS },
  nl: {
    flags: "p",
    valued: {
      b: "text",
      f: "text",
      h: "text",
      i: NUMBER,
      n: "text",
      s: "text",
      v: NUMBER,
      w: NUMBER,
    },
    operands: PATHS,
  },
  od: {
    flags: "abcdDfFhHiIlLoOsvxX",
    valued: { A: "text", j: NUMBER, N: NUMBER, t: "text", w: NUMBER },
    operands: PATHS,
  },
  paste: { flags: "sz", valued: { d: "text", delimiters: "text" }, operands: PATHS },
  printf: { flags: "", operands: words(200) },
  pwd: { flags: "LP", operands: words(0) },
  readlink: { flags: "efmnqsz", operands: PATHS },
  realpath: { flags: "emqsz", operands: PATHS },
  rev: { flags: "", operands: PATHS },
  sed: {
    flags: "nEr",
    operands: {
      kind: "word_then_paths",
      word: /^(\d+|\$)(,(\+?\d+|\$))?p(;(\d+|\$)(,(\+?\d+|\$))?p)*$/,
    },
  },
  seq: { flags: "w", valued: { s: "text", f: "text" }, operands: words(3, /^-?\d+(\.\d+)?$/) },
  sha1sum: { flags: "btz", operands: PATHS },
  sha256sum: { flags: "btz", operands: PATHS },
  sort: {
    flags: "bdfghiMnRrVcCmsuz",
    long: [
      ...["check", "dictionary-order", "general-numeric-sort", "human-numeric-sort", "ignore-case"],
      ...[
        "ignore-leading-blanks",
        "merge",
        "month-sort",
        "numeric-sort",
        "reverse",
        "stable",
        "unique",
      ],
      "version-sort",
    ],
    valued: { k: "text", t: "text", key: "text", "field-separator": "text" },
    operands: PATHS,
  },
  stat: {
    flags: "ft",
    long: ["file-system", "terse"],
    valued: { c: "text", format: "text", printf: "text" },
    operands: PATHS,
  },
  tac: { flags: "br", valued: { s: "text", separator: "text" }, operands: PATHS },
  tail: {
    flags: "qvz",
    long: ["quiet", "silent", "verbose"],
    valued: { n: NUMBER, c: NUMBER, lines: NUMBER, bytes: NUMBER },
    isNumeric: true,
    operands: PATHS,
  },
  tr: {
    flags: "cCdst",
    long: ["complement", "delete", "squeeze-repeats", "truncate-set1"],
    operands: words(2),
  },
  true: { flags: "", operands: words(0) },
  uname: { flags: "amnoprsv", operands: words(0) },
  uniq: {
    flags: "cdDiuz",
    long: ["count", "repeated", "ignore-case", "unique"],
    valued: { f: NUMBER, s: NUMBER, w: NUMBER, "skip-fields": NUMBER, "skip-chars": NUMBER },
    operands: { kind: "paths", most: 1 },
  },
  wc: {
    flags: "clLmw",
    long: ["bytes", "chars", "lines", "max-line-length", "words"],
    operands: PATHS,
  },
};

/** The paths that words name, or what of them is not in the grammar. */
export type ReadWords =
  | { readonly kind: "paths"; readonly paths: readonly string[] }
  | { readonly kind: "unlisted"; readonly what: "flag" | "operand"; readonly word: string };

const unlisted = (what: "flag" | "operand", word: string): ReadWords => ({
  kind: "unlisted",
  what,
  word,
});

/** Reads all words of a program by its grammar. Pure. */
export function readWords(grammar: Grammar, given: readonly string[]): ReadWords {
  const rest = [...given];
  const paths: string[] = [];
  const operands: string[] = [];
  const seen = new Set<string>();
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      operands.push(...rest.splice(0));
    } else if (!word.startsWith("-") || word === "-") {
      operands.push(word);
    } else if (grammar.isNumeric !== true || !/^-\d+$/.test(word)) {
      const value = word.startsWith("--")
        ? readLong(grammar, word.slice(2), rest)
        : readCluster(grammar, word.slice(1), rest);
      if (value === null) return unlisted("flag", word);
      seen.add(value.flag);
      paths.push(...value.paths);
    }
  }
  const found = readOperands(grammar.operands, operands, seen);
  return found.kind === "paths" ? { kind: "paths", paths: [...paths, ...found.paths] } : found;
}

type ReadFlag = { readonly flag: string; readonly paths: readonly string[] };

function readLong(grammar: Grammar, text: string, rest: string[]): ReadFlag | null {
  const [, flag = "", given] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (grammar.long?.includes(flag) === true) return { flag, paths: [] };
  if (grammar.pairs?.includes(flag) === true) {
    return given === undefined && rest.splice(0, 2).length === 2 ? { flag, paths: [] } : null;
  }
  return flag.length > 1 ? readValue(grammar, flag, given ?? rest.shift()) : null;
}

/** Short flags in one word; the first that takes a value has what follows it, or the next word. */
function readCluster(grammar: Grammar, text: string, rest: string[]): ReadFlag | null {
  for (const [index, flag] of Array.from(text).entries()) {
    if (grammar.flags.includes(flag)) continue;
    const attached = Array.from(text)
      .slice(index + 1)
      .join("");
    return readValue(grammar, flag, attached === "" ? rest.shift() : attached);
  }
  return { flag: text, paths: [] };
}

function readValue(grammar: Grammar, flag: string, value: string | undefined): ReadFlag | null {
  const { valued = {} } = grammar;
  const form = Object.hasOwn(valued, flag) ? valued[flag] : undefined;
  if (form === undefined || value === undefined) return null;
  if (form === "path") return { flag, paths: [value] };
  return form === "text" || form.test(value) ? { flag, paths: [] } : null;
}

function readOperands(
  operands: Operands,
  given: readonly string[],
  seen: ReadonlySet<string>,
): ReadWords {
  const [first, ...others] = given;
  switch (operands.kind) {
    case "paths":
      return given.length <= (operands.most ?? given.length)
        ? { kind: "paths", paths: given.filter((word) => word !== "-") }
        : unlisted("operand", given.at(-1) ?? "");
    case "word_then_paths":
      if (operands.unless?.some((flag) => seen.has(flag)) === true) {
        return { kind: "paths", paths: given.filter((word) => word !== "-") };
      }
      return first !== undefined && operands.word.test(first)
        ? { kind: "paths", paths: others.filter((word) => word !== "-") }
        : unlisted("operand", first ?? "");
    case "words":
      return given.length <= operands.most && given.every((word) => operands.word.test(word))
        ? { kind: "paths", paths: [] }
        : unlisted("operand", given.at(-1) ?? "");
  }
}

const TESTS_ALONE = new Set([
  ...[
    "!",
    "(",
    ")",
    ",",
    "-a",
    "-and",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-ls",
  ],
  ...["-mount", "-not", "-o", "-or", "-print", "-print0", "-prune", "-quit", "-readable", "-true"],
  ...["-writable", "-xdev"],
]);
const TESTS_WITH_WORD = new Set([
  ...["-amin", "-atime", "-cmin", "-ctime", "-iname", "-inum", "-ipath", "-iregex", "-links"],
  ...["-maxdepth", "-mindepth", "-mmin", "-mtime", "-name", "-path", "-perm", "-printf", "-regex"],
  ...["-regextype", "-size", "-type", "-wholename"],
]);
const TESTS_WITH_PATH = new Set(["-anewer", "-cnewer", "-newer", "-samefile"]);

/** The same for find, whose words are no flags: folders first, then tests that only look and print. */
export function readFindWords(given: readonly string[]): ReadWords {
  const start = given.findIndex((word) => /^[-(!,)]/.test(word));
  const paths = start === -1 ? [...given] : given.slice(0, start);
  const rest = start === -1 ? [] : given.slice(start);
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (TESTS_ALONE.has(word)) continue;
    const value = TESTS_WITH_WORD.has(word) || TESTS_WITH_PATH.has(word) ? rest.shift() : undefined;
    if (value === undefined) return unlisted(word.startsWith("-") ? "flag" : "operand", word);
    if (TESTS_WITH_PATH.has(word)) paths.push(value);
  }
  return { kind: "paths", paths };
}
