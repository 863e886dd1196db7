import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** What Windows-1252 has from 80 on, which Node 20 takes for Latin-1. */
const FROM_80 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

/** The bytes of a text in the encoding of a label; what that has no letter for becomes a question mark. */
export function encodeAs(label: string, text: string): Buffer {
  if (label === "utf-16le") return Buffer.from(text, "utf16le");
  if (label === "utf-16be") return Buffer.from(text, "utf16le").swap16();
  if (label === "iso-2022-jp") return encodeIso2022(text);
  const table = tableOf(label);
  return Buffer.from(Array.from(text, (letter) => table.get(letter) ?? [63]).flat());
}

const tables = new Map<string, ReadonlyMap<string, readonly number[]>>();

/** The bytes of each letter of an encoding of one byte or two, found by decoding all of them. */
function tableOf(label: string): ReadonlyMap<string, readonly number[]> {
  const known = tables.get(label);
  if (known !== undefined) return known;
  const table = new Map<string, readonly number[]>();
  const decoder = new TextDecoder(label, { fatal: true });
  const put = (...bytes: readonly number[]): boolean => {
    try {
      const letter = decoder.decode(Uint8Array.from(bytes));
      const isOne = Array.from(letter).length === 1;
      if (isOne && !table.has(letter)) table.set(letter, bytes);
      return isOne;
    } catch {
      return false;
    }
  };
  for (let first = 0; first < 256; first += 1) {
    const isWindows = label === "windows-1252" && first >= 0x80 && first < 0xa0;
    if (isWindows) table.set(FROM_80.charAt(first - 0x80), [first]);
    else if (!put(first) && first >= 0x80)
      for (let second = 0x40; second < 256; second += 1) put(first, second);
  }
  tables.set(label, table);
  return table;
}

function encodeIso2022(text: string): Buffer {
  const table = tableOf("euc-jp");
  const bytes: number[] = [];
  for (const run of text.match(/[\0-\x7f]+|[^\0-\x7f]+/g) ?? []) {
    if (run.charCodeAt(0) < 0x80) bytes.push(...Buffer.from(run));
    else {
      const letters = Array.from(run).flatMap((letter) => {
        const [first, second] = table.get(letter) ?? [];
        return first === undefined || second === undefined || first < 0xa1 ? [] : [first, second];
      });
      const seven = letters.map((byte) => byte & 0x7f);
      bytes.push(0x1b, 0x24, 0x42, ...seven, 0x1b, 0x28, 0x42);
    }
  }
  return Buffer.from(bytes);
}

const catalogues = new Map<string, readonly string[]>();

/** Messages of the compiler in a language, without their places, where they have letters that are no ASCII. */
function messagesOf(language: string): readonly string[] {
  const known = catalogues.get(language);
  if (known !== undefined) return known;
  const folder = dirname(createRequire(import.meta.url).resolve("typescript"));
  const file = join(folder, language, "diagnosticMessages.generated.json");
  const messages = Object.values(JSON.parse(readFileSync(file, "utf8")) as Record<string, string>)
    .map((message) => message.replaceAll(/\P{L}{0,3}\{\d\}\P{L}{0,3}/gu, " "))
    .filter((message) => (message.match(/[^\0-\x7f]/g)?.length ?? 0) > message.length * 0.03);
  catalogues.set(language, messages);
  return messages;
}

/** Sentences in a language that the compiler speaks (`cs`, `ja`, `zh-cn` …), of so many letters, begun at another place for each `turn`. */
export function catalogueText(language: string, letters: number, turn: number): string {
  const messages = messagesOf(language);
  let text = "";
  for (let at = turn * 97 + 31; text.length < letters; at += 1)
    text += `${messages[at % messages.length] ?? ""}\n`;
  return Array.from(text).slice(0, letters).join("");
}
