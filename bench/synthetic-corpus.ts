import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SYLLABLES = "ba ko ri ten sul mar vo lin pre das hu gor ne tal mik ros".split(" ");
const WORDS = 2_288;

/** A generator of numbers in [0, 1), the same for the same seed (mulberry32, public domain). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A vocabulary so small that every word is common: hard for a lexical index. */
export function syntheticWords(): string[] {
  const random = seededRandom(7);
  const words = new Set<string>();
  while (words.size < WORDS) {
    const syllables = Array.from({ length: 2 + Math.floor(random() * 2.2) }, () =>
      pick(SYLLABLES, random()),
    );
    words.add(syllables.join(""));
  }
  return [...words];
}

/** Markdown files of about 4.6 KB with seven sections each, always the same. */
export function writeSyntheticCorpus(folder: string, files: number): string[] {
  const random = seededRandom(42);
  const words = syntheticWords();
  // Skewed, as words are: a few are in most sections.
  const word = () => pick(words, random() ** 2.2);
  return Array.from({ length: files }, (_, index) => {
    const path = join(folder, `part-${Math.floor(index / 500)}`, `note-${index}.md`);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, note(word, random, index));
    return path;
  });
}

function note(word: () => string, random: () => number, index: number): string {
  const sentence = () =>
    `${Array.from({ length: 6 + Math.floor(random() * 12) }, word).join(" ")}.`;
  let text = `# ${word()} ${word()} ${index}\n\n`;
  while (text.length < 4_500) {
    text += `## ${word()} ${word()} ${word()}\n\n`;
    let prose = sentence();
    while (prose.length < 580) prose += ` ${sentence()}`;
    text += `${prose}\n\n`;
  }
  return text;
}

const pick = (words: readonly string[], at: number): string =>
  words[Math.floor(at * words.length)] ?? "";
