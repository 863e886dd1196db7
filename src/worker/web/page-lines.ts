/** The lines of a page while they are made. */
export type PageLines = {
  readonly length: () => number;
  /** Drops spaces at the start of a line. */
  add(text: string): void;
  preformatted(text: string): void;
  /** Puts at least so many line feeds before the next text. */
  break(least: number): void;
  /** Appends the next text to the last line, after a colon. */
  joinNext(): void;
  /** Undoes `joinNext`. */
  separate(): void;
  /** Adds the mark of a list item; its first paragraph follows on the same line. */
  openItem(mark: string): void;
  /** The next block of a list item is no paragraph, or the item is empty: it stands on a line of its own. */
  leaveMark(): void;
  text(from: number, to: number): string;
  /** Begins a section that `take` removes and returns as a separate text. */
  hold(): HeldLines;
  take(held: HeldLines): string;
};

/** Collects pieces of text. Between two blocks stand as many line feeds as the larger of their two `break` calls. */
export function openLines(): PageLines {
  const pieces: string[] = [];
  let breaks = 0;
  let atStart = true;
  let glue: string | undefined;
  const append = (text: string): void => {
    if (glue !== undefined) pieces.push(glue);
    else if (breaks > 0 && pieces.length > 0) pieces.push("\n".repeat(breaks));
    glue = undefined;
    breaks = 0;
    atStart = false;
    pieces.push(text);
  };
  return {
    length: (): number => pieces.length,
    add(text) {
      const shown = atStart || breaks > 0 || glue !== undefined ? text.trimStart() : text;
      if (shown !== "") append(shown);
    },
    preformatted(text) {
      if (text !== "") append(text);
    },
    break(least) {
      breaks = Math.max(breaks, least);
    },
    joinNext() {
      const last = pieces.at(-1)?.trimEnd() ?? "";
      if (last !== "") glue = /\p{P}$/u.test(last) ? " " : ": ";
    },
    separate() {
      glue = undefined;
    },
    openItem(mark) {
      this.add(mark);
      glue = "";
    },
    leaveMark() {
      if (glue === "") glue = undefined;
    },
    text: (from, to) => tidy(pieces.slice(from, to)),
    hold() {
      const held = { from: pieces.length, breaks, atStart };
      breaks = 0;
      atStart = true;
      return held;
    },
    take(held) {
      const text = tidy(pieces.splice(held.from));
      ({ breaks, atStart } = held);
      glue = undefined;
      return text;
    },
  };
}

type HeldLines = { readonly from: number; readonly breaks: number; readonly atStart: boolean };

const tidy = (pieces: readonly string[]): string =>
  pieces
    .join("")
    // Not by a pattern, which would scan a long run of spaces again and again.
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
