import { toUSVString } from "node:util";
import { MOST_NOTE_CHARS } from "../../shared/db/memory.ts";
import { Failure } from "../../shared/failure.ts";
import { formatCount } from "../print/quantity.ts";

/** A line is shown indented, and blank ones would fill a prompt with nothing. */
const MOST_NOTE_LINES = 100;
/** Four bytes a character at most, and white space around them that is trimmed. */
const MOST_STDIN_BYTES = 1_000_000;

/** Control characters but tab and line feed. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
/** Something that a reader sees. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** The words of a note: the argument, or for `-` all of stdin. @throws Failure INPUT_INVALID */
export async function readNote(
  argument: string,
  stdin: AsyncIterable<Uint8Array>,
): Promise<string> {
  return checkNote(argument === "-" ? await readAll(stdin) : argument);
}

/**
 * The text as it is stored: trimmed, with line feeds. Nothing else is changed: what can't be kept as it is written is
 * refused, since a note is an instruction that has to mean what was meant.
 */
function checkNote(text: string): string {
  const note = text.replace(/\r\n?/g, "\n").trim();
  const problem = findUnkeepable(note) ?? findExcess(note);
  if (problem !== undefined) throw invalid(problem);
  return note;
}

function findUnkeepable(note: string): string | undefined {
  if (!VISIBLE.test(note)) return "holds no words. Give some, or - to read them from stdin";
  const control = CONTROL.exec(note)?.[0];
  if (control !== undefined) {
    const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `holds the control character U+${code}. Take it out`;
  }
  return toUSVString(note) === note ? undefined : "holds half of a surrogate pair. Take it out";
}

function findExcess(note: string): string | undefined {
  const chars = Array.from(note).length;
  const lines = note.split("\n").length;
  const remedy = "Shorten it, or make several of it";
  if (chars > MOST_NOTE_CHARS)
    return `has ${formatCount(chars)} characters, and at most ${formatCount(MOST_NOTE_CHARS)} are kept. ${remedy}`;
  return lines > MOST_NOTE_LINES
    ? `has ${formatCount(lines)} lines, and at most ${MOST_NOTE_LINES} are kept. ${remedy}`
    : undefined;
}

async function readAll(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > MOST_STDIN_BYTES)
      throw invalid(
        `on stdin is over ${formatCount(MOST_STDIN_BYTES)} bytes, and at most ${formatCount(MOST_NOTE_CHARS)} characters are kept. Shorten it`,
      );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw invalid("on stdin is not UTF-8. Convert it");
  }
}

const invalid = (reason: string): Failure =>
  new Failure("INPUT_INVALID", `The text of the note ${reason}.`);
