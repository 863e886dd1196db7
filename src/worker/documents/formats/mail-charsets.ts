import { isUtf8 } from "node:buffer";
import { decodeBytes, tryDecode } from "../encoding.ts";

const PlainDecoder = globalThis.TextDecoder;

/**
 * The decoder for the parser of mails. Programs that know no charset write utf-8 or windows-1252, or no label, which the
 * parser takes for one of these: then the bytes decide. Any other label is believed.
 */
class MailDecoder extends PlainDecoder {
  override decode(input?: Bytes | null, options?: { stream?: boolean }): string {
    const bytes = bytesOf(input);
    const isGuessed = this.encoding === "utf-8" || this.encoding === "windows-1252";
    const text = isGuessed && bytes !== undefined ? textOf(bytes, this.encoding) : undefined;
    return holdQuotes(text ?? super.decode(input, options));
  }
}

/**
 * Protects lines of `format=flowed` from the parser: it would join quoted lines and leave their ">" within a sentence (more
 * line ends prevent that), and would drop the blank before a ">" that marks no quotation (a second blank prevents that).
 */
const holdQuotes = (text: string): string =>
  text.replaceAll(/^>.* $/gm, "$&\r\r").replaceAll(/^ (?=>)/gm, "  ");

type Bytes = ArrayBuffer | NodeJS.ArrayBufferView;

const bytesOf = (input: Bytes | null | undefined): Buffer | undefined => {
  if (input === undefined || input === null) return undefined;
  return ArrayBuffer.isView(input)
    ? Buffer.from(input.buffer, input.byteOffset, input.byteLength)
    : Buffer.from(input);
};

/** Share of bytes above 127; with more a text is in no language of Windows-1252. */
const MOST_HIGH = 0.4;

function textOf(bytes: Buffer, label: string): string | undefined {
  const high = bytes.filter((byte) => byte >= 0x80).length;
  const isWestern = label === "windows-1252" && high <= bytes.length * MOST_HIGH;
  return decodeBytes(bytes, isWestern ? label : undefined)?.text;
}

let parsing = 0;

/** Replaces the global TextDecoder while the parser is imported and parses, and only then: other code needs the real one. */
export async function withMailDecoder<T>(parse: () => Promise<T>): Promise<T> {
  parsing += 1;
  globalThis.TextDecoder = MailDecoder;
  try {
    return await parse();
  } finally {
    parsing -= 1;
    if (parsing === 0) globalThis.TextDecoder = PlainDecoder;
  }
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A mail as the parser needs it: it begins with its header, and the header is UTF-8. */
export function withPlainHeader(bytes: Buffer): Buffer {
  const marked = bytes.subarray(0, MARK.length).equals(MARK) ? bytes.subarray(MARK.length) : bytes;
  const first = marked.findIndex((byte) => byte !== 0x0a && byte !== 0x0d);
  const mail = marked.subarray(Math.max(0, first));
  const end = bodyStart(mail);
  const header = mail.subarray(0, end);
  if (isUtf8(header) && !header.includes("\x1b$")) return mail;
  return Buffer.concat([Buffer.from(decodeHeader(header, charsetOf(mail))), mail.subarray(end)]);
}

/** The offset behind the first empty line of a mail; its length where it has none. */
export function bodyStart(mail: Buffer): number {
  const ends = ["\n\n", "\n\r\n"].flatMap((mark) => {
    const at = mail.indexOf(mark);
    return at === -1 ? [] : [at + mark.length];
  });
  return Math.min(mail.length, ...ends);
}

const LOOKED_AT = 65_536;

/** The first charset that the mail names. It is that of the text; raw letters in the header are in the same one. */
const charsetOf = (mail: Buffer): string | undefined =>
  /charset\s{0,9}=\s{0,9}"?([\w.:-]{1,40})/i.exec(mail.toString("latin1", 0, LOOKED_AT))?.[1];

/** Guesses the encoding from the lines with raw letters alone, because ASCII lines hide the language, and decodes the header. */
function decodeHeader(header: Buffer, charset: string | undefined): string {
  const lines = header.toString("latin1").split("\n");
  const raw = lines.filter((line) => /[\x1b\x80-\xff]/.test(line)).join("\n");
  const encoding = decodeBytes(Buffer.from(raw, "latin1"), charset)?.encoding ?? charset ?? "";
  return lines
    .map((line) => tryDecode(encoding, Buffer.from(line, "latin1"))?.text ?? line)
    .join("\n");
}
