import { formatCount } from "../print/quantity.ts";

export type LineProblem = { readonly line: number; readonly reason: string };

const MOST_KEPT = 100;

/** Bad lines: the first hundred by number, and how many there are. */
export class LineProblems {
  #kept: LineProblem[] = [];
  #count = 0;

  add(line: number, reason: string): void {
    this.#count += 1;
    this.#kept.push({ line, reason });
    // A portion tells of its conflicts after lines that follow them were parsed.
    if (this.#kept.length > MOST_KEPT * 2) this.#trim();
  }

  get count(): number {
    return this.#count;
  }

  first(): readonly LineProblem[] {
    this.#trim();
    return this.#kept;
  }

  /** One line of text a problem, and one for what is left out. */
  describe(): readonly string[] {
    const lines = this.first().map(({ line, reason }) => `line ${line}: ${reason}`);
    const more = this.#count - lines.length;
    return more === 0 ? lines : [...lines, `… and ${formatCount(more)} more`];
  }

  #trim(): void {
    this.#kept = this.#kept.sort((a, b) => a.line - b.line).slice(0, MOST_KEPT);
  }
}
