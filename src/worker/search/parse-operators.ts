/** The operators of a search text. */
export type Operators = {
  /** From quotation marks: the words in exactly this order. */
  readonly phrases: readonly string[];
  /** Beginnings of words, in lower case. */
  readonly prefixes: readonly string[];
  /** From a minus sign: chunks that hold them are left out. */
  readonly excluded: readonly string[];
};

type OperatorText = Operators & {
  /** The words to search for, with those of phrases and with prefixes. */
  readonly text: string;
};

/** A phrase or a piece without white space, with a minus sign or without. */
const PIECE = /(?<![^\s])-?"[^"]*"|\S+/g;
const MOST_PIECES = 200;

/**
 * Reads `"in this order"`, `prefix*`, `-word` and `-"some words"`. Everything else is a word: also a quotation mark without its
 * partner, a minus sign inside a word or alone, an asterisk alone.
 */
export function parseOperators(query: string): OperatorText {
  const pieces = (query.match(PIECE) ?? []).slice(0, MOST_PIECES).map(parsePiece);
  const of = (kind: Piece["kind"]) =>
    pieces.filter((piece) => piece.kind === kind).map(({ text }) => text);
  return {
    text: pieces.flatMap(({ kind, text }) => (kind === "excluded" ? [] : [text])).join(" "),
    phrases: of("phrase"),
    prefixes: of("prefix").map((prefix) => prefix.toLowerCase()),
    excluded: of("excluded"),
  };
}

type Piece = { readonly kind: "word" | "phrase" | "prefix" | "excluded"; readonly text: string };

function parsePiece(piece: string): Piece {
  const quoted = /^(-?)"([^"]*)"$/.exec(piece);
  if (quoted !== null) {
    const [, minus, text = ""] = quoted;
    if (!hasWord(text)) return { kind: "word", text: "" };
    return { kind: minus === "-" ? "excluded" : "phrase", text };
  }
  const excluded = piece.slice(1);
  if (piece.startsWith("-") && hasWord(excluded)) return { kind: "excluded", text: excluded };
  const prefix = piece.slice(0, -1);
  // A single letter is a prefix of more words than a search expands.
  if (/^[\p{L}\p{N}]{2,}$/u.test(prefix) && piece.endsWith("*")) {
    return { kind: "prefix", text: prefix };
  }
  return { kind: "word", text: piece };
}

const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
